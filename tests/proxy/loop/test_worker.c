/* Workers and the allocator: whose thread asks it first to give memory back. When a worker's
 * messages to itself run. */
#define _GNU_SOURCE
#include "proxy/base/shared.h"
#include "proxy/loop/worker.h"

#include <malloc.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { WORKERS = 2 };

static struct {
    px_server server;
    px_worker workers[WORKERS];
    pthread_mutex_t lock;
    pthread_t first; /* the thread that asked first */
    unsigned trims;  /* how often any has */
} here = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const px_tenant *const nobody[] = {NULL};

/* In the place of the C library's. */
int malloc_trim(size_t pad)
{
    (void)pad;
    pthread_mutex_lock(&here.lock);
    if (here.trims++ == 0)
        here.first = pthread_self();
    pthread_mutex_unlock(&here.lock);
    return 0;
}

/* Until it has asked for what it was told of to be given back. */
static void *run(void *argument)
{
    px_worker *worker = argument;
    px_worker_let_go(worker, SIZE_MAX);
    while (worker->let_go > 0)
        uv_run(&worker->loop, UV_RUN_ONCE);
    px_worker_drain(worker);
    px_worker_run(worker);
    return NULL;
}

/* Where a sanitizer has an allocator of its own, the C library's is unused until then. The first
 * call sets it up, which is no work for two threads at once. */
static void test_the_allocator_is_set_up_before_threads_are(void **state)
{
    (void)state;
    here.server = (px_server){
        .workers = here.workers, .worker_count = WORKERS, .metrics = px_metrics_new(NULL)};
    for (unsigned i = 0; i < WORKERS; i++) {
        px_worker_init(&here.workers[i], &here.server, i, nobody);
        assert_true(here.trims > 0);
    }
    pthread_t threads[WORKERS];
    for (unsigned i = 0; i < WORKERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run, &here.workers[i]), 0);
    for (unsigned i = 0; i < WORKERS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_true(pthread_equal(here.first, pthread_self()));
    assert_true(here.trims > WORKERS);
    for (unsigned i = 0; i < WORKERS; i++) {
        px_metrics_free(here.workers[i].metrics);
        px_worker_free(&here.workers[i]);
    }
    px_metrics_free(here.server.metrics);
}

static struct {
    uv_timer_t handle;
    px_message to_itself;
    bool ran, ran_first;
} closed;

static void note_run(px_worker *worker, px_message *message)
{
    (void)worker, (void)message;
    closed.ran = true;
}

static void on_closed(uv_handle_t *handle)
{
    closed.ran_first = closed.ran;
    px_worker_drain(handle->data);
}

static void send_and_close(px_worker *worker, px_message *message)
{
    (void)message;
    uv_timer_init(&worker->loop, &closed.handle);
    closed.handle.data = worker;
    closed.to_itself.run = note_run;
    px_worker_send(worker, &closed.to_itself);
    uv_close((uv_handle_t *)&closed.handle, on_closed);
}

/* What a handle is part of may have sent the message, and is freed when the handle is closed. */
static void test_a_message_runs_before_what_was_closed_behind_it_is_gone(void **state)
{
    (void)state;
    px_worker *worker = &here.workers[0];
    here.server =
        (px_server){.workers = worker, .worker_count = 1, .metrics = px_metrics_new(NULL)};
    px_worker_init(worker, &here.server, 0, nobody);
    px_message first = {.run = send_and_close};
    px_worker_send(worker, &first);
    px_worker_run(worker);
    assert_true(closed.ran_first);
    px_metrics_free(worker->metrics);
    px_worker_free(worker);
    px_metrics_free(here.server.metrics);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_allocator_is_set_up_before_threads_are),
        cmocka_unit_test(test_a_message_runs_before_what_was_closed_behind_it_is_gone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
