/*
 * unseen_key: an UPDATE of what may be a table of the configuration by now, which the catalog has
 * not: it passes as it is, and would leave the hash of the old key.
 */
#ifndef RW_UNSEEN_KEY_H
#define RW_UNSEEN_KEY_H

#include "rewrite/hash/table.h"

#include <pg_query/pg_query.pb-c.h>

/* Whether `catalog->planned` has a table of that name, or a pattern, that the catalog knows none
 * of, and one of the columns that are set may be of its key. */
bool rw_sets_unseen_key(const rw_catalog *catalog, const PgQuery__RangeVar *relation,
                        PgQuery__Node *const *targets, size_t count);

#endif
