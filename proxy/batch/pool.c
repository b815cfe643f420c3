#include "proxy/batch/pool.h"

#include "protocol/options.h"
#include "proxy/backend/base/backend.h"
#include "proxy/backend/base/classify.h"
#include "proxy/backend/base/databases.h"
#include "proxy/base/log.h"
#include "proxy/base/shared.h"
#include "proxy/batch/spare.h"
#include "proxy/loop/worker.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    IDLE_MS = 60 * 1000,
    TURN_MS = 50, /* a link serves its pool for so long at least while others starve */
    STARVED_MS = 100,
    AWAY_MS = 2000, /* a link may be idle for so long in a database without sessions */
    LEAVING_MS = 2000,
    CHANGED_MS = 10 * 1000, /* pause between two tries whether settings are as they were */
    YIELD_MS = 200,         /* no link is opened for so long after one was given to another pool */
    REOPEN_MS = 1000,       /* no link is opened for so long after a failure, while others work */
    MAX_MESSAGE = 16 * 1024 * 1024 /* bytes: no reply to an INSERT is as long */
};

px_pool *px_pool_new(px_worker *worker, px_identity *identity, const px_pool_ops *ops, void *owner)
{
    px_pool *pool = pgw_calloc(1, sizeof *pool);
    pool->worker = worker;
    pool->identity = px_identity_take(identity);
    pool->ops = ops;
    pool->owner = owner;
    return pool;
}

static px_quota *quota_of(const px_pool *pool)
{
    return &pool->worker->server->quota;
}

/* Tells the process what this pool has and wants. `refused`: it asked for a link, and got none. */
static void account(px_pool *pool, bool refused)
{
    px_quota *quota = quota_of(pool);
    size_t part = px_quota_part(quota, px_pool_links_most(pool));
    bool waits = pool->ready.count > 0;
    if (!pool->starves)
        pool->starving_since = px_worker_now(pool->worker);
    px_quota_count(&quota->pools, &pool->active, waits || pool->link_count > 0);
    px_quota_count(&quota->wanting, &pool->wants, waits && refused && pool->link_count < part);
    px_quota_count(&quota->starving, &pool->starves, waits && refused && pool->link_count == 0);
}

void px_pool_free(px_pool *pool)
{
    while (pool->links != NULL)
        px_pool_links_drop(pool->links);
    px_quota *quota = quota_of(pool);
    px_quota_count(&quota->pools, &pool->active, false);
    px_quota_count(&quota->wanting, &pool->wants, false);
    px_quota_count(&quota->starving, &pool->starves, false);
    px_identity_drop(pool->identity);
    free(pool->ready.heap);
    free(pool);
}

px_pool *px_pools_find(const px_pools *pools, const px_identity *identity)
{
    px_pool *pool = pools->first;
    while (pool != NULL && !px_identity_shares(pool->identity, identity))
        pool = pool->next;
    return pool;
}

void px_pools_sweep(px_pools *pools)
{
    for (px_pool **at = &pools->first; *at != NULL;) {
        px_pool *pool = *at;
        if (pool->references > 0 || pool->link_count > 0) {
            at = &pool->next;
            continue;
        }
        *at = pool->next;
        px_pool_free(pool);
    }
}

/* ---- what links tell ---- */

/* Settings of 0 are not known, as with a server that does not say them. */
static bool inherits_the_same(const px_pool_link *l)
{
    uint64_t settings = px_link_settings(l->link), wanted = l->pool->identity->settings;
    return settings == wanted || settings == 0 || wanted == 0;
}

static bool is_told(const px_pool_link *l, const char *name, const char *wanted)
{
    const char *value = px_link_parameter(l->link, name);
    return value == NULL || wanted == NULL || strcmp(value, wanted) == 0;
}

static bool reads_the_same(const px_pool_link *l)
{
    const px_identity *identity = l->pool->identity;
    return is_told(l, "DateStyle", identity->dates) &&
           is_told(l, "IntervalStyle", identity->intervals);
}

