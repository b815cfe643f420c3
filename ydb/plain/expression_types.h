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
    uint32_t *types; /* types of $1, $2 and so on; PGW_UNKNOWN: not yet said */
    size_t count;
    rw_relation *missing; /* tables of the statement of which nothing is known */
    /* Gives the columns of a query inside of an expression, or of a FROM. */
    rw_columns (*query)(struct rw_typing *typing, const rw_scope *scope,
                        const PgQuery__Node *query);
} rw_typing;

/* The type of an expression. PGW_UNKNOWN: it is a string, NULL or a parameter that nothing was said
 * of. PGW_UNSPECIFIED: the type is not known here. `node` may be NULL. */
uint32_t rw_type_expression(rw_typing *typing, const rw_scope *scope, const PgQuery__Node *node);
/* Types an expression that stands where a value of this type does. */
void rw_type_as(rw_typing *typing, const rw_scope *scope, const PgQuery__Node *node, uint32_t type);
/* Gives the node this type, if it is a parameter of which nothing was said. */
void rw_type_expect(rw_typing *typing, const PgQuery__Node *node, uint32_t type);

#endif
