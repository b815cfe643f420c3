#include "proxy/backend/databases.h"
#include "proxy/batch/batcher_parts.h"

#include "proxy/base/shared.h"
#include "proxy/loop/worker.h"

#include <stdlib.h>
#include <string.h>

enum { SWEEP_MS = 10 * 1000, QUEUE_IDLE_MS = 60 * 1000, MEASURE_MS = 1000 };

static uint64_t now_of(const px_batcher *batcher)
{
    return px_worker_now(batcher->worker);
}

/* ---- waiting for keys ---- */

static void enlist_waiting(px_batcher *batcher, px_unit *unit)
{
    unit->state = PX_UNIT_WAITING;
    unit->next = NULL;
    unit->previous = batcher->waiting_last;
    if (unit->previous != NULL)
        unit->previous->next = unit;
    else
        batcher->waiting_first = unit;
    batcher->waiting_last = unit;
}

static void delist_waiting(px_batcher *batcher, px_unit *unit)
{
    if (unit->previous != NULL)
        unit->previous->next = unit->next;
    else
        batcher->waiting_first = unit->next;
    if (unit->next != NULL)
        unit->next->previous = unit->previous;
    else
        batcher->waiting_last = unit->previous;
}

/* ---- queues ---- */

static void on_hold_timer(uv_timer_t *timer);

static uint64_t held_until(const px_queue *queue)
{
    return queue->first->arrived + queue->table->batch.wait_ms;
}

static void arm(px_batcher *batcher, uint64_t due)
{
    uint64_t now = now_of(batcher);
    uint64_t in = due > now ? due - now : 0;
    if (!uv_is_active((uv_handle_t *)batcher->hold_timer) ||
        uv_timer_get_due_in(batcher->hold_timer) > in)
        uv_timer_start(batcher->hold_timer, on_hold_timer, in, 0);
}

static px_queue_state state_wanted(const px_batcher *batcher, const px_queue *queue)
{
    if (queue->flying > 0 && (queue->first == NULL || !px_queue_may_leave(queue, now_of(batcher))))
        return PX_QUEUE_FLYING;
    if (queue->first == NULL)
        return PX_QUEUE_EMPTY;
    bool waits = queue->table->batch.wait_ms > 0 && now_of(batcher) < held_until(queue);
    return waits && !px_queue_is_full(queue) ? PX_QUEUE_HOLDING : PX_QUEUE_READY;
}

static void hold(px_batcher *batcher, px_queue *queue)
{
    queue->previous = NULL;
    queue->next = batcher->holding;
    if (queue->next != NULL)
        queue->next->previous = queue;
    batcher->holding = queue;
}

static void unhold(px_batcher *batcher, px_queue *queue)
{
    if (queue->previous != NULL)
        queue->previous->next = queue->next;
    else
        batcher->holding = queue->next;
    if (queue->next != NULL)
        queue->next->previous = queue->previous;
}

static void set_state(px_batcher *batcher, px_queue *queue, px_queue_state state)
{
    if (queue->state == PX_QUEUE_HOLDING)
        unhold(batcher, queue);
    if (queue->state == PX_QUEUE_READY)
        px_ready_remove(&queue->pool->ready, queue);
    queue->state = state;
    if (state == PX_QUEUE_HOLDING)
        hold(batcher, queue);
    if (state == PX_QUEUE_READY) {
        queue->ready_since = px_worker_clock(batcher->worker);
        px_ready_add(&queue->pool->ready, queue);
    }
    if (state == PX_QUEUE_EMPTY)
        queue->idle_since = now_of(batcher);
}

void px_batcher_place(px_batcher *batcher, px_queue *queue)
{
    px_queue_state state = state_wanted(batcher, queue);
    if (state != queue->state)
        set_state(batcher, queue, state);
    else if (state == PX_QUEUE_READY)
        px_ready_moved(&queue->pool->ready, queue);
    if (state == PX_QUEUE_HOLDING)
        arm(batcher, held_until(queue));
}

static void on_hold_timer(uv_timer_t *timer)
{
    px_batcher *batcher = timer->data;
    for (px_queue *queue = batcher->holding, *next; queue != NULL; queue = next) {
        next = queue->next;
        px_batcher_place(batcher, queue);
        if (queue->state == PX_QUEUE_READY)
            px_flight_dispatch(queue->pool);
    }
    px_batcher_wind_up(batcher);
}

static px_pool *find_pool(px_batcher *batcher, px_identity *identity)
{
    px_pool *pool = batcher->pools;
    while (pool != NULL && strcmp(pool->identity->key, identity->key) != 0)
        pool = pool->next;
    if (pool == NULL) {
        pool = px_pool_new(batcher->worker, identity, &px_flight_ops, batcher);
        pool->next = batcher->pools;
        batcher->pools = pool;
    }
    return pool;
}

