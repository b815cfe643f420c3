/*
 * stars_tree: what a statement shows of configured tables, found in libpg_query's tree: stars,
 * whole rows, TABLE, COPY; and how it is to be written to show no hash column.
 */
#ifndef RW_STARS_TREE_H
#define RW_STARS_TREE_H

#include "rewrite/hash/table.h"
#include "rewrite/read/stars.h"

#include <pg_query/pg_query.pb-c.h>

/* NULL: nothing is to be changed. In `arena`. `text` is what the tree was made of. A table whose
 * hash column the text names is left as it is: its client knows it. `by_value` becomes true where
 * its constants decide. */
const rw_star_map *rw_stars_find(const PgQuery__Node *statement, pgw_slice text, bool conforming,
                                 const rw_catalog *catalog, pgw_arena *arena, bool *by_value);

#endif
