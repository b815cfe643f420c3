/*
 * unspread: names in a statement that a pattern of the configuration covers, without a known spread
 * table of that name. Off the hot path, for EXPLAIN (PROXY) and `keyspread explain`.
 */
#ifndef RW_UNSPREAD_H
#define RW_UNSPREAD_H

#include "rewrite/hash/table.h"

/* Appends a line of text on the first of them; nothing if there is none, or the statement cannot be
 * read. Needs stack as rw_tree_check() does. */
void rw_unspread_say(pgw_slice text, const rw_catalog *catalog, const pgw_env *env,
                     pgw_arena *arena, pgw_buf *out);

#endif
