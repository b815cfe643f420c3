/*
 * snapshot: the configured tables as a database has them at one moment. Immutable, and shared by
 * all workers: what is made of one text or plan keeps the snapshot it was made with.
 */
#ifndef PX_SNAPSHOT_H
#define PX_SNAPSHOT_H

#include "config/config.h"
#include "proxy/backend/schema/schema.h"
#include "rewrite/hash/table.h"

#include <stdatomic.h>

typedef struct px_catalog {
    _Atomic unsigned references;
    uint64_t epoch; /* of the process: two snapshots that differ never have the same */
    rw_table **tables;
    const cfg_table **configs; /* of each, in the configuration it was built with: its own or that
                                  of its pattern */
    size_t count;
    size_t by_pattern; /* of these, the last ones: they have only that, and are in order of their
                          oids */
    const cfg_config *config; /* that one; it lives as long as the process */
    _Atomic bool current;     /* it is the newest of its database */
    bool incomplete;          /* a configured table is not in the database: looked for again soon */
} px_catalog;

/* Any thread. */
px_catalog *px_catalog_take(px_catalog *catalog);
void px_catalog_drop(px_catalog *catalog); /* NULL is fine */
const cfg_table *px_catalog_config(const px_catalog *catalog, const rw_table *table);
/* The place of its table `i` among all that a session is asked for: tables and patterns as
 * px_catalog_names() has them, and then those that have only a pattern. */
size_t px_catalog_place(const px_catalog *catalog, size_t i);
/* One without tables, for texts that name none. Not counted, and never freed. */
px_catalog *px_catalog_none(void);

/* What px_schema_fingerprint_query() said when it was looked at. */
typedef struct px_fingerprint {
    char text[24]; /* "" = it was not asked */
} px_fingerprint;

/* What the backend answered to px_schema_query(), with one reference and an epoch of its own. */
px_catalog *px_catalog_build(const cfg_config *config, const px_schema_rows *rows);
/* Whether both say the same but for the epoch: then plans and batches of one go on. */
bool px_catalog_same(const px_catalog *a, const px_catalog *b);

#endif
