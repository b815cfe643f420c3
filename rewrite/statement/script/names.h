/*
 * names: which columns, with which types, the names of a statement mean: the tables and subqueries
 * of each FROM, and the queries of each WITH.
 */
#ifndef RW_PLAIN_NAMES_H
#define RW_PLAIN_NAMES_H

#include "rewrite/hash/table.h"

#include <pg_query/pg_query.pb-c.h>

/* A column that a query gives, or that stands in a FROM. */
typedef struct rw_named {
    const char *name;
    uint32_t type; /* PGW_UNKNOWN: nothing said it yet; PGW_UNSPECIFIED: not known here */
    const PgQuery__Node *node; /* expression of a query's own column; else NULL */
} rw_named;

typedef struct rw_columns {
    rw_named *list;
    size_t count;
} rw_columns;

/* A table by the name that a statement gives it. */
typedef struct rw_relation {
    struct rw_relation *next;
    const char *schema, *name; /* "": none is written */
} rw_relation;

/* An item of a FROM, or the table that is written. */
typedef struct rw_item {
    struct rw_item *next;
    const char *name;
    rw_columns columns;
} rw_item;

typedef struct rw_cte {
    const struct rw_cte *next;
    const char *name;
    rw_columns columns;
} rw_cte;

/* Names are looked for in the innermost scope first. */
typedef struct rw_scope {
    const struct rw_scope *outer;
    rw_item *items;
    const rw_cte *ctes; /* WITH queries, those of outer scopes included */
} rw_scope;

void rw_scope_add(rw_scope *scope, const char *name, rw_columns columns, pgw_arena *arena);
/* The columns of a table as its client knows them. */
rw_columns rw_columns_of_table(const rw_table *table, pgw_arena *arena);
/* The names of the first ones, as an alias lists them. */
void rw_columns_rename(rw_columns columns, PgQuery__Node *const *names, size_t count);
void rw_columns_append(rw_columns *to, rw_columns more, pgw_arena *arena);
/* The type of a column that is referred to; PGW_UNSPECIFIED: none that is known. */
uint32_t rw_scope_type(const rw_scope *scope, const PgQuery__ColumnRef *reference);
/* What `*` or `item.*` means. */
rw_columns rw_scope_star(const rw_scope *scope, const PgQuery__ColumnRef *star, pgw_arena *arena);
const rw_columns *rw_scope_cte(const rw_scope *scope, const char *name);
/* The type that a cast names; PGW_UNSPECIFIED if it is not known here. */
uint32_t rw_type_of_name(const PgQuery__TypeName *name);

#endif
