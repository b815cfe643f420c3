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
    bool lost;    /* the link has ended: its last input is being read, and it is not used again */
    bool reading; /* the link's input is being read: it is not closed to make room */
    bool doomed;  /* the link is closed as soon as it is idle */
    bool changed; /* the link's settings were changed: nothing more is sent on it */
    bool spare;   /* other pools want the link more: it is closed as soon as it may be */
    uint32_t lock_wait_ms;
    px_batch *batch;                  /* the batch that is on the link; NULL unless BUSY */
    px_writer *writer;                /* made when the link is ready; owned */
    uint64_t idle_since, ready_since; /* px_worker_now() scale: when it became idle, and ready */
    px_pool_link *next, *previous;
};

struct px_pool {
    px_pool *next; /* the worker's next pool */
    px_worker *worker;
    void *owner;
    px_identity *identity;
    const px_pool_ops *ops;
    px_pool_link *links; /* the first is the one that was used last */
    size_t link_count, opening;
    bool active, wants, starves; /* whether the quota counts it in pools, wanting, starving */
    bool giving;                 /* the next link that becomes idle is spare */
    uint64_t starving_since;
    uint64_t leaving_until; /* until then keyspread keeps no idle link in its database */
    uint64_t no_opening_until;
    uint64_t refused_until; /* until then the backend takes no more links of this role */
    px_ready ready;         /* queues that wait for a link */
    size_t references;      /* the number of queues that use the pool */
};

/* The pools of one worker. */
typedef struct px_pools {
    px_pool *first;
    bool asking;        /* another worker is asked for a link */
    uint64_t ask_after; /* px_worker_now() scale: no worker is asked before */
} px_pools;

/* Puts the link first in its pool's list: the one used last is used next. */
void px_pool_links_add(px_pool_link *link);
void px_pool_links_first(px_pool_link *link);
/* Takes the link out of the list, gives its place back and frees it: its px_link is closed or
 * failed. */
void px_pool_links_forget(px_pool_link *link);
void px_pool_links_drop(px_pool_link *link); /* closes the link and forgets it */
/* How many batch links there may be in the process. */
unsigned px_pool_links_most(const px_pool *pool);

#endif
