#include "proxy/batch/flight.h"

#include "proxy/backend/base/backend.h"
#include "proxy/backend/base/classify.h"
#include "proxy/backend/catalog/catalog.h"
#include "proxy/base/log.h"
#include "proxy/base/shared.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SCRATCH = 4 * 1024 * 1024 }; /* bytes that are kept for the next batch */

static px_flights *flights_of(const px_pool *pool)
{
    return pool->owner;
}

static px_metrics *metrics_of(const px_batch *batch)
{
    return flights_of(batch->link->pool)->worker->metrics;
}

static void finish(const px_flights *flights, px_write_group *write_group)
{
    flights->ops->finish(flights->owner, write_group);
}

static bool give_up(const px_flights *flights, px_write_group *write_group)
{
    return flights->ops->give_up(flights->owner, write_group);
}

/* ---- out ---- */

/* How long a write group took that had the link for itself. Where many shared it, any of them may
 * be what took long: one is to show alone whether it was. */
static void note_time(px_batch *batch, px_write_group *write_group)
{
    uint64_t now = px_worker_now(flights_of(batch->link->pool)->worker);
    bool slow = px_queue_is_slow(batch->queue, now - batch->since);
    if (batch->attempt.shared) {
        write_group->suspected =
            slow && write_group == batch->write_groups[now % batch->attempt.count];
        return;
    }
    write_group->slow = slow;
    batch->since = now;
}

/* Has the write group sent again after a pause, in which it has no link and keeps its keys; a
 * withdrawn one is given up. False: there is no time for another try, and the write group is to
 * fail with this one's error. */
static bool postpone(px_batch *batch, px_write_group *write_group)
{
    const px_flights *flights = flights_of(batch->link->pool);
    uint64_t until = write_group->tried + flights->worker->config->backend.retry_ms;
    uint64_t next = px_worker_now(flights->worker) + batch->attempt.pause_ms;
    if (write_group->withdrawn)
        return give_up(flights, write_group);
    if (next >= until || next >= write_group->deadline)
        return false;
    batch->postponed = true;
    px_count(metrics_of(batch), PX_WRITE_GROUPS_REPEATED, 1);
    flights->ops->later(flights->owner, write_group, batch->attempt.pause_ms);
    return true;
}

static void on_answered(px_attempt *attempt, px_write_group *write_group, px_verdict verdict)
{
    px_batch *batch = (px_batch *)((char *)attempt - offsetof(px_batch, attempt));
    note_time(batch, write_group);
    batch->returned += write_group->returned.len;
    const px_server *server = write_group->owner->server;
    if (server->discovery != NULL && verdict != PX_VERDICT_COMMITTED &&
        px_error_is_moved(pgw_slice_buf(&write_group->error)))
        server->places->doubt(server->discovery, write_group->tables->name);
    batch->failed = batch->failed || verdict != PX_VERDICT_COMMITTED;
    batch->doubted = batch->doubted && verdict == PX_VERDICT_COMMITTED;
    if (verdict == PX_VERDICT_LATER && postpone(batch, write_group))
        return;
    if (verdict == PX_VERDICT_LATER && attempt->shared)
        verdict =
            PX_VERDICT_REPEAT; /* no time is left: write groups sent alone show whose fault it is */
    if (verdict == PX_VERDICT_REPEAT) {
        px_batch_add_again(batch, write_group);
        px_count(metrics_of(batch), PX_WRITE_GROUPS_REPEATED, 1);
        return;
    }
    /* A withdrawn write group is not to wait for a lock. */
    if (verdict == PX_VERDICT_REROUTE && write_group->withdrawn) {
        pgw_error error;
        pgw_fail(&error, "57014", "canceling statement due to user request");
        px_write_group_fail(write_group, &error);
        write_group->failure = PX_FAILED_WITHDRAWN;
        finish(flights_of(batch->link->pool), write_group);
        return;
    }
    if (write_group->repeated && verdict != PX_VERDICT_COMMITTED && write_group->error.len > 0 &&
        px_classify(pgw_slice_buf(&write_group->error)) == PX_ERROR_STALE)
        batch->link->doomed = true; /* this link does not see what keyspread read of the catalog */
    write_group->outcome = verdict == PX_VERDICT_COMMITTED ? PX_WRITE_GROUP_COMMITTED
                           : verdict == PX_VERDICT_REROUTE ? PX_WRITE_GROUP_REROUTED
                                                           : PX_WRITE_GROUP_FAILED;
    if (verdict == PX_VERDICT_REROUTE)
        pgw_buf_clear(&write_group->notices); /* the own link will send these notices again */
    finish(flights_of(batch->link->pool), write_group);
}

