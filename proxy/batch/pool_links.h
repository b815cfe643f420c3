/*
 * pool_links: a pool and its links as a list, each with its place in the quota of the process.
 */
#ifndef PX_POOL_LINKS_H
#define PX_POOL_LINKS_H

#include "proxy/backend/base/link.h"
#include "proxy/batch/queue.h"

typedef struct px_pool px_pool;
typedef struct px_pool_link px_pool_link;
typedef struct px_pool_ops px_pool_ops;

typedef enum px_pool_link_state { PX_POOL_OPENING, PX_POOL_IDLE, PX_POOL_BUSY } px_pool_link_state;

struct px_pool_link {
    px_pool *pool;
    px_link *link;
    px_pool_link_state state;
    bool lost;    /* its last input is being read: it is not used again */
    bool reading; /* its input is being read: it is not closed to make room */
    bool doomed;  /* it is closed as soon as it is idle */
    bool changed; /* … and nothing more is sent on it: its settings are not as they were */
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

/* Puts it in front: the one used last is used next. */
void px_pool_links_add(px_pool_link *link);
void px_pool_links_first(px_pool_link *link);
/* Out of the list, with its place given back, and freed: its px_link is closed, or has failed. */
void px_pool_links_forget(px_pool_link *link);
void px_pool_links_drop(px_pool_link *link); /* … after it is closed */
/* All that there may be, in the process. */
unsigned px_pool_links_most(const px_pool *pool);

#endif