/* A courtesy while few links are in use: nobody else is to find none for it. */
void px_batcher_expect(px_worker *worker, px_identity *identity)
{
    const cfg_config *config = worker->config;
    bool may_batch = identity->replication == NULL && identity->env.utf8 &&
                     identity->env.conforming && config->table_count > 0;
    may_batch = may_batch && px_databases_written(worker->server->databases, identity->database);
    if (may_batch && atomic_load(&worker->server->links) < config->backend.max_links / 4)
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
    px_queue_configure(queue, unit->table);
    return queue;
}

/* ---- a unit's way ---- */

static void enqueue(px_batcher *batcher, px_unit *unit)
{
    if (px_batcher_give_up(batcher, unit))
        return;
    px_queue *queue = find_queue(batcher, unit);
    px_queue_push(queue, unit);
    px_batcher_place(batcher, queue);
}

static void dispatch_all(px_batcher *batcher)
{
    for (px_pool *pool = batcher->pools; pool != NULL; pool = pool->next)
        if (pool->ready.count > 0)
            px_flight_dispatch(pool);
}

void px_batcher_turn(px_batcher *batcher)
{
    dispatch_all(batcher);
    while (batcher->done.first != NULL || batcher->granted.first != NULL) { /* for want of links */
        px_batcher_wind_up(batcher);
        dispatch_all(batcher);
    }
}

static void arrive(px_batcher *batcher, px_unit *unit)
{
    batcher->here++;
    unit->arrived = now_of(batcher);
    px_batcher_note_deadline(batcher, unit);
    if (px_keylocks_claim(unit))
        enqueue(batcher, unit);
    else
        enlist_waiting(batcher, unit);
}

static void run_arrive(px_worker *worker, px_message *message)
{
    arrive(worker->batcher, (px_unit *)message);
    px_batcher_wind_up(worker->batcher);
}

void px_batcher_submit(px_unit *unit)
{
    px_batcher *home = unit->home->batcher;
    uint32_t place = unit->several_partitions ? UINT32_MAX : unit->partition;
    unit->owner = px_worker_owner(unit->home, unit->table_name, place);
    px_home_register(home, unit);
    if (unit->owner == unit->home) {
        arrive(home, unit);
        return;
    }
    unit->message.run = run_arrive;
    px_worker_send(unit->owner, &unit->message);
}

static void run_granted(px_worker *worker, px_message *message)
{
    px_unit_list_add(&worker->batcher->granted, (px_unit *)message);
    px_batcher_wind_up(worker->batcher);
}

static void hand_over(px_batcher *batcher, px_unit *granted)
{
    for (px_unit *unit = granted, *next; unit != NULL; unit = next) {
        next = px_keylocks_next(unit);
        if (unit->owner == batcher->worker) {
            px_unit_list_add(&batcher->granted, unit);
            continue;
        }
        unit->message.run = run_granted;
        px_worker_send(unit->owner, &unit->message);
    }
}

static void run_home(px_worker *worker, px_message *message)
{
    px_home_deliver(worker->batcher, (px_unit *)message);
    px_batcher_wind_up(worker->batcher);
}

void px_batcher_finish(px_batcher *batcher, px_unit *unit)
{
    px_unit *granted = px_keylocks_release(unit);
    unit->state = PX_UNIT_DONE;
    batcher->here--;
    if (unit->home == batcher->worker) {
        px_unit_list_add(&batcher->done, unit);
    } else {
        unit->message.run = run_home;
        px_worker_send(unit->home, &unit->message);
    }
    hand_over(batcher, granted);
}

void px_batcher_wind_up(px_batcher *batcher)
{
    if (batcher->winding_up)
        return;
    batcher->winding_up = true;
    px_unit *unit;
    do {
        while ((unit = px_unit_list_pop(&batcher->granted)) != NULL) {
            delist_waiting(batcher, unit);
            enqueue(batcher, unit);
        }
        if ((unit = px_unit_list_pop(&batcher->done)) != NULL)
            px_home_deliver(batcher, unit);
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
    px_batcher_finish(batcher, unit);
}

bool px_batcher_give_up(px_batcher *batcher, px_unit *unit)
{
    if (!unit->withdrawn && unit->deadline > now_of(batcher))
        return false;
    fail_cancelled(batcher, unit);
    return true;
}

/* What is on a link stays there; it is looked at again between attempts. */
static void take_out(px_batcher *batcher, px_unit *unit)
{
    px_unit *granted;
    if (unit->state == PX_UNIT_QUEUED) {
        px_queue_remove(unit->queue, unit);
        px_batcher_place(batcher, unit->queue);
        fail_cancelled(batcher, unit);
    } else if (unit->state == PX_UNIT_WAITING && px_keylocks_cancel(unit, &granted)) {
        delist_waiting(batcher, unit);
        hand_over(batcher, granted);
        fail_cancelled(batcher, unit);
    }
}

/* Goes to the unit's owner and back; the unit is pinned at home until then. */
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
        px_home_deliver(worker->batcher, unit);
    px_batcher_wind_up(worker->batcher);
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
    px_batcher_wind_up(worker->batcher);
}

