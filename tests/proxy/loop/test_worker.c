/* Workers and the allocator: whose thread asks it first to give memory back. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_allocator_is_set_up_before_threads_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
