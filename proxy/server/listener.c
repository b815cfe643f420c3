#define _GNU_SOURCE
#include "proxy/server/listener.h"

#include "proxy/base/log.h"
#include "proxy/client/door/preauth.h"
#include "proxy/client/door/session_io.h"
#include "protocol/error.h"
#include "protocol/startup.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 1024, PAUSE_MS = 100, ROOM_MS = 10 };

struct px_listener {
    uv_poll_t poll;
    uv_timer_t
        pause; /* pause after running out of file descriptors, or of places in the waiting list */
    px_server *server;
    int fd;
    char *path;
    bool starved;
    unsigned handles;
};

/* ---- handing over ---- */

typedef struct arrival {
    px_message message;
    int fd;
    px_address *address;
    px_guest *guest;
} arrival;

static void on_arrival(px_worker *worker, px_message *message)
{
    arrival *a = (arrival *)message;
    if (worker->draining) {
        close(a->fd);
        px_guest_leave(a->guest);
        px_address_leave(a->address);
        atomic_fetch_sub(&worker->load, 1);
        atomic_fetch_sub(&worker->server->unauthenticated, 1);
    } else {
        px_session_io_begin(worker, a->fd, a->address, a->guest);
    }
    free(a);
}

static px_worker *least_loaded(px_server *server)
{
    px_worker *best = &server->workers[0];
    for (unsigned i = 1; i < server->worker_count; i++)
        if (atomic_load(&server->workers[i].load) < atomic_load(&best->load))
            best = &server->workers[i];
    return best;
}

/* Answers N to a request for encryption, for the client would take the first byte of an error for
 * that answer. */
static void answer_request(int fd, pgw_buf *out)
{
    char bytes[PGW_REQUEST];
    ssize_t len = recv(fd, bytes, sizeof bytes, MSG_DONTWAIT);
    pgw_startup request;
    pgw_startup_kind kind =
        pgw_startup_decode((pgw_slice){bytes, len > 0 ? (size_t)len : 0}, &request);
    if (kind == PGW_STARTUP_SSL || kind == PGW_STARTUP_GSSENC)
        pgw_buf_add_byte(out, 'N');
}

/* Sends an error and closes the connection. A client that wants TLS gets the error in plain. */
static void turn_away(px_server *server, int fd, px_address *address, const char *why,
                      unsigned most)
{
    pgw_error error;
    pgw_buf out = {0};
    pgw_fail(&error, "53300", "%s", why);
    answer_request(fd, &out);
    pgw_error_write(&error, "FATAL", &out);
    px_count_error(server->metrics, pgw_slice_str(error.sqlstate));
    px_count_login(server->metrics, error.sqlstate);
    ssize_t sent = send(fd, out.ptr, out.len, MSG_NOSIGNAL | MSG_DONTWAIT);
    (void)sent;
    pgw_buf_free(&out);
    px_log(CFG_LOG_DEBUG, "client_turned_away", "client=%s limit=%u", px_address_text(address),
           most);
    px_address_leave(address);
    close(fd);
}

static void set_tcp_options(int fd)
{
    int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
}

static void hand_over(px_server *server, int fd, const struct sockaddr_storage *from)
{
    unsigned count, most = server->config->limits.clients_per_address;
    px_address *address = px_address_enter(server->addresses, from, &count);
    if (most > 0 && count > most) {
        turn_away(server, fd, address, "too many connections from this address", most);
        return;
    }
    px_worker *worker = least_loaded(server);
    px_guest *guest = px_preauth_enter(worker, address);
    if (guest == NULL) {
        turn_away(server, fd, address, "too many connections are logging in",
                  server->config->limits.unauthenticated);
        return;
    }
    if (address != NULL)
        set_tcp_options(fd);
    atomic_fetch_add(&worker->load, 1);
    arrival *a = pgw_alloc(sizeof *a);
    *a = (arrival){.message.run = on_arrival, .fd = fd, .address = address, .guest = guest};
    px_worker_send(worker, &a->message);
}

/* ---- accepting ---- */

static void on_readable(uv_poll_t *poll, int status, int events);

static void on_pause_over(uv_timer_t *timer)
{
    px_listener *listener = timer->data;
    uv_poll_start(&listener->poll, UV_READABLE, on_readable);
}

/* Stops accepting for a while, without descriptors, and logs that once. */
static void starve(px_listener *listener)
{
    if (!listener->starved) {
        px_log(CFG_LOG_ERROR, "accept_stopped", "reason=%s", strerror(errno));
        px_count(listener->server->metrics, PX_ACCEPT_STOPS, 1);
    }
    listener->starved = true;
    uv_poll_stop(&listener->poll);
    uv_timer_start(&listener->pause, on_pause_over, PAUSE_MS, 0);
}