static void begin_attempt(px_batch *batch)
{
    px_attempt *attempt = &batch->attempt;
    attempt->shared = batch->first && attempt->count > 1;
    attempt->joined = batch->queue->joined;
    attempt->answered = on_answered;
    attempt->at = 0;
    attempt->refused_size = attempt->doubted = false;
    attempt->notices = 0;
    attempt->fatal[0] = '\0';
}

static void note_tried(px_batch *batch)
{
    for (size_t i = 0; i < batch->attempt.count; i++)
        if (batch->write_groups[i]->tried == 0)
            batch->write_groups[i]->tried = batch->since;
}

static void write_attempt(px_flights *flights, px_batch *batch)
{
    begin_attempt(batch);
    batch->since = px_worker_now(flights->worker);
    note_tried(batch);
    batch->attempt.scratch = &flights->scratch;
    px_writer_begin(batch->link->writer, &batch->attempt);
    if (flights->scratch.cap > MAX_SCRATCH)
        pgw_buf_free(&flights->scratch);
    else
        pgw_buf_clear(&flights->scratch);
}

/* The partitions of the rows that go into the batch's table `t`; how many they are. */
static size_t list_partitions(const px_batch *batch, size_t t, uint32_t *numbers)
{
    size_t count = 0;
    for (size_t i = 0; i < batch->attempt.count; i++) {
        const px_write_group *write_group = batch->attempt.write_groups[i];
        for (size_t r = 0; r < write_group->row_count; r++)
            if (write_group->keys[r].table == t)
                numbers[count++] = write_group->keys[r].partition;
    }
    return count;
}

static void count_rows(px_metrics *metrics, const px_batch *batch)
{
    const px_write_group *first = batch->attempt.write_groups[0];
    px_observe(metrics, PX_BATCH_ROWS, batch->rows);
    if (!first->several_partitions) {
        px_count_request_to(
            metrics, px_write_group_table_counted(first->tables->name, first->tables->config),
            first->tables->partitions, first->partition, batch->rows);
        return;
    }
    uint32_t *numbers = pgw_alloc(batch->rows * sizeof *numbers);
    for (size_t t = 0; t < first->table_count; t++) {
        size_t rows = list_partitions(batch, t, numbers);
        const px_write_group_table *table = &first->tables[t];
        px_count_request(metrics, px_write_group_table_counted(table->name, table->config),
                         table->partitions, numbers, rows);
    }
    free(numbers);
}

static void start(px_flights *flights, px_queue *queue, px_pool_link *link)
{
    px_batch *batch = px_queue_form(queue, px_worker_now(flights->worker));
    queue->state = PX_QUEUE_FLYING;
    px_quota_fly(&flights->worker->server->quota);
    batch->link = link;
    link->batch = batch;
    count_rows(flights->worker->metrics, batch);
    px_observe(flights->worker->metrics, PX_LINK_WAIT_BATCH,
               px_worker_clock(flights->worker) - queue->ready_since);
    write_attempt(flights, batch);
}

static void reroute_waiting(px_pool *pool, bool all);

