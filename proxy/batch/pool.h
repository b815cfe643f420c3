/*
 * pool: a worker's links for batches of one identity. They are opened when queues wait for them,
 * within what the process may have (quota); the one used last is used next, and what was idle for a
 * minute is closed, or sooner if rows of another identity or worker have none.
 */
#ifndef PX_POOL_H
#define PX_POOL_H

#include "proxy/backend/link.h"
#include "proxy/backend/slots.h"
#include "proxy/batch/queue.h"

typedef struct px_pool px_pool;
typedef struct px_pool_link px_pool_link;

/* How the batcher hears of links. Each but on_turn may use and drop links of the pool. */
typedef struct px_pool_ops {
    void (*on_free)(px_pool *pool); /* a link is there for the next queue */
    /* No link is open and none could be opened. */
    void (*on_unreachable)(px_pool *pool, const pgw_error *error);
    void (*on_starved)(px_pool *pool); /* others have all links, for a while already */
    px_progress (*on_reply)(px_pool_link *link, char type, pgw_slice message);
    void (*on_done)(
        px_pool_link *link); /* on_reply said so; gives the link back or uses it again */
    void (*on_lost)(px_pool_link *link,
                    const char *reason); /* with a batch on it; dropped after it */
    void (*on_turn)(px_pool *pool);      /* all that was to be told was told */
} px_pool_ops;

typedef enum px_pool_link_state { PX_POOL_OPENING, PX_POOL_IDLE, PX_POOL_BUSY } px_pool_link_state;

struct px_pool_link {
    px_pool *pool;
    px_link *link;
    px_pool_link_state state;
    bool lost;    /* its last input is being read: it is not used again */
    bool reading; /* its input is being read: it is not closed to make room */
    bool doomed;  /* it is closed as soon as it is idle */
    bool spare;   /* others want it more: closed as soon as it may be */
    uint32_t lock_wait_ms;
    px_batch *batch;                  /* BUSY */
    px_writer *writer;                /* since it is ready */
    uint64_t idle_since, ready_since; /* the latter since it was opened */
    px_pool_link *next, *previous;
};

struct px_pool {
    px_pool *next; /* of the worker */
    px_worker *worker;
    void *owner;
    px_identity *identity;
    const px_pool_ops *ops;
    px_pool_link *links; /* the one used last is the first */
    size_t link_count, opening;
    bool active, wants, starves; /* counted in the quota, as pools, wanting, starving */
    bool giving;                 /* the next link that is idle is spare */
    uint64_t starving_since;
    uint64_t leaving_until; /* its database is to have no idle link of ours */
    uint64_t no_opening_until;
    uint64_t refused_until; /* the backend takes no more links of this role */
    px_ready ready;         /* queues that wait for a link */
    size_t references;      /* queues */
};

/* A worker's. */
typedef struct px_pools {
    px_pool *first;
    bool asking;        /* another worker is asked for a link */
    uint64_t ask_after; /* … not before then */
} px_pools;

px_pool *px_pool_new(px_worker *worker, px_identity *identity, const px_pool_ops *ops, void *owner);
/* Closes its links: no batch is on any. */
void px_pool_free(px_pool *pool);

/* An idle link, now busy; or NULL, and then another one is opened if the pool may have it. */
px_pool_link *px_pool_take(px_pool *pool, uint32_t lock_wait_ms);
void px_pool_put(px_pool_link *link); /* idle again */
/* There is no link, and there cannot be one for a while. */
bool px_pool_is_refused(const px_pool *pool);
/* Opens the first link if there is none. */
void px_pool_expect(px_pool *pool, uint32_t lock_wait_ms);
/* Closes what is idle, and for a short time also what becomes so. */
void px_pool_leave(px_pool *pool);
/* Closes the link that is idle for longest; if none is, and `promise`, the next that becomes so. */
px_yield px_pool_yield(px_pool *pool, bool promise);
/* Closes links that were idle for a minute, or that others want. */
void px_pool_tick(px_pool *pool);

#endif
