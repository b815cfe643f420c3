#include "tests/ydb_endpoint/socket.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

void ye_socket_init(ye_socket *socket, int fd, long idle_ms)
{
    const int on = 1;
    const struct timeval silence = {idle_ms / 1000, idle_ms % 1000 * 1000};
    *socket = (ye_socket){.fd = fd};
    pgw_buf_reserve(&socket->in, 1024);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &silence, sizeof silence);
}

void ye_socket_close(ye_socket *socket)
{
    SSL_free(socket->tls);
    close(socket->fd);
    pgw_buf_free(&socket->in);
}

bool ye_socket_secure(ye_socket *socket, SSL_CTX *context)
{
    socket->tls = SSL_new(context);
    return socket->tls != NULL && SSL_set_fd(socket->tls, socket->fd) == 1 &&
           SSL_accept(socket->tls) == 1;
}

static ssize_t receive(ye_socket *socket, char *to, size_t size)
{
    ssize_t got;
    if (socket->tls != NULL)
        return SSL_read(socket->tls, to, (int)size);
    do {
        got = recv(socket->fd, to, size, 0);
    } while (got < 0 && errno == EINTR);
    return got;
}

static pgw_slice pending(const ye_socket *socket)
{
    return (pgw_slice){socket->in.ptr + socket->taken, socket->in.len - socket->taken};
}

/* Reads what is there. Fact 1.2: the buffer doubles, and what does not fit 2 MiB is the end. */
static bool fill(ye_socket *socket)
{
    pgw_slice rest = pending(socket);
    if (rest.len >= YE_BUFFER_MAX)
        return false;
    if (socket->taken > 0) {
        memmove(socket->in.ptr, rest.ptr, rest.len);
        socket->in.len = rest.len;
        socket->taken = 0;
    }
    size_t room = rest.len < 65536 ? 65536 : rest.len;
    if (room > YE_BUFFER_MAX - rest.len)
        room = YE_BUFFER_MAX - rest.len;
    ssize_t got = receive(socket, pgw_buf_reserve(&socket->in, room), room);
    if (got <= 0)
        return false;
    socket->in.len += (size_t)got;
    return true;
}

bool ye_socket_startup(ye_socket *socket, pgw_startup *startup, pgw_startup_kind *kind)
{
    while ((*kind = pgw_startup_decode(pending(socket), startup)) == PGW_STARTUP_MORE)
        if (!fill(socket))
            return false;
    if (*kind == PGW_STARTUP_BAD_LENGTH || *kind == PGW_STARTUP_BAD_LAYOUT)
        return false;
    socket->taken += startup->size;
    return true;
}

bool ye_socket_has_message(const ye_socket *socket)
{
    pgw_frame frame;
    pgw_slice bytes = pending(socket);
    return pgw_frame_next(bytes, &frame) == PGW_FRAME_OK && frame.size <= bytes.len;
}

bool ye_socket_message(ye_socket *socket, char *type, pgw_slice *body)
{
    for (;;) {
        pgw_frame frame;
        pgw_slice bytes = pending(socket);
        pgw_frame_result result = pgw_frame_next(bytes, &frame);
        if (result == PGW_FRAME_BAD)
            return false;
        if (result == PGW_FRAME_OK && frame.size <= bytes.len) {
            *type = frame.type;
            *body = pgw_frame_body(bytes, frame);
            socket->taken += frame.size;
            return true;
        }
        if (!fill(socket))
            return false;
    }
}

static ssize_t transmit(ye_socket *socket, const char *from, size_t size)
{
    ssize_t sent;
    if (socket->tls != NULL)
        return SSL_write(socket->tls, from, size > 65536 ? 65536 : (int)size);
    do {
        sent = send(socket->fd, from, size, MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    return sent;
}

bool ye_socket_write(ye_socket *socket, pgw_buf *out)
{
    for (size_t at = 0; at < out->len;) {
        ssize_t sent = transmit(socket, out->ptr + at, out->len - at);
        if (sent <= 0)
            return false;
        at += (size_t)sent;
    }
    pgw_buf_clear(out);
    return true;
}
