/*
 * shared: what all workers of the process share: the configuration in force, counts that limits are
 * held by, and the registers of other rooms, which alone look into them.
 */
#ifndef PX_SHARED_H
#define PX_SHARED_H

#include "config/config.h"
#include "proxy/base/metrics.h"
#include "proxy/base/seats.h"
#include "proxy/base/quota.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Memory for what clients have sent in part; see input_budget.h. */
typedef struct px_rooms {
    _Atomic size_t used;
    _Atomic unsigned waiting; /* sessions that found no room */
    _Atomic bool beyond;      /* a session exceeds the budget, so that all come to an end */
} px_rooms;

typedef struct px_server {
    struct px_worker *workers;
    unsigned worker_count;
    const cfg_config *_Atomic config; /* configuration in force; workers have their own pointer */
    const struct px_backend *backend; /* kind of the backend: PostgreSQL or YDB */
    struct px_addresses *addresses;
    struct px_preauth *preauth;
    const struct px_discovery_kind *places; /* finds where partitions begin; NULL: nothing does */
    struct px_discovery *discovery;         /* state of `places` while keyspread serves */
    struct px_pids *pids;                   /* virtual process ids, told to clients */
    struct px_databases *databases;
    struct px_greetings *greetings; /* what sessions of a kind are greeted with */
    _Atomic unsigned errands;       /* messages about links that are on their way between workers */
    px_quota quota;                 /* limit on links for batches */
    px_seats seats;                 /* limit on all links to the backend */
    _Atomic uint64_t link_left;     /* px_worker_now() when a link was closed last */
    _Atomic unsigned link_refusals; /* how often the backend had no connection for a link */
    _Atomic unsigned clients;       /* clients that are logged in */
    _Atomic unsigned unauthenticated; /* clients that are not logged in yet */
    _Atomic bool stopping;            /* no new clients are taken */
    _Atomic bool unreachable;         /* the backend was not reached when a link was opened last */
    px_rooms rooms;                   /* memory for what clients have sent in part */
    _Atomic size_t unread;            /* counted bytes of answers that clients have not taken */
    uint8_t cancel_secret[32];  /* secret that the long keys of CancelRequests are made with */
    _Atomic size_t prepared;    /* bytes of statements that clients have prepared */
    px_metrics *metrics;        /* what the main thread counts */
    struct px_loading *loading; /* the COPYs that are under way; NULL: none are noted */
    struct px_scans *scans;     /* statements that read whole tables; NULL: none are noted */
} px_server;

#endif
