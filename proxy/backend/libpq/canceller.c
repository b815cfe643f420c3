#include "proxy/backend/libpq/canceller.h"

#include <stdlib.h>

enum { MOST = 256 };

struct px_canceller {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    px_cancel *waiting[MOST]; /* a ring */
    unsigned first, count;
    bool refusing, busy;
};

static px_cancel *take(px_canceller *canceller)
{
    px_cancel *cancel = canceller->waiting[canceller->first];
    canceller->first = (canceller->first + 1) % MOST;
    canceller->count--;
    return cancel;
}

/* The next one; NULL at the end. */
static px_cancel *next(px_canceller *canceller)
{
    pthread_mutex_lock(&canceller->lock);
    canceller->busy = false;
    while (canceller->count == 0 && !canceller->refusing)
        pthread_cond_wait(&canceller->changed, &canceller->lock);
    px_cancel *cancel = canceller->count > 0 ? take(canceller) : NULL;
    canceller->busy = cancel != NULL;
    pthread_mutex_unlock(&canceller->lock);
    return cancel;
}

static void *run(void *argument)
{
    px_cancel *cancel;
    while ((cancel = next(argument)) != NULL) {
        char reason[256]; /* nobody is told: a cancel is never answered */
        PQcancel(cancel->target, reason, sizeof reason);
        px_worker_send(cancel->worker, &cancel->message);
    }
    return NULL;
}

px_canceller *px_canceller_start(void)
{
    px_canceller *canceller = pgw_calloc(1, sizeof *canceller);
    pthread_mutex_init(&canceller->lock, NULL);
    pthread_cond_init(&canceller->changed, NULL);
    if (pthread_create(&canceller->thread, NULL, run, canceller) != 0)
        abort(); /* at the start of the process */
    return canceller;
}

void px_canceller_refuse(px_canceller *canceller)
{
    pthread_mutex_lock(&canceller->lock);
    canceller->refusing = true;
    while (canceller->count > 0) {
        px_cancel *cancel = take(canceller);
        px_worker_send(cancel->worker, &cancel->message);
    }
    pthread_cond_signal(&canceller->changed);
    pthread_mutex_unlock(&canceller->lock);
}

bool px_canceller_stop(px_canceller *canceller)
{
    pthread_mutex_lock(&canceller->lock);
    bool busy = canceller->busy;
    pthread_mutex_unlock(&canceller->lock);
    if (busy)
        return false;
    pthread_join(canceller->thread, NULL);
    pthread_cond_destroy(&canceller->changed);
    pthread_mutex_destroy(&canceller->lock);
    free(canceller);
    return true;
}

bool px_canceller_ask(px_canceller *canceller, px_cancel *cancel)
{
    pthread_mutex_lock(&canceller->lock);
    bool room = canceller->count < MOST && !canceller->refusing;
    if (room)
        canceller->waiting[(canceller->first + canceller->count++) % MOST] = cancel;
    pthread_cond_signal(&canceller->changed);
    pthread_mutex_unlock(&canceller->lock);
    return room;
}
