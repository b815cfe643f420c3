/*
 * syntax: one statement as libpg_query's tree.
 */
#ifndef RW_SYNTAX_H
#define RW_SYNTAX_H

#include "protocol/value.h"

#include <pg_query/pg_query.pb-c.h>

typedef struct rw_syntax {
    PgQuery__ParseResult *result;
    const PgQuery__Node *statement;
} rw_syntax;

/* Reads one statement, for which rw_tree_can_read() is true; words of YDB's that PostgreSQL does
 * not know read INSERT. False: PostgreSQL's grammar refuses it, or it is no single statement; the
 * error is filled, its position counted from the text's beginning. Needs up to 64 MiB of stack. */
PGW_MUST_CHECK bool rw_syntax_parse(pgw_slice text, const pgw_env *env, pgw_arena *arena,
                                    rw_syntax *out, pgw_error *error);
/* Whether PostgreSQL's lexer and grammar take a text of any number of statements, or cannot be
 * asked. False: the error. Needs as much stack. */
PGW_MUST_CHECK bool rw_syntax_check(pgw_slice text, const pgw_env *env, pgw_error *error);
void rw_syntax_free(rw_syntax *syntax);

#endif
