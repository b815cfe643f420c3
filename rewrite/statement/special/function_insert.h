/*
 * function_insert: an INSERT … VALUES in the body of a plpgsql function, with the hash of its row:
 * the server computes it as it does for rows that come from a query.
 */
#ifndef RW_FUNCTION_INSERT_H
#define RW_FUNCTION_INSERT_H

#include "rewrite/hash/table.h"
#include "rewrite/lex/token_walk.h"

/* Reads an INSERT from its first word up to RETURNING or ';', with one row of constants, calls,
 * casts and DEFAULT. `*table`: the configured table that it writes; NULL: none. Returns the
 * statement to stand in its place, in `arena`; empty: it is left as it is. */
pgw_slice rw_function_insert(rw_token_walk *body, const rw_catalog *catalog, const pgw_env *env,
                             pgw_arena *arena, const rw_table **table);

#endif