void px_flight_dispatch(px_pool *pool)
{
    px_queue *queue;
    if (pool->ready.count > 0 && px_pool_is_refused(pool))
        reroute_waiting(pool, true);
    while ((queue = px_ready_first(&pool->ready)) != NULL) {
        px_pool_link *link = px_pool_take(pool, queue->table->batch.lock_wait_ms);
        if (link == NULL)
            return;
        px_ready_remove(&pool->ready, queue);
        start(flights_of(pool), queue, link);
    }
}

/* ---- back ---- */

static px_progress on_reply(px_pool_link *link, char type, pgw_slice message)
{
    return px_writer_on_message(link->writer, type, message);
}

/* Queues write groups that are to be sent again, but not on this link. They keep keys and place. */
static void requeue(px_flights *flights, px_batch *batch)
{
    while (batch->again_count > 0) {
        px_write_group *write_group = batch->again[--batch->again_count];
        flights->ops->back(flights->owner, write_group);
        px_queue_push_front(batch->queue, write_group);
    }
}

static void land(px_flights *flights, px_batch *batch)
{
    px_queue *queue = batch->queue;
    px_quota_land(&flights->worker->server->quota, px_worker_now(flights->worker));
    px_queue_land(batch);
    flights->ops->moved(flights->owner, queue);
}

/* The batch was too large if no write group alone is refused with 54000, which any function may
 * raise. */
static bool learn_size(px_batch *batch)
{
    bool refused = batch->refused_size && !batch->attempt.refused_size;
    batch->refused_size = batch->first && batch->attempt.refused_size;
    return refused;
}

/* Rows that fail together and not alone are not to be merged: a trigger or a rule is there that was
 * not known. Until the schema is read again, they keep statements of their own. */
static void learn_form(px_flights *flights, px_batch *batch)
{
    if (batch->first) {
        batch->doubted = batch->attempt.doubted;
        return;
    }
    if (!batch->doubted)
        return;
    const px_write_group *key = &batch->queue->key;
    batch->queue->joined = true;
    batch->doubted = false;
    px_count(flights->worker->metrics, PX_BATCH_CHECKS_FAILED, 1);
    px_log(CFG_LOG_WARN, "batch_not_merged", "table=%s database=%s", key->tables->name,
           key->identity->database);
    px_catalog_stale(flights->worker, key->identity->database, 1);
}

static void learn_time(px_flights *flights, px_batch *batch)
{
    uint64_t now = px_worker_now(flights->worker), ms = now - batch->started;
    px_queue_learn(batch->queue, ms);
    px_queue_note_time(batch->queue, now, ms);
}

static void learn(px_flights *flights, px_batch *batch)
{
    px_count(flights->worker->metrics, PX_NOTICES_DROPPED, batch->attempt.notices);
    px_count(flights->worker->metrics, PX_BATCHES_FAILED, batch->first && batch->failed);
    px_count(flights->worker->metrics, PX_BATCH_RETRIES, batch->postponed);
    learn_form(flights, batch);
    bool shared = batch->first && batch->attempt.shared;
    if (learn_size(batch) || (shared && batch->returned > batch->queue->table->batch.bytes))
        px_queue_refused(batch->queue);
    else if (batch->first && batch->again_count == 0 && !batch->postponed)
        learn_time(flights, batch);
}

static void drop_unwanted(px_flights *flights, px_batch *batch)
{
    size_t kept = 0;
    for (size_t i = 0; i < batch->again_count; i++)
        if (!give_up(flights, batch->again[i]))
            batch->again[kept++] = batch->again[i];
    batch->again_count = kept;
}

static void on_done(px_pool_link *link)
{
    px_batch *batch = link->batch;
    px_flights *flights = flights_of(link->pool);
    learn(flights, batch);
    drop_unwanted(flights, batch);
    if (batch->again_count > 0 && !link->lost && !link->changed) {
        px_count(flights->worker->metrics, PX_BATCH_RETRIES, 1);
        px_batch_next_attempt(batch);
        write_attempt(flights, batch);
        return;
    }
    requeue(flights, batch);
    px_pool_put(link);
    land(flights, batch);
    px_flight_dispatch(link->pool);
}

