/*
 * ranges: which values of the hash columns a statement touches, as far as its text tells; all of
 * them, where it does not.
 */
#ifndef YE_RANGES_H
#define YE_RANGES_H

#include "tests/ydb_endpoint/partitions.h"

#include <pg_query/pg_query.pb-c.h>

/* Appends ye_range's. `bind`: the Bind message with the parameters' values, or NULL. */
void ye_ranges_of(ye_map *map, const PgQuery__Node *statement, const pgw_buf *bind,
                  pgw_buf *ranges);
/* How many rows an INSERT … VALUES has; 0 for other statements. */
size_t ye_rows_of(const PgQuery__Node *statement);

#endif
