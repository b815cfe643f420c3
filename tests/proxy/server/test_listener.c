/* Where clients come to: sockets that can be opened and those that cannot, who
 * is handed to whom, and what becomes of those for whom there is no room. */
#include "proxy/server/listener.h"

#include "protocol/error.h"
#include "protocol/frame.h"
#include "proxy/base/address.h"
#include "proxy/base/metrics_text.h"
#include "proxy/client/door/preauth.h"
#include "tests/proxy/logged.h"

#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cmocka.h>

enum { WORKERS = 2 };

static struct {
    char folder[64], path[128], message[256];
    uv_loop_t loop;
    px_server server;
    px_worker workers[WORKERS]; /* no more of them than what px_worker_send needs */
    cfg_config config;
    px_listener *listener;
} t;

static int setup(void **state)
{
    redirect_log(state);
    memset(&t, 0, sizeof t);
    strcpy(t.folder, "/tmp/keyspread-test-XXXXXX");
    assert_non_null(mkdtemp(t.folder));
    snprintf(t.path, sizeof t.path, "%s/s", t.folder);
    uv_loop_init(&t.loop);
    t.config.unix_socket_mode = 0600;
    t.config.limits.unauthenticated = t.config.limits.unauthenticated_per_address = 10;
    t.server = (px_server){.workers = t.workers,
                           .worker_count = WORKERS,
                           .config = &t.config,
                           .addresses = px_addresses_new(),
                           .preauth = px_preauth_new(),
                           .metrics = px_metrics_new(NULL)};
    for (size_t i = 0; i < WORKERS; i++) {
        px_worker *worker = &t.workers[i];
        worker->server = &t.server;
        worker->draining = true; /* who arrives is sent away: that there is a
                                    session is not needed */
        worker->inbox_tail = &worker->inbox;
        pthread_mutex_init(&worker->inbox_lock, NULL);
        uv_loop_init(&worker->loop);
        uv_async_init(&worker->loop, &worker->wake, NULL);
    }
    return 0;
}

/* How many have arrived; the worker looks at them. */
static unsigned receive(px_worker *worker)
{
    unsigned count = 0;
    px_message *next = worker->inbox;
    worker->inbox = NULL;
    worker->inbox_tail = &worker->inbox;
    for (px_message *message = next; message != NULL; message = next, count++) {
        next = message->next;
        message->run(worker, message);
    }
    return count;
}

static void close_listener(void)
{
    if (t.listener != NULL)
        px_listener_close(t.listener);
    t.listener = NULL;
    uv_run(&t.loop, UV_RUN_DEFAULT);
}

static int teardown(void **state)
{
    close_listener();
    for (size_t i = 0; i < WORKERS; i++) {
        receive(&t.workers[i]);
        assert_int_equal(t.workers[i].load, 0);
        uv_close((uv_handle_t *)&t.workers[i].wake, NULL);
        uv_run(&t.workers[i].loop, UV_RUN_DEFAULT);
        assert_int_equal(uv_loop_close(&t.workers[i].loop), 0);
        pthread_mutex_destroy(&t.workers[i].inbox_lock);
    }
    assert_int_equal(t.server.unauthenticated, 0);
    assert_int_equal(uv_loop_close(&t.loop), 0);
    px_preauth_free(t.server.preauth);
    px_addresses_free(t.server.addresses);
    px_metrics_free(t.server.metrics);
    assert_int_equal(rmdir(t.folder), 0); /* the socket's file is gone */
    return restore_log(state);
}

static const cfg_listen *at_path(void)
{
    static cfg_listen where;
    where = (cfg_listen){.path = t.path};
    return &where;
}

static void open_at(const cfg_listen *where)
{
    t.listener = px_listener_open(&t.server, &t.loop, where, t.message, sizeof t.message);
    if (t.listener == NULL)
        fail_msg("%s", t.message);
}

static void refuse_at(const cfg_listen *where, const char *message)
{
    t.message[0] = '\0';
    assert_null(px_listener_open(&t.server, &t.loop, where, t.message, sizeof t.message));
    if (strstr(t.message, message) == NULL)
        assert_string_equal(t.message, message);
}

/* The descriptor that is free first. */
static int lowest_free(void)
{
    int fd = dup(0);
    close(fd);
    return fd;
}

