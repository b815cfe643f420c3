#include "proxy/pool.h"

#include "protocol/frame.h"
#include "protocol/options.h"
#include "proxy/log.h"
#include "proxy/server.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    IDLE_MS = 60 * 1000,
    REOPEN_MS = 1000,              /* after a failure, while other links do the work */
    MAX_MESSAGE = 16 * 1024 * 1024 /* no reply to an INSERT is as long */
};

px_pool *px_pool_new(px_worker *worker, px_identity *identity, const px_pool_ops *ops, void *owner)
{
    px_pool *pool = pgw_calloc(1, sizeof *pool);
    pool->worker = worker;
    pool->identity = px_identity_take(identity);
    pool->ops = ops;
    pool->owner = owner;
    pool->share = px_share_take(identity->key);
    return pool;
}

/* ---- the list of links ---- */

static void enlist(px_pool_link *l)
{
    px_pool *pool = l->pool;
    l->previous = NULL;
    l->next = pool->links;
    if (l->next != NULL)
        l->next->previous = l;
    pool->links = l;
}

static void delist(px_pool_link *l)
{
    if (l->previous != NULL)
        l->previous->next = l->next;
    else
        l->pool->links = l->next;
    if (l->next != NULL)
        l->next->previous = l->previous;
}

static void forget(px_pool_link *l)
{
    delist(l);
    if (--l->pool->link_count > 0)
        px_share_release(l->pool->share);
    l->pool->opening -= l->state == PX_POOL_OPENING;
    px_prepared_free(&l->prepared);
    free(l);
}

static void drop(px_pool_link *l)
{
    px_link_close(l->link);
    forget(l);
}

static void set_wants(px_pool *pool, bool wants)
{
    if (wants && !pool->wants)
        atomic_fetch_add(&pool->share->wanted, 1);
    if (!wants && pool->wants)
        atomic_fetch_sub(&pool->share->wanted, 1);
    pool->wants = wants;
}

void px_pool_free(px_pool *pool)
{
    while (pool->links != NULL)
        drop(pool->links);
    set_wants(pool, false);
    px_share_drop(pool->share);
    px_identity_drop(pool->identity);
    free(pool->ready.heap);
    free(pool);
}

/* ---- what links tell ---- */

static void on_ready(px_link *link)
{
    px_pool_link *l = px_link_owner(link);
    px_pool *pool = l->pool;
    pool->opening--;
    px_pool_put(l);
    pool->ops->on_free(pool);
    pool->ops->on_turn(pool);
}

static void on_failed(px_link *link, const pgw_error *error)
{
    px_pool_link *l = px_link_owner(link);
    px_pool *pool = l->pool;
    forget(l);
    px_log(CFG_LOG_WARN, "batch_link_failed", "sqlstate=%s links=%zu", error->sqlstate,
           pool->link_count);
    pool->no_opening_until = px_worker_now(pool->worker) + REOPEN_MS;
    if (pool->link_count == 0) {
        pool->no_opening_until = 0;
        pool->ops->on_unreachable(pool, error);
    }
    pool->ops->on_turn(pool);
}

/* What a link says of its own accord while nothing was asked. */
static px_progress idle_reply(char type)
{
    bool harmless = type == 'N' || type == 'S' || type == 'A' || type == 'E';
    return harmless ? PX_PROGRESS_MORE : PX_PROGRESS_BROKEN;
}

static void lose(px_pool_link *l, const char *reason)
{
    px_pool *pool = l->pool;
    l->lost = true;
    if (l->batch != NULL)
        pool->ops->on_lost(l, reason);
    drop(l);
    pool->ops->on_free(pool); /* its place is */
}

/* False: the link is of no use any more. */
static bool take_messages(px_pool_link *l)
{
    px_stream *stream = px_link_stream(l->link);
    for (;;) {
        pgw_slice input = px_stream_input(stream);
        pgw_frame frame;
        pgw_frame_result result = pgw_frame_next(input, &frame);
        if (result == PGW_FRAME_MORE)
            return true;
        if (result == PGW_FRAME_BAD || frame.size > MAX_MESSAGE)
            return false;
        if (input.len < frame.size) {
            px_stream_expect(stream, frame.size);
            return true;
        }
        pgw_slice message = {input.ptr, frame.size};
        px_progress progress = l->batch != NULL ? l->pool->ops->on_reply(l, frame.type, message)
                                                : idle_reply(frame.type);
        px_stream_consume(stream, frame.size);
        if (progress == PX_PROGRESS_BROKEN)
            return false;
        if (progress == PX_PROGRESS_DONE)
            l->pool->ops->on_done(l);
    }
}

static bool take_input(px_pool_link *l)
{
    l->reading = true;
    bool usable = take_messages(l);
    l->reading = false;
    return usable;
}

static void on_input(px_link *link)
{
    px_pool_link *l = px_link_owner(link);
    px_pool *pool = l->pool;
    if (!take_input(l)) {
        px_log(CFG_LOG_ERROR, "batch_link_broken", "database=%s", pool->identity->database);
        lose(l, "the backend did not keep to the protocol");
    } else if (pool->ready.count > 0) {
        pool->ops->on_free(pool);
    }
    pool->ops->on_turn(pool);
}

