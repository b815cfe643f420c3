#include "proxy/batch/batcher.h"

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
    px_register home;      /* the units of this worker's sessions */
    px_unit_chain waiting; /* units that wait for rows before them with the same keys */
    px_pauses pauses;
    px_schedule schedule;
    px_unit_line granted; /* units that have their keys now, and are to be queued */
    px_unit_line done;    /* units with an outcome, whose sessions are this worker's */
    bool winding_up;
    size_t here;            /* units between arrival and outcome */
    uint64_t next_deadline; /* px_worker_now() scale: no unit here expires before */
    uint64_t next_sweep, next_measure;
};

static uint64_t now_of(const px_batcher *batcher)
{
    return px_worker_now(batcher->worker);
}

static void note_deadline(px_batcher *batcher, const px_unit *unit)
{
    if (unit->deadline < batcher->next_deadline)
        batcher->next_deadline = unit->deadline;
}

static void wind_up(px_batcher *batcher);
static bool give_up(px_batcher *batcher, px_unit *unit);

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

static px_queue *find_queue(px_batcher *batcher, const px_unit *unit)
{
    px_queue *queue = px_queue_find(&batcher->queues, unit);
    if (queue->pool == NULL) {
        px_databases_write(batcher->worker->server->databases, unit->identity->database);
        queue->pool = find_pool(batcher, unit->identity);
        queue->pool->references++;
    }
    px_queue_configure(queue, unit->tables[0].config);
    return queue;
}

/* ---- a unit's way ---- */

static void enqueue(px_batcher *batcher, px_unit *unit)
{
    if (give_up(batcher, unit))
        return;
    px_queue *queue = find_queue(batcher, unit);
    px_queue_push(queue, unit);
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
    /* Dispatching may give up or reroute units, whose keys others wait for. */
    while (batcher->done.first != NULL || batcher->granted.first != NULL) {
        wind_up(batcher);
        dispatch_all(batcher);
    }
}

static void wait_for_keys(px_batcher *batcher, px_unit *unit)
{
    unit->state = PX_UNIT_WAITING;
    px_unit_chain_add(&batcher->waiting, unit);
}

static void arrive(px_batcher *batcher, px_unit *unit)
{
    batcher->here++;
    unit->arrived = now_of(batcher);
    note_deadline(batcher, unit);
    if (px_keylocks_claim(unit))
        enqueue(batcher, unit);
    else
        wait_for_keys(batcher, unit);
}

static void run_arrive(px_worker *worker, px_message *message)
{
    arrive(worker->batcher, (px_unit *)message);
    wind_up(worker->batcher);
}

void px_batcher_submit(px_unit *unit)
{
    px_batcher *home = unit->home->batcher;
    uint32_t place = unit->several_partitions ? UINT32_MAX : unit->partition;
    unit->owner = px_worker_owner(unit->home, unit->tables[0].name, place);
    px_register_add(&home->home, unit);
    if (unit->owner == unit->home) {
        arrive(home, unit);
        return;
    }
    unit->message.run = run_arrive;
    px_worker_send(unit->owner, &unit->message);
}

static void run_granted(px_worker *worker, px_message *message)
{
    px_unit_line_add(&worker->batcher->granted, (px_unit *)message);
    wind_up(worker->batcher);
}

static void hand_over(px_batcher *batcher, px_unit *granted)
{
    for (px_unit *unit = granted, *next; unit != NULL; unit = next) {
        next = px_keylocks_next(unit);
        if (unit->owner == batcher->worker) {
            px_unit_line_add(&batcher->granted, unit);
            continue;
        }
        unit->message.run = run_granted;
        px_worker_send(unit->owner, &unit->message);
    }
}

static void run_home(px_worker *worker, px_message *message)
{
    px_register_deliver(&worker->batcher->home, (px_unit *)message);
    wind_up(worker->batcher);
}

static void finish(px_batcher *batcher, px_unit *unit)
{
    px_unit *granted = px_keylocks_release(unit);
    unit->state = PX_UNIT_DONE;
    batcher->here--;
    if (unit->home == batcher->worker) {
        px_unit_line_add(&batcher->done, unit);
    } else {
        unit->message.run = run_home;
        px_worker_send(unit->home, &unit->message);
    }
    hand_over(batcher, granted);
}

static void wind_up(px_batcher *batcher)
{
    if (batcher->winding_up)
        return;
    batcher->winding_up = true;
    px_unit *unit;
    do {
        while ((unit = px_unit_line_pop(&batcher->granted)) != NULL) {
            px_unit_chain_remove(&batcher->waiting, unit);
            unit->locked_ms += (uint32_t)(now_of(batcher) - unit->arrived);
            enqueue(batcher, unit);
        }
        if ((unit = px_unit_line_pop(&batcher->done)) != NULL)
            px_register_deliver(&batcher->home, unit);
    } while (unit != NULL || batcher->granted.first != NULL);
    batcher->winding_up = false;
}

