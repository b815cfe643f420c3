/*
 * lookup_tree: the lookups of a statement, found in libpg_query's tree: where the conditions that
 * must all be true give a value to each column of a table's hash key.
 */
#ifndef RW_LOOKUP_TREE_H
#define RW_LOOKUP_TREE_H

#include "rewrite/statement/edit/token_edits.h"
#include "rewrite/statement/lookup/lookup.h"

#include <pg_query/pg_query.pb-c.h>

/* The lookups of a statement, in `arena`; NULL: none. `text` is what the tree was made of;
 * standard_conforming_strings is on. `stars` (NULL: none) are the other changes of the text. A
 * lookup that is not understood is left out: the statement is right without. */
const rw_lookup_map *rw_lookup_find(const PgQuery__Node *statement, pgw_slice text,
                                    const rw_catalog *catalog, const rw_token_edits *stars,
                                    pgw_arena *arena);

#endif
