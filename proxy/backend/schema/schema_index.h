/*
 * schema_index: the secondary indexes that the configuration tells of, for a backend that is not
 * asked.
 */
#ifndef PX_SCHEMA_INDEX_H
#define PX_SCHEMA_INDEX_H

#include "config/config.h"
#include "rewrite/hash/table.h"

/* Fills the table's indexes; its columns are known. Columns of an index that the table does not
 * have are left out. */
void px_schema_index_fill(rw_table *table, const cfg_ydb *config);
/* Whether two pictures of a table have the same indexes. */
bool px_schema_index_same(const rw_table *a, const rw_table *b);

#endif