/* ---- units that are given up ---- */

static void fail_cancelled(px_batcher *batcher, px_unit *unit)
{
    pgw_error error;
    unit->failure = unit->withdrawn ? PX_FAILED_WITHDRAWN : PX_FAILED_EXPIRED;
    pgw_fail(&error, "57014", "canceling statement due to %s",
             unit->withdrawn ? "user request" : "statement timeout");
    px_unit_fail(unit, &error);
    finish(batcher, unit);
}

static bool give_up(px_batcher *batcher, px_unit *unit)
{
    if (!unit->withdrawn && unit->deadline > now_of(batcher))
        return false;
    fail_cancelled(batcher, unit);
    return true;
}

/* A unit on a link stays there: it is looked at again between attempts. */
static void take_out(px_batcher *batcher, px_unit *unit)
{
    px_unit *granted;
    if (unit->state == PX_UNIT_QUEUED) {
        px_queue_remove(unit->queue, unit);
        px_schedule_place(&batcher->schedule, unit->queue);
        fail_cancelled(batcher, unit);
    } else if (unit->state == PX_UNIT_PAUSING) {
        px_pauses_remove(&batcher->pauses, unit);
        fail_cancelled(batcher, unit);
    } else if (unit->state == PX_UNIT_WAITING && px_keylocks_cancel(unit, &granted)) {
        px_unit_chain_remove(&batcher->waiting, unit);
        hand_over(batcher, granted);
        fail_cancelled(batcher, unit);
    }
}

/* A withdrawal goes to the unit's owner and back; the unit is pinned at home until then. */
typedef struct withdrawal {
    px_message message;
    px_unit *unit;
    px_worker *home;
} withdrawal;

static void run_withdrawn(px_worker *worker, px_message *message)
{
    px_unit *unit = ((withdrawal *)message)->unit;
    free(message);
    unit->pins--;
    if (unit->pins == 0 && unit->came_back)
        px_register_deliver(&worker->batcher->home, unit);
    wind_up(worker->batcher);
}

static void run_withdraw(px_worker *worker, px_message *message)
{
    withdrawal *w = (withdrawal *)message;
    if (w->unit->state != PX_UNIT_DONE) {
        w->unit->withdrawn = true;
        take_out(worker->batcher, w->unit);
    }
    message->run = run_withdrawn;
    px_worker_send(w->home, message);
    wind_up(worker->batcher);
}

void px_batcher_withdraw(px_worker *home, px_unit *unit, uint64_t ticket)
{
    px_unit *found = px_register_find(&home->batcher->home, unit, ticket);
    if (found == NULL)
        return;
    withdrawal *w = pgw_calloc(1, sizeof *w);
    w->unit = found;
    w->home = home;
    w->message.run = run_withdraw;
    found->pins++;
    px_worker_send(found->owner, &w->message);
}

/* ---- time ---- */

static void look_at_deadline(px_batcher *batcher, px_unit *unit)
{
    if (unit->deadline <= now_of(batcher))
        take_out(batcher, unit);
    else
        note_deadline(batcher, unit);
}

static void look_at_deadlines(px_batcher *batcher, const px_unit_chain *chain)
{
    for (px_unit *unit = chain->first, *next; unit != NULL; unit = next) {
        next = unit->next;
        look_at_deadline(batcher, unit);
    }
}

/* Units in flight are not looked at: on_done does, before it sends them again. */
static void expire(px_batcher *batcher)
{
    if (batcher->next_deadline > now_of(batcher))
        return;
    batcher->next_deadline = UINT64_MAX;
    look_at_deadlines(batcher, &batcher->waiting);
    look_at_deadlines(batcher, &batcher->pauses.units);
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
            px_limits_note(metrics, px_unit_table_counted(queue->key.tables[0].name, queue->table),
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

static void on_finish(void *owner, px_unit *unit)
{
    finish(owner, unit);
}

static bool on_give_up(void *owner, px_unit *unit)
{
    return give_up(owner, unit);
}

static void on_back(void *owner, px_unit *unit)
{
    note_deadline(owner, unit);
}

static void on_later(void *owner, px_unit *unit, uint32_t ms)
{
    px_batcher *batcher = owner;
    unit->state = PX_UNIT_PAUSING;
    note_deadline(batcher, unit);
    px_pauses_add(&batcher->pauses, unit, ms);
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

/* A unit whose pause is over goes in front of those that came since, maybe in another queue. */
static void on_paused(void *owner, px_unit *unit)
{
    px_batcher *batcher = owner;
    if (give_up(batcher, unit))
        return;
    px_queue *queue = find_queue(batcher, unit);
    px_queue_push_front(queue, unit);
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
