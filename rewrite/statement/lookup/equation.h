/*
 * equation: what the conditions of a WHERE or ON that must all be true say that columns equal.
 */
#ifndef RW_EQUATION_H
#define RW_EQUATION_H

#include <pg_query/pg_query.pb-c.h>

#include <stdbool.h>

/* Columns that an equation gives values: `a = 1`, `a IN (1, 2)`, `(a, b) IN ((1, 2), (3, 4))`,
 * `a = ANY (ARRAY[1, 2])`; and `a = ANY ($1)`, whose one value is an array of them. */
typedef struct rw_equation {
    size_t width;
    const PgQuery__Node *const *columns; /* `width` columns on the left side */
    size_t count; /* how many values, or rows of values, the columns may have */
    const PgQuery__Node *const *values; /* expressions; if `rows`, rows of `width` expressions */
    bool rows;
    bool array;
    bool elements;                 /* `values` are the elements of an ARRAY[…] */
    const PgQuery__TypeName *cast; /* cast of the array: `ARRAY[1, 2]::int8[]`; NULL: none */
} rw_equation;

/* Whether the node is a row: ROW (…), or (…, …). */
bool rw_is_row(const PgQuery__Node *it);
/* Appends the equations of `where` to `list`, which has room for `most`; more are left out. */
void rw_equations_collect(const PgQuery__Node *where, rw_equation *list, size_t *count,
                          size_t most);
/* Appends the ORs among the conditions of `where` that must all be true; `list` has room for
 * `most`. */
void rw_alternatives_collect(const PgQuery__Node *where, const PgQuery__BoolExpr **list,
                             size_t *count, size_t most);
/* Whether the equation compares two columns, `a.x = b.y`, and gives no value. */
bool rw_equation_is_join(const rw_equation *it);

#endif
