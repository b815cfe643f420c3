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

/* Memory for what clients have sent in part; see room.h. */
typedef struct px_rooms {
    _Atomic size_t used;
    _Atomic unsigned waiting; /* sessions that found no room */
    _Atomic bool beyond;      /* one session goes on nevertheless, so that all come to an end */
} px_rooms;

typedef struct px_server {
    struct px_worker *workers;
    unsigned worker_count;
    const cfg_config *_Atomic config; /* in force; workers have their own pointer */
    const struct px_backend *backend; /* its kind */
    struct px_addresses *addresses;
    struct px_lobby *lobby;
    const struct px_discovery_kind *places; /* who finds out where partitions begin; NULL: nobody */
    struct px_discovery *discovery;         /* of `places`, while keyspread serves */
    struct px_pids *pids;                   /* told to clients */
    struct px_databases *databases;
    struct px_greetings *greetings; /* what sessions of a kind are greeted with */
    _Atomic unsigned errands;       /* messages about links that are on their way between workers */
    px_quota quota;                 /* of links for batches */
    px_seats seats;                 /* all links to the backend */
    _Atomic uint64_t link_left;     /* when one was closed last; px_worker_now() */
    _Atomic unsigned link_refusals; /* of those for which the backend had no connection */
    _Atomic unsigned clients;       /* logged in */
    _Atomic unsigned unauthenticated; /* not yet */
    _Atomic bool stopping;            /* no new clients */
    _Atomic bool unreachable;         /* the backend, when a link was opened last */
    px_rooms rooms;                   /* for what clients have sent in part */
    _Atomic size_t unread;            /* bytes that clients are to take, as far as they count */
    uint8_t cancel_secret[32];        /* by which the long keys of CancelRequests are made */
    _Atomic size_t prepared;          /* bytes of what clients have prepared */
    px_metrics *metrics;              /* what the main thread counts */
    struct px_scans *scans;           /* statements that read whole tables; NULL: none are noted */
} px_server;

#endif
