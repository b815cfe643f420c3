/*
 * one_worker: a server of one worker, with all of its tenants, whose loop the test turns.
 */
#ifndef TEST_ONE_WORKER_H
#define TEST_ONE_WORKER_H

#include "proxy/backend/base/backend.h"
#include "proxy/backend/base/databases.h"
#include "proxy/backend/base/greeting.h"
#include "proxy/backend/base/pids.h"
#include "proxy/backend/catalog/catalog.h"
#include "proxy/backend/state/kinds.h"
#include "proxy/base/metrics.h"
#include "proxy/base/shared.h"
#include "proxy/batch/batcher.h"
#include "proxy/client/door/credentials.h"
#include "proxy/ingest/plan_cache.h"
#include "proxy/ingest/template.h"
#include "proxy/server/server.h"

#include <stdio.h>
#include <stdlib.h>

/* Of a server that has nothing yet. */
static inline void one_worker_begin(px_server *server, px_worker *worker, const cfg_config *config,
                                    const px_backend *backend, px_credentials *credentials)
{
    *server = (px_server){.workers = worker,
                          .worker_count = 1,
                          .config = config,
                          .backend = backend,
                          .pids = px_pids_new(),
                          .databases = px_databases_new(),
                          .greetings = px_greetings_new(),
                          .metrics = px_metrics_new(NULL)};
    px_worker_init(worker, server, 0, px_server_tenants);
    worker->config = config;
    worker->credentials = credentials;
    worker->plans = pgw_calloc(1, sizeof *worker->plans);
    worker->catalogs = px_catalogs_new(worker);
    worker->batcher = px_batcher_new(worker);
}

static inline void one_worker_hangs(uv_timer_t *timer)
{
    fputs("The worker has not ended within a minute: a session or link of it is still open.\n", stderr);
    uv_print_all_handles(timer->loop, stderr);
    abort();
}

/* Ends the worker; aborts if a session or link of a failed test would keep its loop alive. */
static inline void one_worker_end(px_server *server, px_worker *worker)
{
    uv_timer_t deadline;
    uv_timer_init(&worker->loop, &deadline);
    uv_timer_start(&deadline, one_worker_hangs, 60 * 1000, 0);
    uv_unref((uv_handle_t *)&deadline);
    px_worker_drain(worker);
    uv_run(&worker->loop, UV_RUN_DEFAULT);
    uv_close((uv_handle_t *)&deadline, NULL);
    uv_run(&worker->loop, UV_RUN_DEFAULT);
    px_templates_free(worker);
    px_plan_cache_clear(worker->plans);
    free(worker->plans);
    px_kinds_free(worker);
    px_worker_free(worker);
    px_metrics_free(worker->metrics);
    px_metrics_free(server->metrics);
    px_pids_free(server->pids);
    px_databases_free(server->databases);
    px_greetings_free(server->greetings);
}

#endif
