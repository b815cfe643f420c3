/*
 * pool: a worker's links for batches of one identity. They are opened when queues wait for them,
 * within what the process may have (quota); the one used last is used next, and what was idle for a
 * minute is closed, or sooner if rows of another identity or worker have none.
 */
#ifndef PX_POOL_H
#define PX_POOL_H

#include "proxy/backend/base/slots.h"
#include "proxy/batch/pool_links.h"

/* How the batcher hears of links. Each but on_turn may use and drop links of the pool. */
struct px_pool_ops {
    /* A link, or the place for one, may be free for a queue. */
    void (*on_free)(px_pool *pool);
    /* No link is open and none could be opened. */
    void (*on_unreachable)(px_pool *pool, const pgw_error *error);
    /* Others have all links, and have had them for a while. */
    void (*on_starved)(px_pool *pool);
    px_progress (*on_reply)(px_pool_link *link, char type, pgw_slice message);
    /* on_reply returned DONE: gives the link back or uses it again. */
    void (*on_done)(px_pool_link *link);
    /* A link with a batch on it was lost; it is dropped after the call. */
    void (*on_lost)(px_pool_link *link, const char *reason);
    /* The pool has told all that was to be told. */
    void (*on_turn)(px_pool *pool);
};

px_pool *px_pool_new(px_worker *worker, px_identity *identity, const px_pool_ops *ops, void *owner);
/* Frees the pool and closes its links: no batch is on any. */
void px_pool_free(px_pool *pool);
/* The pool of that identity; NULL: there is none. */
px_pool *px_pools_find(const px_pools *pools, const px_identity *identity);
/* Frees the pools without queues and links. */
void px_pools_sweep(px_pools *pools);

/* An idle link, now busy; or NULL, and then another one is opened if the pool may have it. */
PGW_MUST_CHECK px_pool_link *px_pool_take(px_pool *pool, uint32_t lock_wait_ms);
void px_pool_put(px_pool_link *link); /* makes the link idle again */
/* The pool has no link, and cannot have one for a while. */
bool px_pool_is_refused(const px_pool *pool);
/* Opens a link if the pool has none. */
void px_pool_expect(px_pool *pool, uint32_t lock_wait_ms);
/* Closes idle links, and for a short time also those that become idle. */
void px_pool_leave(px_pool *pool);
/* Closes the link that is idle for longest; if none is, and `promise`, the next that becomes
 * idle. */
px_yield px_pool_yield(px_pool *pool, bool promise);
/* Closes links that were idle for a minute, or that others want. */
void px_pool_tick(px_pool *pool);

#endif
