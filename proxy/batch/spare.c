#include "proxy/batch/spare.h"

#include "proxy/base/shared.h"
#include "proxy/loop/worker.h"

#include <stdlib.h>

enum { ASK_MS = 20 }; /* pause between two questions to the other workers for a link */

/* A message that goes to one worker, or to one after the other until one has a link to spare. */
typedef struct errand {
    px_message message;
    px_worker *home;
} errand;

static void send_errand(px_worker *worker, px_worker *home, void (*run)(px_worker *, px_message *))
{
    errand *e = pgw_alloc(sizeof *e);
    *e = (errand){.message.run = run, .home = home};
    atomic_fetch_add(&worker->server->errands, 1);
    px_worker_send(worker, &e->message);
}

static void end_errand(px_worker *worker, px_message *message)
{
    free(message);
    atomic_fetch_sub(&worker->server->errands, 1);
}

/* Wakes a worker: the end of its turn gives links to the queues that wait. */
static void run_wake(px_worker *worker, px_message *message)
{
    end_errand(worker, message);
}

static void wake_others(px_worker *worker)
{
    px_server *server = worker->server;
    for (unsigned i = 0; i < server->worker_count; i++)
        if (&server->workers[i] != worker && atomic_load(&server->quota.starving) > 0)
            send_errand(&server->workers[i], worker, run_wake);
}

void px_spare_shed(px_pool *pool)
{
    bool any = false;
    for (px_pool_link *l = pool->links, *next; l != NULL; l = next) {
        next = l->next;
        if (l->state != PX_POOL_IDLE || !l->spare || l->reading)
            continue;
        px_pool_links_drop(l);
        any = true;
    }
    if (any)
        wake_others(pool->worker);
}

/* The link that was idle for longest in pools other than `asking`; NULL: there is none. */
static px_pool_link *longest_idle(px_pool *pools, const px_pool *asking)
{
    px_pool_link *found = NULL;
    for (px_pool *pool = pools; pool != NULL; pool = pool->next)
        for (px_pool_link *l = pool->links; l != NULL && pool != asking; l = l->next)
            if (l->state == PX_POOL_IDLE && !l->lost && !l->reading &&
                (found == NULL || l->idle_since < found->idle_since))
                found = l;
    return found;
}

static void run_ask(px_worker *worker, px_message *message)
{
    errand *e = (errand *)message;
    px_server *server = worker->server;
    if (worker == e->home) { /* the end of the turn looks whether there is a link now */
        worker->pools->asking = false;
        worker->pools->ask_after = px_worker_now(worker) + ASK_MS;
        end_errand(worker, message);
        return;
    }
    px_pool_link *l = longest_idle(worker->pools->first, NULL);
    if (l != NULL)
        px_pool_links_drop(l);
    unsigned next = (worker->index + 1) % server->worker_count;
    px_worker_send(l != NULL ? e->home : &server->workers[next], message);
}

/* An idle link of this worker gives way at once, one of another worker in a while. */
bool px_spare_make_room(px_pool *pool)
{
    px_pools *pools = pool->worker->pools;
    px_server *server = pool->worker->server;
    px_pool_link *l = longest_idle(pools->first, pool);
    if (l != NULL) {
        px_pool_links_drop(l);
        return px_quota_claim(&server->quota, px_pool_links_most(pool), 0);
    }
    if (!pools->asking && px_worker_now(pool->worker) >= pools->ask_after &&
        server->worker_count > 1) {
        pools->asking = true;
        send_errand(&server->workers[(pool->worker->index + 1) % server->worker_count],
                    pool->worker, run_ask);
    }
    return false;
}