/* The settings of the role, the database or the server were changed since the sessions of this
 * identity began: their own links know whether these are theirs, and links of before may not. */
static void refuse(px_pool_link *l)
{
    px_pool *pool = l->pool;
    pool->refused_until = pool->no_opening_until = px_worker_now(pool->worker) + CHANGED_MS;
    px_pool_links_drop(l);
    pool->ops->on_free(pool);
    pool->ops->on_turn(pool);
}

/* Older links that reported other settings are closed: the server is another, or its settings. */
static void drop_unlike(px_pool_link *fresh)
{
    for (px_pool_link *l = fresh->pool->links; l != NULL; l = l->next)
        if (l != fresh && l->state != PX_POOL_OPENING && !px_link_is_like(l->link, fresh->link))
            l->doomed = l->spare = true;
}

/* Whether other pools, which have none, need the link more: this pool has another, or nothing to
 * do, or has had its turn. */
static bool gives_way(const px_pool_link *l)
{
    const px_pool *pool = l->pool;
    return atomic_load(&quota_of(pool)->starving) > 0 &&
           (pool->link_count > 1 || pool->ready.count == 0 ||
            px_worker_now(pool->worker) - l->ready_since >= TURN_MS);
}

/* Whether the link is not to be used again: it is too old, or of no use. */
static bool is_over(const px_pool_link *l)
{
    uint64_t age = px_worker_now(l->pool->worker) - l->ready_since;
    uint64_t most = (uint64_t)l->pool->worker->config->backend.link_age_s * 1000;
    return l->doomed || l->changed || age >= most;
}

static void become_idle(px_pool_link *l)
{
    l->batch = NULL;
    l->state = PX_POOL_IDLE;
    l->idle_since = px_worker_now(l->pool->worker);
    l->spare = l->pool->giving || gives_way(l) || is_over(l);
    l->pool->giving = false;
    px_pool_links_first(l);
}

/* Marks all links to be closed while their database is being left; busy ones close when done. */
static void leave(px_pool *pool)
{
    bool left = px_worker_now(pool->worker) < pool->leaving_until;
    for (px_pool_link *l = pool->links; l != NULL && left; l = l->next)
        l->spare = true;
}

static void on_link_ready(px_link *link)
{
    px_pool_link *l = px_link_owner(link);
    px_pool *pool = l->pool;
    if (!inherits_the_same(l) || !reads_the_same(l)) {
        refuse(l);
        return;
    }
    pool->opening--;
    l->writer = pool->worker->server->backend->writer->make(link);
    drop_unlike(l);
    l->ready_since = px_worker_now(pool->worker);
    become_idle(l);
    pool->ops->on_free(pool); /* queues that waited for the link use it before it may be closed */
    leave(pool);
    px_spare_shed(pool);
    pool->ops->on_turn(pool);
}

static void on_failed(px_link *link, const pgw_error *error)
{
    px_pool_link *l = px_link_owner(link);
    px_pool *pool = l->pool;
    px_pool_links_forget(l);
    px_log(CFG_LOG_WARN, "batch_link_failed", "sqlstate=%s links=%zu", error->sqlstate,
           pool->link_count);
    pool->no_opening_until = px_worker_now(pool->worker) + REOPEN_MS;
    if (pool->link_count == 0) {
        pool->refused_until = px_error_is_full(error) ? px_worker_now(pool->worker) + REOPEN_MS : 0;
        pool->no_opening_until = 0;
        pool->ops->on_unreachable(pool, error);
    }
    pool->ops->on_turn(pool);
}

/* A setting that the link reports otherwise than before was changed behind keyspread's back, and
 * would decide how rows of others are read. What is under way is not stopped. */