void px_batcher_withdraw(px_worker *home, px_unit *unit, uint64_t ticket)
{
    px_unit *found = px_home_find(home->batcher, unit, ticket);
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
        px_batcher_note_deadline(batcher, unit);
}

/* Units in flight are not looked at: on_done does, before it sends them again. */
static void expire(px_batcher *batcher)
{
    if (batcher->next_deadline > now_of(batcher))
        return;
    batcher->next_deadline = UINT64_MAX;
    for (px_unit *unit = batcher->waiting_first, *next; unit != NULL; unit = next) {
        next = unit->next;
        look_at_deadline(batcher, unit);
    }
    for (size_t i = 0; i < batcher->queues.slot_count; i++)
        for (px_queue *queue = batcher->queues.slots[i]; queue != NULL; queue = queue->chain)
            for (px_unit *unit = queue->first, *next; unit != NULL; unit = next) {
                next = unit->next;
                look_at_deadline(batcher, unit);
            }
}

static void on_queue_free(px_queue *queue)
{
    queue->pool->references--;
}

static void sweep(px_batcher *batcher)
{
    uint64_t now = now_of(batcher);
    if (now < batcher->next_sweep)
        return;
    batcher->next_sweep = now + SWEEP_MS;
    if (now > QUEUE_IDLE_MS)
        px_queue_sweep(&batcher->queues, now - QUEUE_IDLE_MS, on_queue_free);
    for (px_pool **at = &batcher->pools; *at != NULL;) {
        px_pool *pool = *at;
        if (pool->references > 0 || pool->link_count > 0) {
            at = &pool->next;
            continue;
        }
        *at = pool->next;
        px_pool_free(pool);
    }
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
            px_limits_note(metrics, queue->key.table_name, queue->limit_rows, queue->limit_bytes);
    px_limits_end(metrics);
}

/* Behind a batch that takes long, another one may leave. */
static void look_at_flights(px_batcher *batcher, const px_pool *pool)
{
    for (const px_pool_link *link = pool->links; link != NULL; link = link->next)
        if (link->batch != NULL)
            px_batcher_place(batcher, link->batch->queue);
}

void px_batcher_tick(px_batcher *batcher)
{
    expire(batcher);
    for (px_pool *pool = batcher->pools; pool != NULL; pool = pool->next) {
        px_pool_tick(pool);
        look_at_flights(batcher, pool);
        px_flight_dispatch(pool);
    }
    sweep(batcher);
    measure(batcher);
    px_batcher_wind_up(batcher);
}

bool px_batcher_idle(const px_batcher *batcher)
{
    return batcher->here == 0 && batcher->registered_count == 0;
}

/* ---- beginning and end ---- */

px_batcher *px_batcher_new(px_worker *worker)
{
    px_batcher *batcher = pgw_calloc(1, sizeof *batcher);
    batcher->worker = worker;
    batcher->next_deadline = UINT64_MAX;
    batcher->hold_timer = pgw_calloc(1, sizeof *batcher->hold_timer);
    uv_timer_init(&worker->loop, batcher->hold_timer);
    batcher->hold_timer->data = batcher;
    return batcher;
}

static void free_handle(uv_handle_t *handle)
{
    free(handle);
}

void px_batcher_free(px_batcher *batcher)
{
    for (px_pool *pool = batcher->pools, *next; pool != NULL; pool = next) {
        next = pool->next;
        px_pool_free(pool);
    }
    px_queue_table_free(&batcher->queues);
    uv_close((uv_handle_t *)batcher->hold_timer, free_handle);
    pgw_buf_free(&batcher->scratch);
    free(batcher->registered);
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
    return px_batcher_all_idle();
}

static void tenant_end(px_worker *worker)
{
    px_batcher_free(worker->batcher);
    worker->batcher = NULL;
}

static bool tenant_yield(px_worker *worker, px_plea *plea)
{
    bool given = false;
    px_pool *pool = plea->slot != PX_SLOT_OF_SESSION ? worker->batcher->pools : NULL;
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
