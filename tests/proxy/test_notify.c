/* The watchdog: alive is what the service manager is told while all workers answer, and only then.
 */
#include "proxy/server/notify.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

enum { WORKERS = 2, PERIOD_MS = 5 };

typedef struct fixture {
    int manager; /* where the service manager listens */
    uv_loop_t loop;
    px_server server;
    px_worker workers[WORKERS]; /* no more of them than what px_worker_send needs */
    px_watchdog *watchdog;
} fixture;

static void open_manager(fixture *f)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    socklen_t len = sizeof address;
    f->manager = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    /* Without a name: Linux chooses an abstract one. */
    assert_int_equal(bind(f->manager, (struct sockaddr *)&address, sizeof address.sun_family), 0);
    assert_int_equal(getsockname(f->manager, (struct sockaddr *)&address, &len), 0);
    address.sun_path[0] = '@';
    address.sun_path[len - offsetof(struct sockaddr_un, sun_path)] = '\0';
    setenv("NOTIFY_SOCKET", address.sun_path, 1);
}

static int setup(void **state)
{
    char usec[16];
    fixture *f = calloc(1, sizeof *f);
    open_manager(f);
    snprintf(usec, sizeof usec, "%d", 4 * PERIOD_MS * 1000);
    setenv("WATCHDOG_USEC", usec, 1);
    unsetenv("WATCHDOG_PID");
    uv_loop_init(&f->loop);
    f->server = (px_server){.workers = f->workers, .worker_count = WORKERS};
    for (size_t i = 0; i < WORKERS; i++) {
        px_worker *worker = &f->workers[i];
        worker->inbox_tail = &worker->inbox;
        pthread_mutex_init(&worker->inbox_lock, NULL);
        uv_loop_init(&worker->loop);
        uv_async_init(&worker->loop, &worker->wake, NULL);
    }
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;
    px_watchdog_stop(f->watchdog);
    uv_run(&f->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&f->loop), 0);
    for (size_t i = 0; i < WORKERS; i++) {
        uv_close((uv_handle_t *)&f->workers[i].wake, NULL);
        uv_run(&f->workers[i].loop, UV_RUN_DEFAULT);
        assert_int_equal(uv_loop_close(&f->workers[i].loop), 0);
        pthread_mutex_destroy(&f->workers[i].inbox_lock);
    }
    px_watchdog_free(f->watchdog);
    close(f->manager);
    unsetenv("NOTIFY_SOCKET");
    unsetenv("WATCHDOG_USEC");
    free(f);
    return 0;
}

/* The worker's loop turns once. */
static void answer(px_worker *worker)
{
    px_message *message = worker->inbox;
    worker->inbox = NULL;
    worker->inbox_tail = &worker->inbox;
    assert_non_null(message);
    assert_null(message->next);
    message->run(worker, message);
}

static void tick(fixture *f)
{
    uv_run(&f->loop, UV_RUN_ONCE); /* nothing but the timer is in it */
}

static bool told_alive(fixture *f)
{
    char text[64];
    ssize_t len = recv(f->manager, text, sizeof text - 1, 0);
    if (len < 0) {
        assert_int_equal(errno, EAGAIN);
        return false;
    }
    text[len] = '\0';
    assert_string_equal(text, "WATCHDOG=1");
    return true;
}

static void alive_while_all_answer(void **state)
{
    fixture *f = *state;
    f->watchdog = px_watchdog_start(&f->server, &f->loop);
    for (int turn = 0; turn < 3; turn++) {
        tick(f);
        assert_true(told_alive(f));
        answer(&f->workers[0]);
        answer(&f->workers[1]);
    }
}

static void silent_while_one_hangs(void **state)
{
    fixture *f = *state;
    f->watchdog = px_watchdog_start(&f->server, &f->loop);
    tick(f);
    assert_true(told_alive(f));
    answer(&f->workers[0]);
    for (int turn = 0; turn < 3; turn++) {
        tick(f);
        assert_false(told_alive(f));
    }
    answer(&f->workers[1]); /* it has come back */
    tick(f);
    assert_true(told_alive(f));
    answer(&f->workers[0]);
    answer(&f->workers[1]);
}

static void nobody_asked(void **state)
{
    fixture *f = *state;
    unsetenv("WATCHDOG_USEC");
    assert_null(px_watchdog_start(&f->server, &f->loop));
    setenv("WATCHDOG_USEC", "1000000", 1);
    setenv("WATCHDOG_PID", "1", 1); /* another process is meant */
    assert_null(px_watchdog_start(&f->server, &f->loop));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(alive_while_all_answer, setup, teardown),
        cmocka_unit_test_setup_teardown(silent_while_one_hangs, setup, teardown),
        cmocka_unit_test_setup_teardown(nobody_asked, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