static void fail_unknown(px_flights *flights, px_write_group *write_group, const char *fatal)
{
    pgw_error error;
    px_unknown_outcome(&error);
    if (fatal[0] != '\0')
        pgw_error_detail(&error, "The server ended the connection with SQLSTATE %s.", fatal);
    px_write_group_fail(write_group, &error);
    pgw_buf_clear(&write_group->notices);
    write_group->completed = 0; /* a tag that came is no promise, and is not told to the client */
    write_group->failure = PX_FAILED_UNKNOWN;
    finish(flights, write_group);
}

static void on_lost(px_pool_link *link, const char *reason)
{
    px_batch *batch = link->batch;
    px_flights *flights = flights_of(link->pool);
    px_attempt *attempt = &batch->attempt;
    px_log(CFG_LOG_ERROR, "batch_link_lost", "table=%s units=%zu sqlstate=%s reason=%s",
           batch->queue->key.tables->name, attempt->count - attempt->at, attempt->fatal, reason);
    px_count(flights->worker->metrics, PX_BATCHES_FAILED, batch->first);
    for (size_t i = attempt->at; i < attempt->count; i++)
        fail_unknown(flights, attempt->write_groups[i], attempt->fatal);
    link->batch = NULL;
    requeue(flights, batch);
    land(flights, batch);
}

/* Takes the write groups that wait in `queue` out of it: to their sessions' own links, or, with
 * `error`, to be told it. `all`: also those whose sessions have no link yet. */
static void turn_away(px_flights *flights, px_queue *queue, const pgw_error *error, bool all)
{
    for (px_write_group *write_group = queue->waiting.first, *next; write_group != NULL;
         write_group = next) {
        next = write_group->next;
        if (!all && !write_group->own_link)
            continue;
        px_queue_remove(queue, write_group);
        if (give_up(flights, write_group))
            continue;
        if (error != NULL)
            px_write_group_fail(write_group, error);
        else
            write_group->outcome = PX_WRITE_GROUP_REROUTED;
        write_group->failure = PX_FAILED_UNSENT;
        finish(flights, write_group);
    }
    flights->ops->moved(flights->owner, queue);
}

/* No link can be opened for the queues that wait: their write groups are told why. If it is their
 * user that is refused, or one more link of it, write groups are rerouted: sessions may have older
 * links. */
static void on_unreachable(px_pool *pool, const pgw_error *error)
{
    px_flights *flights = flights_of(pool);
    bool reroute = px_error_is_personal(error);
    px_queue *queue;
    while ((queue = px_ready_first(&pool->ready)) != NULL)
        turn_away(flights, queue, reroute ? NULL : error, true);
}

/* Reroutes write groups that wait for a link; with `all`, also those whose sessions have no link
 * yet. */
static void reroute_waiting(px_pool *pool, bool all)
{
    px_flights *flights = flights_of(pool);
    size_t count = pool->ready.count;
    /* A copy is walked, for the heap changes. */
    px_queue **queues = pgw_alloc((count + 1) * sizeof(px_queue *));
    if (count > 0)
        memcpy(queues, pool->ready.heap, count * sizeof(px_queue *));
    for (size_t i = 0; i < count; i++)
        turn_away(flights, queues[i], NULL, all);
    free(queues);
}

/* Other pools have all links: write groups whose sessions have their own go there. */
static void on_starved(px_pool *pool)
{
    reroute_waiting(pool, false);
}

static void on_turn(px_pool *pool)
{
    const px_flights *flights = flights_of(pool);
    flights->ops->wind_up(flights->owner);
}

const px_pool_ops px_flight_pool_ops = {
    .on_free = px_flight_dispatch,
    .on_unreachable = on_unreachable,
    .on_starved = on_starved,
    .on_reply = on_reply,
    .on_done = on_done,
    .on_lost = on_lost,
    .on_turn = on_turn,
};