static void on_drained(px_link *link)
{
    (void)link;
}

/* What came before the end counts: it may be the outcome. */
static void on_lost(px_link *link, const char *reason)
{
    px_pool_link *l = px_link_owner(link);
    px_pool *pool = l->pool;
    l->lost = true;
    take_input(l);
    lose(l, reason);
    pool->ops->on_turn(pool);
}

static const px_link_ops link_ops = {on_ready, on_failed, on_input, on_drained, on_lost};

/* ---- use ---- */

/* What each worker may have of the process's links of an identity when all want them. */
static size_t fair_part(const px_worker *worker)
{
    size_t links = worker->config->backend.batch_links / worker->server->worker_count;
    return links > 0 ? links : 1;
}

/* Whether one more link may be opened; it is counted then. */
static bool claim(px_pool *pool)
{
    size_t all = pool->worker->config->backend.batch_links;
    size_t workers = pool->worker->server->worker_count;
    if (pool->link_count == 0)
        return true;
    if (pool->link_count >= fair_part(pool->worker) && atomic_load(&pool->share->wanted) > 0)
        return false;
    return px_share_claim(pool->share, all > workers ? all - workers : 0);
}

static void open_link(px_pool *pool, uint32_t lock_wait_ms)
{
    px_pool_link *l = pgw_calloc(1, sizeof *l);
    l->pool = pool;
    l->state = PX_POOL_OPENING;
    l->lock_wait_ms = lock_wait_ms;
    enlist(l);
    pool->link_count++;
    pool->opening++;
    pgw_buf options = {0};
    pgw_buf_addf(&options, "-c lock_timeout=%" PRIu32 " -c standard_conforming_strings=on",
                 lock_wait_ms);
    if (pool->identity->zone != NULL) /* whatever has become of the role's or the server's own */
        pgw_options_set(PGW_LITERAL("TimeZone"), pgw_slice_str(pool->identity->zone), &options);
    pgw_buf_add_byte(&options, '\0');
    l->link = px_link_open(pool->worker, pool->identity, options.ptr, &link_ops, l);
    pgw_buf_free(&options);
}

/* Tables may wait for locks differently long, and that is a setting of the link. */
static px_pool_link *find_idle(px_pool *pool, uint32_t lock_wait_ms, px_pool_link **other)
{
    *other = NULL;
    for (px_pool_link *l = pool->links; l != NULL; l = l->next) {
        if (l->state != PX_POOL_IDLE || l->lost || l->spare)
            continue;
        if (l->lock_wait_ms == lock_wait_ms)
            return l;
        if (!l->reading)
            *other = l;
    }
    return NULL;
}

px_pool_link *px_pool_take(px_pool *pool, uint32_t lock_wait_ms)
{
    px_pool_link *other;
    px_pool_link *l = find_idle(pool, lock_wait_ms, &other);
    if (l != NULL) {
        l->state = PX_POOL_BUSY;
        return l;
    }
    bool may_open =
        pool->opening < pool->ready.count && px_worker_now(pool->worker) >= pool->no_opening_until;
    if (!may_open)
        return NULL;
    bool claimed = claim(pool);
    if (!claimed && other != NULL) {
        drop(other);
        claimed = claim(pool);
    }
    set_wants(pool, !claimed && pool->link_count < fair_part(pool->worker));
    if (claimed)
        open_link(pool, lock_wait_ms);
    return NULL;
}

void px_pool_expect(px_pool *pool, uint32_t lock_wait_ms)
{
    if (pool->link_count == 0)
        open_link(pool, lock_wait_ms);
}

void px_pool_put(px_pool_link *l)
{
    l->batch = NULL;
    l->state = PX_POOL_IDLE;
    l->idle_since = px_worker_now(l->pool->worker);
    l->spare = l->pool->giving;
    l->pool->giving = false;
    delist(l);
    enlist(l);
}

/* One link a tick, so that the pools come to their parts without much ado. */
static void give_way(px_pool *pool)
{
    bool wanted =
        pool->link_count > fair_part(pool->worker) && atomic_load(&pool->share->wanted) > 0;
    for (px_pool_link *l = pool->links, *next; l != NULL; l = next) {
        next = l->next;
        if (l->state == PX_POOL_IDLE && wanted) {
            drop(l);
            wanted = false;
        } else {
            l->spare = false;
        }
    }
    pool->giving = wanted;
}

void px_pool_tick(px_pool *pool)
{
    uint64_t now = px_worker_now(pool->worker);
    for (px_pool_link *l = pool->links, *next; l != NULL; l = next) {
        next = l->next;
        if (l->state == PX_POOL_IDLE && now - l->idle_since >= IDLE_MS)
            drop(l);
    }
    if (pool->ready.count == 0)
        set_wants(pool, false);
    give_way(pool);
}
