/*
 * parse_tree: libpg_query's tree of a text, for those who want it only where there is one.
 */
#ifndef RW_PARSE_TREE_H
#define RW_PARSE_TREE_H

#include "protocol/value.h"

#include <pg_query/pg_query.pb-c.h>

/* Whether the server at hand is newer than the grammar that is linked, so that it may take what the
 * grammar refuses. */
bool rw_grammar_is_older(const pgw_env *env);
/* The tree of a text; NULL: PostgreSQL's grammar refuses it. Freed by
 * pg_query__parse_result__free_unpacked(). Needs stack in proportion: rw_tree_can_read() says of
 * which texts it may be asked. */
PgQuery__ParseResult *rw_parse_tree(pgw_slice text, const pgw_env *env, pgw_arena *arena);

#endif
