#include "proxy/batch/batcher.h"

#include "proxy/backend/base/backend.h"
#include "proxy/backend/base/databases.h"
#include "proxy/base/shared.h"
#include "proxy/batch/flight.h"
#include "proxy/batch/keylocks.h"
#include "proxy/batch/pauses.h"
#include "proxy/batch/register.h"
#include "proxy/batch/schedule.h"
#include "proxy/loop/worker.h"

#include <stdlib.h>
#include <string.h>

enum {
    SWEEP_MS = 10 * 1000,
    QUEUE_IDLE_MS = 60 * 1000,
    QUEUE_BYTES = 16 * 1024 * 1024, /* bytes of texts in keys; above, no empty queue is kept */
    MEASURE_MS = 1000
};

typedef struct px_batcher px_batcher;

struct px_batcher {
    px_worker *worker;
    px_queue_table queues;
    px_pools pools;
    px_flights flights;
    px_register home; /* the write groups of this worker's sessions */
    px_write_group_chain
        waiting; /* write groups that wait for rows before them with the same keys */
    px_pauses pauses;
    px_schedule schedule;
    px_write_group_line granted; /* write groups that have their keys now, and are to be queued */
    px_write_group_line done; /* write groups with an outcome, whose sessions are this worker's */
    bool winding_up;
    size_t here;            /* write groups between arrival and outcome */
    uint64_t next_deadline; /* px_worker_now() scale: no write group here expires before */
    uint64_t next_sweep, next_measure;
};

static uint64_t now_of(const px_batcher *batcher)
{
    return px_worker_now(batcher->worker);
}

static void note_deadline(px_batcher *batcher, const px_write_group *write_group)
{
    if (write_group->deadline < batcher->next_deadline)
        batcher->next_deadline = write_group->deadline;
}

static void wind_up(px_batcher *batcher);
static bool give_up(px_batcher *batcher, px_write_group *write_group);

/* ---- queues ---- */

static px_pool *find_pool(px_batcher *batcher, px_identity *identity)
{
    px_pool *pool = px_pools_find(&batcher->pools, identity);
    if (pool == NULL) {
        pool = px_pool_new(batcher->worker, identity, &px_flight_pool_ops, &batcher->flights);
        pool->next = batcher->pools.first;
        batcher->pools.first = pool;
    }
    return pool;
}

/* A link is opened ahead only while few are in use, so that no other identity lacks one for it. */
void px_batcher_expect(px_worker *worker, px_identity *identity)
{
    const cfg_config *config = worker->config;
    bool may_batch = identity->replication == NULL && identity->env.utf8 &&
                     identity->env.conforming && config->table_count > 0;
    may_batch = may_batch && px_databases_written(worker->server->databases, identity->database);
    if (may_batch && atomic_load(&worker->server->seats.links) < config->backend.max_links / 4)
        px_pool_expect(find_pool(worker->batcher, identity), config->tables[0].batch.lock_wait_ms);
}

static px_queue *find_queue(px_batcher *batcher, const px_write_group *write_group)
{
    px_queue *queue = px_queue_find(&batcher->queues, write_group);
    if (queue->pool == NULL) {
        px_databases_write(batcher->worker->server->databases, write_group->identity->database);
        queue->pool = find_pool(batcher, write_group->identity);
        queue->pool->references++;
    }
    px_queue_configure(queue, write_group->tables[0].config);
    return queue;
}

/* ---- a write group's way ---- */

static void enqueue(px_batcher *batcher, px_write_group *write_group)
{
    if (give_up(batcher, write_group))
        return;
    px_queue *queue = find_queue(batcher, write_group);
    px_queue_push(queue, write_group);
    px_schedule_place(&batcher->schedule, queue);
}

static void dispatch_all(px_batcher *batcher)
{
    for (px_pool *pool = batcher->pools.first; pool != NULL; pool = pool->next)
        if (pool->ready.count > 0)
            px_flight_dispatch(pool);
}

void px_batcher_turn(px_batcher *batcher)
{
    dispatch_all(batcher);
    /* Dispatching may give up or reroute write groups, whose keys others wait for. */
    while (batcher->done.first != NULL || batcher->granted.first != NULL) {
        wind_up(batcher);
        dispatch_all(batcher);
    }
}

