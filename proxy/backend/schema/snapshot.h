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
    uint64_t epoch; /* unique in the process: two snapshots that differ never have the same epoch */
    rw_table **tables;
    const cfg_table **configs; /* each table's entry: its own, or its pattern's */
    size_t count;
    size_t by_pattern;   /* how many of the tables have only a pattern's entry: the last ones, in
                            order of their oids */
    rw_table **ordinary; /* tables with entries that are to get their hash by `keyspread migrate`,
                            or had it and were taken back: their statements pass as they are */
    size_t ordinary_count;
    const cfg_config *config; /* the configuration that the snapshot was built with; it lives as
                                 long as the process */
    _Atomic bool current;     /* the snapshot is the newest of its database */
    bool incomplete; /* a configured table is not in the database, and is to be looked for again
                        soon */
} px_catalog;

/* Any thread. */
px_catalog *px_catalog_take(px_catalog *catalog);
void px_catalog_drop(px_catalog *catalog); /* NULL is fine */
const cfg_table *px_catalog_config(const px_catalog *catalog, const rw_table *table);
/* The place of table `i` in a px_answer: tables and patterns as px_catalog_names() has them, and
 * then the tables that have only a pattern. */
size_t px_catalog_place(const px_catalog *catalog, size_t i);
/* The snapshot without tables, for texts that name no configured table. Not counted, and never
 * freed. */
px_catalog *px_catalog_none(void);
/* The snapshot without tables, for texts that are sent alike whatever tables there are: nothing is
 * known of what the database stores. Not counted, and never freed. */
px_catalog *px_catalog_unasked(void);

/* What px_schema_fingerprint_query() said, of the tables or of places. */
typedef struct px_fingerprint {
    char text[24]; /* "": the backend was not asked */
} px_fingerprint;

/* A snapshot of what the backend answered to px_schema_query(), or of the file alone (`rows` NULL),
 * with one reference and a new epoch. `last` (NULL: there is none) is the one before. */
px_catalog *px_catalog_build(const cfg_config *config, const px_schema_rows *rows,
                             const px_catalog *last);
/* Whether both snapshots are the same but for the epoch: then plans and batches of one go on with
 * the other. */
bool px_catalog_same(const px_catalog *a, const px_catalog *b);

#endif