static int come(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy(address.sun_path, t.path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

static struct sockaddr_in local(unsigned port)
{
    return (struct sockaddr_in){.sin_family = AF_INET,
                                .sin_port = htons((uint16_t)port),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static int come_by_tcp(unsigned port)
{
    struct sockaddr_in address = local(port);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

/* A port that is taken by the descriptor in `fd`. */
static unsigned take_port(int *fd)
{
    struct sockaddr_in address = local(0);
    socklen_t len = sizeof address;
    *fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(*fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(getsockname(*fd, (struct sockaddr *)&address, &len), 0);
    return ntohs(address.sin_port);
}

/* The connection was ended, with nothing said, or with this message. */
static void expect_end(int fd, const char *message)
{
    char told[512];
    ssize_t n = recv(fd, told, sizeof told, MSG_WAITALL);
    if (message == NULL) {
        assert_int_equal(n, 0);
    } else {
        assert_true(n > PGW_HEADER && told[0] == 'E');
        pgw_slice body = {told + PGW_HEADER, (size_t)n - PGW_HEADER};
        assert_true(pgw_slice_eq_str(pgw_error_field(body, 'S'), "FATAL"));
        assert_true(pgw_slice_eq_str(pgw_error_field(body, 'C'), "53300"));
        assert_true(pgw_slice_eq_str(pgw_error_field(body, 'M'), message));
    }
    close(fd);
}

static void where_nobody_can_listen(void **state)
{
    (void)state;
    char path[128] = "";
    memset(path, 'x', sizeof path - 8);
    refuse_at(&(cfg_listen){.path = path}, "xxx: File name too long");
    snprintf(path, sizeof path, "%s/none/s", t.folder);
    refuse_at(&(cfg_listen){.path = path}, "/none/s: No such file or directory");
    refuse_at(&(cfg_listen){.path = t.folder}, "Address already in use"); /* is a folder */
    refuse_at(&(cfg_listen){.host = (char *)"::zz", .port = 5}, "::zz:5: ");
    int fd;
    unsigned port = take_port(&fd);
    snprintf(path, sizeof path, "127.0.0.1:%u: Address already in use", port);
    assert_int_equal(listen(fd, 1), 0);
    refuse_at(&(cfg_listen){.host = (char *)"127.0.0.1", .port = (uint16_t)port}, path);
    close(fd);
}

static void a_file_that_was_left_is_no_hindrance(void **state)
{
    (void)state;
    struct stat info;
    open_at(at_path());
    assert_int_equal(stat(t.path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    int free_before = lowest_free();
    refuse_at(at_path(), "/s: Address already in use");
    assert_int_equal(lowest_free(), free_before);
    receive(&t.workers[0]); /* the question whether somebody is there was a
                               connection */
    close_listener();
    assert_int_not_equal(stat(t.path, &info), 0);
    receive(&t.workers[0]);
    int left = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy(address.sun_path, t.path);
    assert_int_equal(bind(left, (struct sockaddr *)&address, sizeof address), 0);
    close(left); /* its file stays */
    t.config.unix_socket_mode = 0666;
    open_at(at_path());
    assert_int_equal(stat(t.path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0666);
}

static void the_one_with_the_fewest_gets_it(void **state)
{
    (void)state;
    int fds[3];
    open_at(at_path());
    t.workers[0].load = 2;
    for (size_t i = 0; i < 3; i++) {
        fds[i] = come();
        uv_run(&t.loop, UV_RUN_ONCE);
    }
    assert_int_equal(t.workers[0].load, 3);
    assert_int_equal(t.workers[1].load, 2);
    assert_int_equal(t.server.unauthenticated, 3);
    assert_int_equal(receive(&t.workers[0]), 1);
    assert_int_equal(receive(&t.workers[1]), 2);
    t.workers[0].load -= 2;
    for (size_t i = 0; i < 3; i++)
        expect_end(fds[i], NULL);
}

/* What is queued is taken before it closes. */
static void the_end(void **state)
{
    (void)state;
    open_at(at_path());
    int fd = come();
    close_listener();
    assert_int_equal(receive(&t.workers[0]), 1);
    expect_end(fd, NULL);
}

static void no_room(void **state)
{
    (void)state;
    t.config.limits.unauthenticated = 0;
    open_at(at_path());
    int fd = come();
    uv_run(&t.loop, UV_RUN_ONCE);
    expect_end(fd, "too many connections are logging in");
    assert_null(t.workers[0].inbox);
}

static void no_room_for_an_address(void **state)
{
    (void)state;
    int taken;
    px_log_level(CFG_LOG_DEBUG);
    unsigned port = take_port(&taken);
    close(taken);
    t.config.limits.clients_per_address = 1;
    open_at(&(cfg_listen){.host = (char *)"127.0.0.1", .port = (uint16_t)port});
    int first = come_by_tcp(port), second = come_by_tcp(port);
    while (t.server.unauthenticated == 0 || strstr(logged(), "client_turned_away") == NULL)
        uv_run(&t.loop, UV_RUN_ONCE);
    expect_end(second, "too many connections from this address");
    assert_int_equal(receive(&t.workers[0]), 1);
    expect_end(first, NULL);
    int third = come_by_tcp(port); /* the others have left */
    uv_run(&t.loop, UV_RUN_ONCE);
    assert_int_equal(receive(&t.workers[0]), 1);
    expect_end(third, NULL);
}

/* Without descriptors it pauses, and goes on by itself. */
static void no_descriptors(void **state)
{
    (void)state;
    struct rlimit before, none;
    open_at(at_path());
    int fd = come(), other = come(), lowest = lowest_free();
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = (struct rlimit){(rlim_t)lowest, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    uv_run(&t.loop, UV_RUN_ONCE); /* it finds none, */
    uv_run(&t.loop, UV_RUN_ONCE); /* waits, */
    uv_run(&t.loop, UV_RUN_ONCE); /* and still finds none */
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_null(t.workers[0].inbox);
    assert_string_equal(logged_line(),
                        "level=error event=accept_stopped reason=\"Too many open files\"\n");
    while (t.server.unauthenticated < 2)
        uv_run(&t.loop, UV_RUN_ONCE);
    assert_string_equal(logged_line(), "level=info event=accept_resumed clients=0\n");
    pgw_buf page = {0};
    px_metrics_write(t.server.metrics, (const double[PX_GAUGES]){0}, "x", &page);
    pgw_buf_add_byte(&page, '\0');
    assert_non_null(strstr(page.ptr, "\nkeyspread_accept_stops_total 1\n"));
    pgw_buf_free(&page);
    receive(&t.workers[0]);
    receive(&t.workers[1]);
    expect_end(fd, NULL);
    expect_end(other, NULL);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(where_nobody_can_listen),
        TEST(a_file_that_was_left_is_no_hindrance),
        TEST(the_one_with_the_fewest_gets_it),
        TEST(the_end),
        TEST(no_room),
        TEST(no_room_for_an_address),
        TEST(no_descriptors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