static void hear_setting(px_pool_link *l, pgw_slice body)
{
    size_t name = strnlen(body.ptr, body.len), value = name + 1;
    if (value > body.len)
        return;
    const char *was = px_link_parameter(l->link, body.ptr);
    pgw_slice now = {body.ptr + value, strnlen(body.ptr + value, body.len - value)};
    l->changed = l->changed || was == NULL || !pgw_slice_eq_str(now, was);
    l->spare = l->spare || l->changed;
}

/* Takes what an idle link says of its own accord. */
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
    px_pool_links_drop(l);
    pool->ops->on_free(pool); /* the link's place in the quota is free */
}

/* Takes messages that have come. False: the link is of no use any more. */
static bool take_messages(px_pool_link *l)
{
    for (;;) {
        pgw_frame frame;
        pgw_slice message;
        pgw_frame_result result = px_link_message(l->link, MAX_MESSAGE, &frame, &message);
        if (result != PGW_FRAME_OK)
            return result == PGW_FRAME_MORE;
        if (frame.type == 'S')
            hear_setting(l, (pgw_slice){message.ptr + PGW_HEADER, message.len - PGW_HEADER});
        px_progress progress = l->batch != NULL ? l->pool->ops->on_reply(l, frame.type, message)
                                                : idle_reply(frame.type);
        px_link_consume(l->link, frame.size);
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

static void on_message(px_link *link)
{
    px_pool_link *l = px_link_owner(link);
    px_pool *pool = l->pool;
    if (!take_input(l)) {
        px_log(CFG_LOG_ERROR, "batch_link_broken", "database=%s", pool->identity->database);
        lose(l, "the backend did not keep to the protocol");
    } else {
        if (l->changed && l->batch == NULL)
            px_pool_links_drop(l);
        if (pool->ready.count > 0)
            pool->ops->on_free(pool);
    }
    px_spare_shed(pool);
    pool->ops->on_turn(pool);
}

static void on_drained(px_link *link)
{
    (void)link;
}

/* Messages that came before the link's end count: they may be the outcome. */
static void on_lost(px_link *link, const char *reason)
{
    px_pool_link *l = px_link_owner(link);
    px_pool *pool = l->pool;
    l->lost = true;
    take_input(l);
    lose(l, reason);
    pool->ops->on_turn(pool);
}

/* Rows of sessions that have own links go there. True: others still wait for a link. */
static bool on_refused(px_link *link)
{
    px_pool_link *l = px_link_owner(link);
    px_pool *pool = l->pool;
    if (pool->link_count > 1)
        return false;
    pool->ops->on_starved(pool);
    pool->ops->on_turn(pool);
    return pool->ready.count > 0;
}

static const px_link_ops link_ops = {on_link_ready, on_failed, on_message,
                                     on_drained,    on_lost,   on_refused};

/* ---- use ---- */

/* Claims a place for a link. Sessions may have all places but one. */
static bool reserve(px_pool *pool)
{
    px_server *server = pool->worker->server;
    bool full = atomic_load(&server->seats.links) >= pool->worker->config->backend.max_links;
    if (full && atomic_load(&server->quota.links) > 0)
        return false;
    return px_quota_claim(quota_of(pool), px_pool_links_most(pool), pool->link_count);
}

static void open_link(px_pool *pool, uint32_t lock_wait_ms)
{
    px_pool_link *l = pgw_calloc(1, sizeof *l);
    l->pool = pool;
    l->state = PX_POOL_OPENING;
    l->lock_wait_ms = lock_wait_ms;
    px_pool_links_add(l);
    pool->link_count++;
    pool->opening++;
    pgw_buf options = {0};
    pgw_buf_addf(&options,
                 "-c lock_timeout=%" PRIu32
                 " -c statement_timeout=0 -c standard_conforming_strings=on",
                 lock_wait_ms);
    /* The encoding of the role or the server does not count: sessions with others are not
     * batched. */
    pgw_slice encoding = pool->identity->ascii ? PGW_LITERAL("SQL_ASCII") : PGW_LITERAL("UTF8");
    pgw_options_set(PGW_LITERAL("client_encoding"), encoding, &options);
    if (pool->identity->zone != NULL)
        pgw_options_set(PGW_LITERAL("TimeZone"), pgw_slice_str(pool->identity->zone), &options);
    pgw_buf_add_byte(&options, '\0');
    l->link = px_link_open(pool->worker, PX_LINK_BATCH, pool->identity, options.ptr, &link_ops, l);
    pgw_buf_free(&options);
}

/* Finds an idle link with this lock_timeout, a setting that tables may have different values of;
 * `other` is one that has another value. */
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
    bool claimed = reserve(pool);
    if (!claimed && other != NULL) {
        px_pool_links_drop(other);
        claimed = reserve(pool);
    }
    if (!claimed && pool->link_count == 0)
        claimed = px_spare_make_room(pool);
    if (claimed)
        open_link(pool, lock_wait_ms);
    account(pool, !claimed);
    return NULL;
}

void px_pool_expect(px_pool *pool, uint32_t lock_wait_ms)
{
    if (pool->link_count == 0 && reserve(pool))
        open_link(pool, lock_wait_ms);
}

bool px_pool_is_refused(const px_pool *pool)
{
    return pool->link_count == 0 && px_worker_now(pool->worker) < pool->refused_until;
}

void px_pool_put(px_pool_link *l)
{
    become_idle(l);
    leave(l->pool);
}

void px_pool_leave(px_pool *pool)
{
    pool->leaving_until = px_worker_now(pool->worker) + LEAVING_MS;
    leave(pool);
    px_spare_shed(pool);
}

px_yield px_pool_yield(px_pool *pool, bool promise)
{
    px_pool_link *idle = NULL;
    bool later = false;
    for (px_pool_link *l = pool->links; l != NULL; l = l->next) {
        if (l->state == PX_POOL_IDLE && !l->lost && !l->reading)
            idle = l; /* the last one in the list has been idle for longest */
        later = later || l->state == PX_POOL_BUSY || px_link_is_opening(l->link);
    }
    if (idle != NULL)
        px_pool_links_drop(idle);
    if (idle != NULL || (later && promise))
        pool->no_opening_until = px_worker_now(pool->worker) + YIELD_MS;
    pool->giving = pool->giving || (idle == NULL && later && promise);
    return idle != NULL ? PX_YIELD_NOW : later ? PX_YIELD_LATER : PX_YIELD_NEVER;
}

/* How long a link may be idle. */
static uint64_t patience(const px_pool *pool)
{
    px_databases *databases = pool->worker->server->databases;
    return px_databases_used(databases, pool->identity->database) ? IDLE_MS : AWAY_MS;
}

/* Gives one idle link a tick to pools that want their part; the next that becomes idle if none
 * is. */
static void give_part(px_pool *pool)
{
    px_quota *quota = quota_of(pool);
    bool wanted = pool->link_count > px_quota_part(quota, px_pool_links_most(pool)) &&
                  atomic_load(&quota->wanting) > 0;
    for (px_pool_link *l = pool->links, *next; l != NULL; l = next) {
        next = l->next;
        if (l->state == PX_POOL_IDLE && wanted) {
            px_pool_links_drop(l);
            wanted = false;
        } else {
            l->spare = l->doomed || l->changed;
        }
    }
    pool->giving = wanted;
}

void px_pool_tick(px_pool *pool)
{
    uint64_t now = px_worker_now(pool->worker), most = patience(pool);
    for (px_pool_link *l = pool->links, *next; l != NULL; l = next) {
        next = l->next;
        if (l->state == PX_POOL_IDLE && (now - l->idle_since >= most || is_over(l)))
            px_pool_links_drop(l);
    }
    if (pool->starves && now - pool->starving_since >= STARVED_MS)
        pool->ops->on_starved(pool);
    account(pool, pool->wants || pool->starves);
    give_part(pool);
}
