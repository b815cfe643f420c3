/*
 * expression_types: walks through an expression as PostgreSQL's parse analysis does
 * (src/backend/parser/parse_expr.c), and gives each parameter the type of the first place that says
 * one.
 */
#ifndef RW_EXPRESSION_TYPES_H
#define RW_EXPRESSION_TYPES_H

#include "rewrite/statement/script/names.h"

typedef struct rw_typing {
    const rw_catalog *catalog;
    pgw_arena *arena;
    uint32_t *types; /* of $1, $2 …; PGW_UNKNOWN: nothing said it yet */
    size_t count;
    rw_relation *missing; /* tables of which nothing is known */
    /* The columns of a query inside of an expression, or of a FROM. */
    rw_columns (*query)(struct rw_typing *typing, const rw_scope *scope,
                        const PgQuery__Node *query);
} rw_typing;

/* The type of an expression; PGW_UNKNOWN: of a string, NULL or a parameter that nothing was said
 * of. PGW_UNSPECIFIED: not known here. `node` may be NULL. */
uint32_t rw_type_expression(rw_typing *typing, const rw_scope *scope, const PgQuery__Node *node);
/* … that stands where a value of this type does. */
void rw_type_as(rw_typing *typing, const rw_scope *scope, const PgQuery__Node *node, uint32_t type);
/* Makes it this type, if it is a parameter of which nothing was said. */
void rw_type_expect(rw_typing *typing, const PgQuery__Node *node, uint32_t type);

#endif
