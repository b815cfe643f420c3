/*
 * reads_tree: finds in libpg_query's tree how a statement reads configured tables, by the indexes
 * that they have. What a planner makes of it is for the backend to say.
 */
#ifndef RW_READS_TREE_H
#define RW_READS_TREE_H

#include "rewrite/statement/lookup/ranges.h"
#include "rewrite/statement/lookup/reads.h"

#include <pg_query/pg_query.pb-c.h>

/* The reads of a SELECT, UPDATE or DELETE, or of what holds a query and runs it now. NULL: it reads
 * no configured table. `ranges` (NULL: nothing) is put in for them. In the arena. */
const rw_read_map *rw_reads_find(const PgQuery__Node *statement, pgw_slice text,
                                 const rw_catalog *catalog, const rw_range_map *ranges,
                                 pgw_arena *arena);

#endif
