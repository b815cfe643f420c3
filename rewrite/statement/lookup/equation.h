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
    const PgQuery__Node *const *columns; /* as many */
    size_t count;                        /* of values for them */
    const PgQuery__Node *const *values;  /* expressions, or, if `rows`, a row of them each */
    bool rows;
    bool array;
    bool elements;                 /* they are those of ARRAY[…] */
    const PgQuery__TypeName *cast; /* of all values: `ARRAY[1, 2]::int8[]`; NULL: none */
} rw_equation;

/* Whether it is ROW (…), or (…, …). */
bool rw_is_row(const PgQuery__Node *it);
/* Appends those of `where` to `list`, which has room for `most`; more are left out. */
void rw_equations_collect(const PgQuery__Node *where, rw_equation *list, size_t *count,
                          size_t most);
/* Appends the ORs among those conditions, of which one arm each must be true; as above. */
void rw_alternatives_collect(const PgQuery__Node *where, const PgQuery__BoolExpr **list,
                             size_t *count, size_t most);
/* `a.x = b.y`: no value is told. */
bool rw_equation_is_join(const rw_equation *it);

#endif
