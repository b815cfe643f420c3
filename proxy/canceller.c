#include "proxy/canceller.h"

#include <stdlib.h>

enum { MOST = 256 };

struct px_canceller {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    px_cancel *waiting[MOST]; /* a ring */
    unsigned first, count;
    bool stopping;
};

static px_cancel *next(px_canceller *canceller)
{
    pthread_mutex_lock(&canceller->lock);
    while (canceller->count == 0 && !canceller->stopping)
        pthread_cond_wait(&canceller->changed, &canceller->lock);
    px_cancel *cancel = NULL;
    if (canceller->count > 0) {
        cancel = canceller->waiting[canceller->first];
        canceller->first = (canceller->first + 1) % MOST;
        canceller->count--;
    }
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

void px_canceller_stop(px_canceller *canceller)
{
    pthread_mutex_lock(&canceller->lock);
    canceller->stopping = true;
    pthread_cond_signal(&canceller->changed);
    pthread_mutex_unlock(&canceller->lock);
    pthread_join(canceller->thread, NULL);
    pthread_cond_destroy(&canceller->changed);
    pthread_mutex_destroy(&canceller->lock);
    free(canceller);
}

bool px_canceller_ask(px_canceller *canceller, px_cancel *cancel)
{
    pthread_mutex_lock(&canceller->lock);
    bool room = canceller->count < MOST;
    if (room)
        canceller->waiting[(canceller->first + canceller->count++) % MOST] = cancel;
    pthread_cond_signal(&canceller->changed);
    pthread_mutex_unlock(&canceller->lock);
    return room;
}