static bool accept_one(px_listener *listener)
{
    struct sockaddr_storage from = {0};
    socklen_t len = sizeof from;
    int fd = accept4(listener->fd, (struct sockaddr *)&from, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) {
        int failure = errno;
        if (failure == EMFILE || failure == ENFILE || failure == ENOBUFS || failure == ENOMEM)
            starve(listener);
        errno = failure;
        return failure == EINTR || failure == ECONNABORTED;
    }
    if (listener->path != NULL)
        from.ss_family = AF_UNIX;
    hand_over(listener->server, fd, &from);
    return true;
}

/* Whether new connections wait in the system's queue, in order, until the waiting list has a place,
 * or a client there is silent for too long. */
static bool waits_for_room(px_listener *listener)
{
    if (!px_preauth_is_to_be_waited_for(listener->server))
        return false;
    uv_poll_stop(&listener->poll);
    uv_timer_start(&listener->pause, on_pause_over, ROOM_MS, 0);
    return true;
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
    (void)status, (void)events;
    px_listener *listener = poll->data;
    errno = 0;
    while (!waits_for_room(listener) && accept_one(listener))
        ;
    if (listener->starved && errno == EAGAIN) { /* all queued connections are accepted */
        listener->starved = false;
        px_log(CFG_LOG_INFO, "accept_resumed", "clients=%u",
               atomic_load(&listener->server->clients));
    }
}

/* ---- opening ---- */

static int fail(char *message, size_t size, int fd, const char *what)
{
    snprintf(message, size, "%s: %s", what, strerror(errno));
    if (fd >= 0)
        close(fd);
    return -1;
}

/* Removes a socket file that a process left behind; false if a process answers there. */
static bool clear_path(const struct sockaddr_un *address)
{
    struct stat info;
    if (lstat(address->sun_path, &info) != 0 || !S_ISSOCK(info.st_mode))
        return true;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool answered = fd >= 0 && connect(fd, (const struct sockaddr *)address, sizeof *address) == 0;
    if (fd >= 0)
        close(fd);
    errno = EADDRINUSE;
    return !answered && unlink(address->sun_path) == 0;
}

static int open_unix(const char *path, mode_t mode, char *message, size_t size)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return fail(message, size, -1, path);
    }
    strcpy(address.sun_path, path);
    if (!clear_path(&address))
        return fail(message, size, -1, path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    mode_t old = umask(~mode & 0777); /* the socket has its mode from its first moment on */
    int bound = fd < 0 ? -1 : bind(fd, (struct sockaddr *)&address, sizeof address);
    umask(old);
    if (bound != 0 || listen(fd, BACKLOG) != 0)
        return fail(message, size, fd, path);
    return fd;
}

static int open_tcp(const cfg_listen *where, char *message, size_t size)
{
    char port[8], name[300];
    snprintf(port, sizeof port, "%u", where->port);
    snprintf(name, sizeof name, "%s:%s", where->host, port);
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE}, *info = NULL;
    int error = getaddrinfo(where->host, port, &hints, &info);
    if (error != 0) {
        snprintf(message, size, "%s: %s", name, gai_strerror(error));
        return -1;
    }
    int fd = socket(info->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), on = 1;
    bool up = fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
              bind(fd, info->ai_addr, info->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0;
    freeaddrinfo(info);
    return up ? fd : fail(message, size, fd, name);
}

int px_listener_socket(const cfg_config *config, const cfg_listen *where, char *message,
                       size_t message_size)
{
    return where->path != NULL
               ? open_unix(where->path, config->unix_socket_mode, message, message_size)
               : open_tcp(where, message, message_size);
}

px_listener *px_listener_open(px_server *server, uv_loop_t *loop, const cfg_listen *where,
                              char *message, size_t message_size)
{
    int fd = px_listener_socket(server->config, where, message, message_size);
    if (fd < 0)
        return NULL;
    px_listener *listener = pgw_calloc(1, sizeof *listener);
    listener->server = server;
    listener->fd = fd;
    listener->path = where->path ? pgw_strndup(where->path, strlen(where->path)) : NULL;
    listener->poll.data = listener->pause.data = listener;
    uv_poll_init(loop, &listener->poll, fd);
    uv_timer_init(loop, &listener->pause);
    listener->handles = 2;
    uv_poll_start(&listener->poll, UV_READABLE, on_readable);
    return listener;
}

static void on_closed(uv_handle_t *handle)
{
    px_listener *listener = handle->data;
    if (--listener->handles > 0)
        return;
    close(listener->fd);
    if (listener->path != NULL)
        unlink(listener->path);
    free(listener->path);
    free(listener);
}

void px_listener_close(px_listener *listener)
{
    while (accept_one(listener))
        ;
    uv_close((uv_handle_t *)&listener->poll, on_closed);
    uv_close((uv_handle_t *)&listener->pause, on_closed);
}
