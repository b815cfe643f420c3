/*
 * catalog: the configured tables as the backend has them, one snapshot a database, read when first
 * needed, after DDL that is seen, and every 60 s. A changed snapshot has a new epoch.
 */
#ifndef PX_CATALOG_H
#define PX_CATALOG_H

#include "protocol/error.h"
#include "proxy/identity.h"
#include "config/config.h"
#include "proxy/worker.h"
#include "rewrite/table.h"

/* One snapshot. Immutable; counted within its worker. */
typedef struct px_catalog {
    unsigned references;
    uint64_t epoch;
    rw_table **tables;
    const cfg_table **configs; /* of each, in the configuration it was built with */
    size_t count;
    bool incomplete; /* a configured table is not in the database: looked for again soon */
} px_catalog;

void px_catalog_take(px_catalog *catalog);
void px_catalog_drop(px_catalog *catalog); /* NULL is fine */
const cfg_table *px_catalog_config(const px_catalog *catalog, const rw_table *table);

struct px_catalogs *px_catalogs_new(px_worker *worker);
void px_catalogs_free(struct px_catalogs *catalogs);

/* The names alone, from the file: enough to see that a text is none of ours. */
const rw_catalog *px_catalog_names(px_worker *worker);
/* The snapshot to use now; NULL if it must be loaded first. Not counted: take it to keep it. */
px_catalog *px_catalog_now(px_worker *worker, const px_identity *identity);
/* Loads it over a link of its own, opened as `identity`, and calls back (with NULL if all went
 * well) on a later turn. Callers that come meanwhile share the load. */
typedef void px_catalog_loaded(void *waiter, const pgw_error *error);
void px_catalog_load(px_worker *worker, px_identity *identity, px_catalog_loaded *loaded,
                     void *waiter);
/* `waiter` is not called any more. */
void px_catalog_forget(px_worker *worker, void *waiter);
/* DDL was seen, or the backend says that our picture is wrong: every worker loads again before the
 * next use. */
void px_catalog_stale(px_worker *worker, const char *database);

#endif
