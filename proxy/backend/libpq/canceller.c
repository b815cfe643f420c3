#define _GNU_SOURCE
#include "proxy/backend/libpq/canceller.h"

#include "config/config.h"

#include <errno.h>
#include <linux/close_range.h>
#include <pthread.h>
#include <unistd.h>

enum { MOST = 256 /* most cancels of a worker at a time */, STACK = 256 * 1024 };

/* Asks on a thread that can be ended wherever it stands, for PQcancel may be called in a signal
 * handler, and so holds nothing but its socket: that is closed with the thread, which has
 * descriptors of its own (before Linux 5.9 it has not, and one that is not answered is left open).
 * The function has no array of its own: the red zones that AddressSanitizer puts around one outlive
 * a thread that is ended in it. */
static void *ask(void *argument)
{
    px_cancel *cancel = argument;
    (void)close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_UNSHARE);
    PQcancel(cancel->target, cancel->reason, sizeof cancel->reason);
    sem_post(&cancel->over);
    return NULL;
}

static bool start(pthread_t *thread, void *(*run)(void *), px_cancel *cancel)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK);
    bool started = pthread_create(thread, &attributes, run, cancel) == 0;
    pthread_attr_destroy(&attributes);
    return started;
}

/* Whether the cancel is answered before its deadline. (A join with a deadline goes by the wall
 * clock, or by nothing that ThreadSanitizer knows.) */
static bool is_soon_over(px_cancel *cancel)
{
    int failed;
    do
        failed = sem_clockwait(&cancel->over, CLOCK_MONOTONIC, &cancel->until);
    while (failed != 0 && errno == EINTR);
    return failed == 0;
}

/* Watches over a thread that asks, and keeps the descriptors by which the worker is woken. */
static void *watch(void *argument)
{
    px_cancel *cancel = argument;
    pthread_t asking;
    if (start(&asking, ask, cancel)) {
        if (!is_soon_over(cancel))
            pthread_cancel(asking);
        pthread_join(asking, NULL);
    }
    px_worker_send(cancel->worker, &cancel->message);
    return NULL;
}

static void on_done(px_worker *worker, px_message *message)
{
    px_cancel *cancel = (px_cancel *)message;
    worker->cancels--;
    sem_destroy(&cancel->over);
    cancel->done(cancel);
}

static struct timespec in_ms(uint32_t ms)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    time.tv_nsec += (long)(ms % 1000) * 1000000;
    time.tv_sec += ms / 1000 + time.tv_nsec / 1000000000;
    time.tv_nsec %= 1000000000;
    return time;
}

bool px_canceller_ask(px_cancel *cancel)
{
    px_worker *worker = cancel->worker;
    pthread_t watching;
    cancel->message.run = on_done;
    cancel->until = in_ms(worker->config->backend.connect_ms);
    sem_init(&cancel->over, 0, 0);
    if (worker->cancels >= MOST || !start(&watching, watch, cancel))
        return false;
    pthread_detach(watching);
    worker->cancels++;
    return true;
}
