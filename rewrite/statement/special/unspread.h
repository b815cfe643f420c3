/*
 * unspread: names in a statement that a pattern of the configuration covers, and that are of no
 * table with a hash that is known. Off the hot path: for who explains a statement.
 */
#ifndef RW_UNSPREAD_H
#define RW_UNSPREAD_H

#include "rewrite/hash/table.h"

/* Appends a line of text on the first of them; nothing if there is none, or the statement cannot be
 * read. Needs stack as rw_tree_check() does. */
void rw_unspread_say(pgw_slice text, const rw_catalog *catalog, const pgw_env *env,
                     pgw_arena *arena, pgw_buf *out);

#endif