static void wait_for_keys(px_batcher *batcher, px_write_group *write_group)
{
    write_group->state = PX_WRITE_GROUP_WAITING;
    px_write_group_chain_add(&batcher->waiting, write_group);
}

static void arrive(px_batcher *batcher, px_write_group *write_group)
{
    batcher->here++;
    write_group->arrived = now_of(batcher);
    note_deadline(batcher, write_group);
    if (px_keylocks_claim(write_group))
        enqueue(batcher, write_group);
    else
        wait_for_keys(batcher, write_group);
}

static void run_arrive(px_worker *worker, px_message *message)
{
    arrive(worker->batcher, (px_write_group *)message);
    wind_up(worker->batcher);
}

void px_batcher_submit(px_write_group *write_group)
{
    px_batcher *home = write_group->home->batcher;
    /* Clients' transactions share batches over all partitions, for the server's are what costs. */
    write_group->several_partitions |=
        write_group->told && !write_group->home->server->backend->by_partition;
    uint32_t place = write_group->several_partitions ? UINT32_MAX : write_group->partition;
    write_group->owner = px_worker_owner(write_group->home, write_group->tables[0].name, place);
    px_register_add(&home->home, write_group);
    if (write_group->owner == write_group->home) {
        arrive(home, write_group);
        return;
    }
    write_group->message.run = run_arrive;
    px_worker_send(write_group->owner, &write_group->message);
}

static void run_granted(px_worker *worker, px_message *message)
{
    px_write_group_line_add(&worker->batcher->granted, (px_write_group *)message);
    wind_up(worker->batcher);
}

static void hand_over(px_batcher *batcher, px_write_group *granted)
{
    for (px_write_group *write_group = granted, *next; write_group != NULL; write_group = next) {
        next = px_keylocks_next(write_group);
        if (write_group->owner == batcher->worker) {
            px_write_group_line_add(&batcher->granted, write_group);
            continue;
        }
        write_group->message.run = run_granted;
        px_worker_send(write_group->owner, &write_group->message);
    }
}

static void run_home(px_worker *worker, px_message *message)
{
    px_register_deliver(&worker->batcher->home, (px_write_group *)message);
    wind_up(worker->batcher);
}

static void finish(px_batcher *batcher, px_write_group *write_group)
{
    px_write_group *granted = px_keylocks_release(write_group);
    write_group->state = PX_WRITE_GROUP_DONE;
    batcher->here--;
    if (write_group->home == batcher->worker) {
        px_write_group_line_add(&batcher->done, write_group);
    } else {
        write_group->message.run = run_home;
        px_worker_send(write_group->home, &write_group->message);
    }
    hand_over(batcher, granted);
}

static void wind_up(px_batcher *batcher)
{
    if (batcher->winding_up)
        return;
    batcher->winding_up = true;
    px_write_group *write_group;
    do {
        while ((write_group = px_write_group_line_pop(&batcher->granted)) != NULL) {
            px_write_group_chain_remove(&batcher->waiting, write_group);
            write_group->locked_ms += (uint32_t)(now_of(batcher) - write_group->arrived);
            enqueue(batcher, write_group);
        }
        if ((write_group = px_write_group_line_pop(&batcher->done)) != NULL)
            px_register_deliver(&batcher->home, write_group);
    } while (write_group != NULL || batcher->granted.first != NULL);
    batcher->winding_up = false;
}

/* ---- write groups that are given up ---- */

static void fail_cancelled(px_batcher *batcher, px_write_group *write_group)
{
    pgw_error error;
    write_group->failure = write_group->withdrawn ? PX_FAILED_WITHDRAWN : PX_FAILED_EXPIRED;
    pgw_fail(&error, "57014", "canceling statement due to %s",
             write_group->withdrawn ? "user request" : "statement timeout");
    px_write_group_fail(write_group, &error);
    finish(batcher, write_group);
}

static bool give_up(px_batcher *batcher, px_write_group *write_group)
{
    if (!write_group->withdrawn && write_group->deadline > now_of(batcher))
        return false;
    fail_cancelled(batcher, write_group);
    return true;
}

