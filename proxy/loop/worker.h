/*
 * worker: one event loop and all it owns: sessions, links, queues. Nothing of a worker is touched
 * by another thread; other threads send messages.
 */
#ifndef PX_WORKER_H
#define PX_WORKER_H

#include "protocol/bytes.h"
#include "proxy/base/metrics.h"
#include "proxy/loop/block.h"

#include <pthread.h>
#include <uv.h>

struct px_worker;
struct px_server;
struct px_plea;
struct px_stream;

enum { PX_DRAIN_MS = 10000 }; /* ms that a draining worker waits for statements and cancels */

/* Something to be done on another worker's thread. It is the first member of the struct that it
 * carries, which `run` owns from the call on. */
typedef struct px_message {
    struct px_message *next;
    void (*run)(struct px_worker *worker, struct px_message *message);
} px_message;

/* A module that lives on a worker's loop, such as sessions, batches or catalogs: all that the
 * worker knows of it. Called on the worker's thread, in the order of px_worker.tenants. A function
 * that a tenant does not need is NULL. */
typedef struct px_tenant {
    void (*turn)(struct px_worker *worker);  /* the end of each turn, before the loop sleeps */
    void (*tick)(struct px_worker *worker);  /* every 100 ms */
    void (*drain)(struct px_worker *worker); /* no new work from now on */
    /* Closes a link that the plea needs more than the tenant; false: none can be closed now. */
    bool (*yield)(struct px_worker *worker, struct px_plea *plea);
    /* The tenant has nothing left, on any worker, that another worker may wait for. */
    bool (*idle)(struct px_worker *worker);
    void (*end)(struct px_worker *worker);  /* closes its handles: the loop runs out */
    void (*free)(struct px_worker *worker); /* the loop has ended */
} px_tenant;

typedef struct px_worker {
    unsigned index;
    struct px_server *server;
    const struct cfg_config *config; /* configuration in force; old ones are kept to the end */
    const px_tenant *const *tenants; /* ends with NULL */
    uv_loop_t loop;
    pthread_t thread;
    /* messages of other threads */
    uv_async_t wake;
    pthread_mutex_t inbox_lock;
    px_message *inbox, **inbox_tail;
    px_message *own, **own_tail; /* messages to itself: run at the turn's end */
    px_message call; /* has links opened that have waited for a place and have one now (link.c) */
    _Atomic bool called; /* `call` is on its way */
    /* output at the end of a turn */
    uv_prepare_t before_poll;
    uv_check_t after_poll;
    struct px_stream *dirty_links, *dirty_clients;
    px_blocks blocks;             /* blocks of streams, to be used again */
    size_t let_go, let_go_before; /* bytes freed, about, since pages were given back; a tick ago */
    unsigned trim_in;             /* ticks until pages are given back once more; 0: not planned */
    uv_timer_t tick;              /* every 100 ms: deadlines, idle links, catalog age */
    px_metrics *metrics;          /* counters of this thread; freed with the server */
    uint64_t clock;               /* px_worker_clock() of this turn; 0: not asked for yet */
    /* what tenants keep here; each looks at its own alone */
    struct px_credentials *credentials; /* a counted reference */
    struct px_sessions *sessions;
    struct px_batcher *batcher;
    struct px_pools *pools; /* batch links of the batcher */
    struct px_catalogs *catalogs;
    struct px_reader *readers; /* readers of the databases that this worker owns */
    struct px_kind *kinds;     /* what sessions mean at their start (state/kinds.h) */
    struct px_plan_cache *plans;
    struct px_templates *templates;     /* learned INSERT texts (ingest/template.h); NULL: none */
    struct px_known_map *maps;          /* maps of discovered partitions (places/maps.h) */
    struct px_sequence_cache *reserves; /* numbers of sequences drawn ahead, for sessions */
    uint64_t tickets;      /* how many tickets were given to sessions and write groups */
    unsigned cancels;      /* cancel requests under way for links of this worker */
    _Atomic unsigned load; /* number of sessions, by which the listener chooses a worker */
    bool draining; /* no new work is taken; the worker ends when the process has no sessions left */
    uint64_t drain_since;
} px_worker;

/* Thread-safe: hands `message` to the worker's loop. */
void px_worker_send(px_worker *worker, px_message *message);
/* About so many bytes were freed and will not be needed again: their pages go back to the system
 * when no more are freed for a tick. */
void px_worker_let_go(px_worker *worker, size_t bytes);
/* Milliseconds of a clock that only goes forward, as of this turn. */
uint64_t px_worker_now(const px_worker *worker);
/* Nanoseconds of the same clock, as of its first use in this turn: for measuring. */
uint64_t px_worker_clock(px_worker *worker);
/* The worker that owns partition `partition` of `table`. */
px_worker *px_worker_owner(px_worker *worker, const char *table, uint32_t partition);

/* How many sessions the workers of the process have, in any state. Any thread. */
unsigned px_workers_load(const struct px_server *server);

/* A worker's life: made (the first before any is run), run on the calling thread until it has
 * drained, freed. `tenants` must outlive it. */
void px_worker_init(px_worker *worker, struct px_server *server, unsigned index,
                    const px_tenant *const *tenants);
void px_worker_run(px_worker *worker);
void px_worker_free(px_worker *worker);
/* Takes no new work: idle sessions end with 57P01, busy ones when they are answered. On the
 * worker's thread. */
void px_worker_drain(px_worker *worker);

#endif
