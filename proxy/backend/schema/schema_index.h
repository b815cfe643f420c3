/*
 * schema_index: the secondary indexes that the file tells of, for a backend that is not asked.
 */
#ifndef PX_SCHEMA_INDEX_H
#define PX_SCHEMA_INDEX_H

#include "config/config.h"
#include "rewrite/hash/table.h"

/* The table's columns are known; those of an index that are not among them are left out. */
void px_schema_index_fill(rw_table *table, const cfg_ydb *config);
/* Of two pictures of a table. */
bool px_schema_index_same(const rw_table *a, const rw_table *b);

#endif