/* A write group on a link stays there: it is looked at again between attempts. */
static void take_out(px_batcher *batcher, px_write_group *write_group)
{
    px_write_group *granted;
    if (write_group->state == PX_WRITE_GROUP_QUEUED) {
        px_queue_remove(write_group->queue, write_group);
        px_schedule_place(&batcher->schedule, write_group->queue);
        fail_cancelled(batcher, write_group);
    } else if (write_group->state == PX_WRITE_GROUP_PAUSING) {
        px_pauses_remove(&batcher->pauses, write_group);
        fail_cancelled(batcher, write_group);
    } else if (write_group->state == PX_WRITE_GROUP_WAITING &&
               px_keylocks_cancel(write_group, &granted)) {
        px_write_group_chain_remove(&batcher->waiting, write_group);
        hand_over(batcher, granted);
        fail_cancelled(batcher, write_group);
    }
}

/* A withdrawal goes to the write group's owner and back; the write group is pinned at home until
 * then. */
typedef struct withdrawal {
    px_message message;
    px_write_group *write_group;
    px_worker *home;
} withdrawal;

static void run_withdrawn(px_worker *worker, px_message *message)
{
    px_write_group *write_group = ((withdrawal *)message)->write_group;
    free(message);
    write_group->pins--;
    if (write_group->pins == 0 && write_group->came_back)
        px_register_deliver(&worker->batcher->home, write_group);
    wind_up(worker->batcher);
}

static void run_withdraw(px_worker *worker, px_message *message)
{
    withdrawal *w = (withdrawal *)message;
    if (w->write_group->state != PX_WRITE_GROUP_DONE) {
        w->write_group->withdrawn = true;
        take_out(worker->batcher, w->write_group);
    }
    message->run = run_withdrawn;
    px_worker_send(w->home, message);
    wind_up(worker->batcher);
}

void px_batcher_withdraw(px_worker *home, px_write_group *write_group, uint64_t ticket)
{
    px_write_group *found = px_register_find(&home->batcher->home, write_group, ticket);
    if (found == NULL)
        return;
    withdrawal *w = pgw_calloc(1, sizeof *w);
    w->write_group = found;
    w->home = home;
    w->message.run = run_withdraw;
    found->pins++;
    px_worker_send(found->owner, &w->message);
}

/* ---- time ---- */

static void look_at_deadline(px_batcher *batcher, px_write_group *write_group)
{
    if (write_group->deadline <= now_of(batcher))
        take_out(batcher, write_group);
    else
        note_deadline(batcher, write_group);
}

static void look_at_deadlines(px_batcher *batcher, const px_write_group_chain *chain)
{
    for (px_write_group *write_group = chain->first, *next; write_group != NULL;
         write_group = next) {
        next = write_group->next;
        look_at_deadline(batcher, write_group);
    }
}

/* Units in flight are not looked at: on_done does, before it sends them again. */
static void expire(px_batcher *batcher)
{
    if (batcher->next_deadline > now_of(batcher))
        return;
    batcher->next_deadline = UINT64_MAX;
    look_at_deadlines(batcher, &batcher->waiting);
    look_at_deadlines(batcher, &batcher->pauses.write_groups);
    for (size_t i = 0; i < batcher->queues.slot_count; i++)
        for (px_queue *queue = batcher->queues.slots[i]; queue != NULL; queue = queue->chain)
            look_at_deadlines(batcher, &queue->waiting);
}

static void on_queue_free(px_queue *queue)
{
    queue->pool->references--;
}

static void sweep(px_batcher *batcher)
{
    uint64_t now = now_of(batcher), idle = QUEUE_IDLE_MS;
    if (batcher->queues.bytes > QUEUE_BYTES)
        idle = 0;
    else if (now < batcher->next_sweep)
        return;
    batcher->next_sweep = now + SWEEP_MS;
    if (now > idle)
        px_queue_sweep(&batcher->queues, now - idle, on_queue_free);
    px_pools_sweep(&batcher->pools);
}

static void measure(px_batcher *batcher)
{
    px_metrics *metrics = batcher->worker->metrics;
    if (now_of(batcher) < batcher->next_measure)
        return;
    batcher->next_measure = now_of(batcher) + MEASURE_MS;
    px_limits_begin(metrics);
    for (size_t i = 0; i < batcher->queues.slot_count; i++)
        for (px_queue *queue = batcher->queues.slots[i]; queue != NULL; queue = queue->chain)
            px_limits_note(metrics,
                           px_write_group_table_counted(queue->key.tables[0].name, queue->table),
                           queue->limit_rows, queue->limit_bytes);
    px_limits_end(metrics);
}

