/*
 * ranges_tree: what is put into a statement for its reads by ranges of the key (ranges.h), found in
 * libpg_query's tree. A range of the key gets a condition that names all buckets. The first rows in
 * the order of the key become those of each bucket, of which the statement takes the first.
 */
#ifndef RW_RANGES_TREE_H
#define RW_RANGES_TREE_H

#include "rewrite/statement/edit/token_edits.h"
#include "rewrite/statement/lookup/lookup.h"
#include "rewrite/statement/lookup/ranges.h"

#include <pg_query/pg_query.pb-c.h>

typedef struct rw_ranges_found {
    const rw_range_map *map; /* NULL: nothing is put in */
    bool by_value;           /* the statement's constants decide */
} rw_ranges_found;

/* The edits of a statement, in the arena. `text` is what the tree was made of;
 * standard_conforming_strings is on. Left out are tables that `lookups` (NULL: none) asks for by
 * their whole hash key, and those in whose place `stars` (NULL: none) put a subquery. */
rw_ranges_found rw_ranges_find(const PgQuery__Node *statement, pgw_slice text,
                               const rw_catalog *catalog, const rw_token_edits *stars,
                               const rw_lookup_map *lookups, pgw_arena *arena);

#endif
