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

enum { PX_DRAIN_MS = 10000 }; /* what takes longer at the end is not waited for */

/* Something to be done on another worker's thread. Embedded as the first member of what it carries;
 * `run` owns it from then on. */
typedef struct px_message {
    struct px_message *next;
    void (*run)(struct px_worker *worker, struct px_message *message);
} px_message;

/* Who lives on a worker's loop: sessions, batches, catalogs …, of which the worker knows no more
 * than this. All run on the worker's thread, in the order of its list. What does not concern a
 * tenant is NULL. */
typedef struct px_tenant {
    void (*turn)(struct px_worker *worker);  /* the end of each turn, before the loop sleeps */
    void (*tick)(struct px_worker *worker);  /* every 100 ms */
    void (*drain)(struct px_worker *worker); /* no new work from now on */
    /* Closes a connection to the backend that somebody else needs more; false: none now. */
    bool (*yield)(struct px_worker *worker, struct px_plea *plea);
    /* No worker has anything of it any more that another one may wait for. */
    bool (*idle)(struct px_worker *worker);
    void (*end)(struct px_worker *worker);  /* closes its handles: the loop runs out */
    void (*free)(struct px_worker *worker); /* the loop has ended */
} px_tenant;

typedef struct px_worker {
    unsigned index;
    struct px_server *server;
    const struct cfg_config *config; /* in force now; old ones live until the process ends */
    const px_tenant *const *tenants; /* up to NULL */
    uv_loop_t loop;
    pthread_t thread;
    /* inbox */
    uv_async_t wake;
    pthread_mutex_t inbox_lock;
    px_message *inbox, **inbox_tail;
    px_message *own, **own_tail; /* sent by the worker itself: run at the end of the turn */
    px_message call;             /* links that have waited for a place have one now … */
    _Atomic bool called;         /* … and this is on its way */
    /* output at the end of a turn */
    uv_prepare_t before_poll;
    uv_check_t after_poll;
    struct px_stream *dirty_links, *dirty_clients;
    px_blocks blocks;             /* of streams, to be used again */
    size_t let_go, let_go_before; /* bytes, about, freed since pages were last given back */
    unsigned trim_in;             /* ticks, until that is done again; 0: when it is quiet */
    uv_timer_t tick;              /* every 100 ms: deadlines, idle links, catalog age */
    px_metrics *metrics;          /* what this thread counts; freed with the server */
    uint64_t clock;               /* px_worker_clock() of this turn; 0 = not asked for yet */
    /* what its tenants have here, each its own */
    struct px_credentials *credentials; /* counted */
    struct px_sessions *sessions;
    struct px_batcher *batcher;
    struct px_pools *pools; /* the batcher's */
    struct px_catalogs *catalogs;
    struct px_reader *readers; /* of the databases that this worker owns */
    struct px_kind *kinds;     /* what they mean at their start */
    struct px_plan_cache *plans;
    struct px_templates *templates; /* What was learned of INSERTs as text (ingest/template.h); NULL: nothing yet. */
    struct px_known_map *maps;   /* of partitions that were discovered */
    struct px_reserve *reserves; /* the sessions' */
    uint64_t tickets;            /* given to sessions */
    unsigned cancels;            /* of its links, under way */
    _Atomic unsigned load;       /* sessions, for the listener to choose by */
    bool draining;               /* no new work; ends when the last session is gone */
    uint64_t drain_since;
} px_worker;

/* Thread-safe: hands `message` to the worker's loop. */
void px_worker_send(px_worker *worker, px_message *message);
/* About so many bytes were freed by somebody who will not need them again: when it gets quiet,
 * their pages go back to the system. */
void px_worker_let_go(px_worker *worker, size_t bytes);
/* Milliseconds of a clock that only goes forward, as of this turn. */
uint64_t px_worker_now(const px_worker *worker);
/* Nanoseconds of the same clock, as of its first use in this turn: for measuring. */
uint64_t px_worker_clock(px_worker *worker);
/* The worker that owns partition `partition` of `table`. */
px_worker *px_worker_owner(px_worker *worker, const char *table, uint32_t partition);

/* How many clients the workers of the process have, whatever they wait for. Any thread. */
unsigned px_workers_load(const struct px_server *server);

/* The loop: created (the first before any is run), run on the calling thread until it has drained,
 * freed. `tenants` stay. */
void px_worker_init(px_worker *worker, struct px_server *server, unsigned index,
                    const px_tenant *const *tenants);
void px_worker_run(px_worker *worker);
void px_worker_free(px_worker *worker);
/* No new work: idle sessions end with 57P01, busy ones when they are answered. On the worker's
 * thread. */
void px_worker_drain(px_worker *worker);

#endif