void px_batcher_tick(px_batcher *batcher)
{
    expire(batcher);
    for (px_pool *pool = batcher->pools.first; pool != NULL; pool = pool->next) {
        px_pool_tick(pool);
        px_schedule_flights(&batcher->schedule, pool);
        px_flight_dispatch(pool);
    }
    sweep(batcher);
    measure(batcher);
    wind_up(batcher);
}

/* ---- beginning and end ---- */

static void on_finish(void *owner, px_write_group *write_group)
{
    finish(owner, write_group);
}

static bool on_give_up(void *owner, px_write_group *write_group)
{
    return give_up(owner, write_group);
}

static void on_back(void *owner, px_write_group *write_group)
{
    note_deadline(owner, write_group);
}

static void on_later(void *owner, px_write_group *write_group, uint32_t ms)
{
    px_batcher *batcher = owner;
    write_group->state = PX_WRITE_GROUP_PAUSING;
    note_deadline(batcher, write_group);
    px_pauses_add(&batcher->pauses, write_group, ms);
}

static void on_moved(void *owner, px_queue *queue)
{
    px_batcher *batcher = owner;
    px_schedule_place(&batcher->schedule, queue);
}

static void on_wind_up(void *owner)
{
    wind_up(owner);
}

static const px_flight_ops flight_ops = {.finish = on_finish,
                                         .give_up = on_give_up,
                                         .back = on_back,
                                         .later = on_later,
                                         .moved = on_moved,
                                         .wind_up = on_wind_up};

static void on_due(void *owner)
{
    dispatch_all(owner);
    wind_up(owner);
}

/* A write group whose pause is over goes in front of those that came since, maybe in another queue.
 */
static void on_paused(void *owner, px_write_group *write_group)
{
    px_batcher *batcher = owner;
    if (give_up(batcher, write_group))
        return;
    px_queue *queue = find_queue(batcher, write_group);
    px_queue_push_front(queue, write_group);
    px_schedule_place(&batcher->schedule, queue);
}

static const px_pauses_ops pauses_ops = {.over = on_paused, .due = on_due};

px_batcher *px_batcher_new(px_worker *worker)
{
    px_batcher *batcher = pgw_calloc(1, sizeof *batcher);
    batcher->worker = worker;
    batcher->next_deadline = UINT64_MAX;
    batcher->home.worker = worker;
    batcher->flights = (px_flights){.worker = worker, .ops = &flight_ops, .owner = batcher};
    px_schedule_begin(&batcher->schedule, worker, on_due, batcher);
    px_pauses_begin(&batcher->pauses, worker, &pauses_ops, batcher);
    worker->pools = &batcher->pools;
    return batcher;
}

void px_batcher_free(px_batcher *batcher)
{
    for (px_pool *pool = batcher->pools.first, *next; pool != NULL; pool = next) {
        next = pool->next;
        px_pool_free(pool);
    }
    px_queue_table_free(&batcher->queues);
    px_schedule_end(&batcher->schedule);
    px_pauses_end(&batcher->pauses);
    pgw_buf_free(&batcher->flights.scratch);
    px_register_free(&batcher->home);
    free(batcher);
}

/* ---- as a worker's tenant ---- */

static void tenant_turn(px_worker *worker)
{
    if (worker->batcher != NULL)
        px_batcher_turn(worker->batcher);
}

static void tenant_tick(px_worker *worker)
{
    px_batcher_tick(worker->batcher);
}

static bool tenant_idle(px_worker *worker)
{
    (void)worker;
    return px_register_all_idle();
}

static void tenant_end(px_worker *worker)
{
    px_batcher_free(worker->batcher);
    worker->batcher = NULL;
}

static bool tenant_yield(px_worker *worker, px_plea *plea)
{
    bool given = false;
    px_pool *pool = plea->slot != PX_SLOT_OF_SESSION ? worker->pools->first : NULL;
    for (; pool != NULL && !given; pool = pool->next)
        given = px_plea_concerns(plea, pool->identity) &&
                px_plea_note(plea, px_pool_yield(pool, !plea->later));
    return given;
}

const px_tenant px_batcher_tenant = {.turn = tenant_turn,
                                     .tick = tenant_tick,
                                     .yield = tenant_yield,
                                     .idle = tenant_idle,
                                     .end = tenant_end};
