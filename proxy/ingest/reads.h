/*
 * reads: how often configured tables are read, and how, as statements are sent.
 */
#ifndef PX_READS_H
#define PX_READS_H

#include "proxy/backend/schema/snapshot.h"
#include "proxy/loop/worker.h"
#include "rewrite/statement/script/conditions.h"

/* How a prepared statement reads configured tables. */
typedef struct px_reads {
    px_catalog *catalog; /* The snapshot by which the statement was read; counted. */
    rw_read_map *map;    /* owned */
} px_reads;

/* How a statement reads configured tables, as `map` says. NULL: it reads none. */
px_reads *px_reads_new(px_catalog *catalog, const rw_read_map *map);
void px_reads_free(px_reads *reads); /* NULL is fine */
/* Counts a statement that is sent and reads configured tables as `map` says (NULL: it reads none),
 * with these conditions on hashes (NULL: without). */
void px_reads_count(px_worker *worker, const px_catalog *catalog, const rw_read_map *map,
                    const rw_conditions *conditions);

#endif
