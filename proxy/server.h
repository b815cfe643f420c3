/*
 * server: the process: listeners, workers, signals, reload, and what all workers share.
 */
#ifndef PX_SERVER_H
#define PX_SERVER_H

#include "config/config.h"
#include "proxy/databases.h"
#include "proxy/pids.h"
#include "proxy/room.h"
#include "proxy/quota.h"
#include "proxy/worker.h"

#include <stdatomic.h>

typedef struct px_server {
    px_worker *workers;
    unsigned worker_count;
    const cfg_config *_Atomic config; /* in force; workers have their own pointer */
    struct px_addresses *addresses;
    struct px_lobby *lobby;
    struct px_canceller *canceller;
    px_pids *pids; /* told to clients */
    px_databases *databases;
    struct px_welcomes *welcomes;   /* what sessions of a kind are greeted with */
    _Atomic unsigned errands;       /* messages about links that are on their way between workers */
    px_quota quota;                 /* of links for batches */
    _Atomic unsigned links;         /* all connections to the backend */
    _Atomic unsigned session_links; /* of them, sessions' own */
    _Atomic unsigned clients;       /* logged in */
    _Atomic unsigned unauthenticated; /* not yet */
    _Atomic bool stopping;            /* no new clients */
    _Atomic bool unreachable;         /* the backend, when a link was opened last */
    px_rooms rooms;                   /* for what clients have sent in part */
    px_metrics *metrics;              /* what the main thread counts */
} px_server;

/* Hands a CancelRequest to the worker of the session that was told `pid`. A wrong key is answered
 * like a right one: not.
 */
void px_server_cancel(px_server *server, uint32_t pid, uint32_t key);
/* How many sessions the workers have. */
unsigned px_server_load(px_server *server);
/* No worker has a session any more, nor anything that one of them began. */
bool px_server_quiet(px_server *server);

/* Runs the proxy until SIGTERM or SIGINT; takes ownership of `config`. Mistakes in the
 * files it names go to `errors`. Returns the exit code: 0 after an orderly end, 1 if it could not
 * start. */
int px_run(cfg_config *config, FILE *errors);

#endif
