/*
 * bound: whether the conditions of a WHERE or ON say where in a column's order a table's reading
 * begins: by what is known before the table is read.
 */
#ifndef RW_BOUND_H
#define RW_BOUND_H

#include "rewrite/statement/lookup/lookup_from.h"

typedef enum rw_bound {
    RW_UNBOUND, /* No condition says where the reading begins. */
    RW_JOINED,  /* The beginning is known once another table of the same FROM is read. */
    RW_BOUND    /* The beginning is known from constants, parameters or the query around. */
} rw_bound;

/* A column of a table in a FROM, that conditions may be about. */
typedef struct rw_sought {
    const rw_from *in;
    const rw_from_item *of;
    size_t column;
    bool equal; /* Only conditions that ask for what equals something count. */
} rw_sought;

/* Whether `column` is the sought column, or may be one that USING has made of it and another. */
bool rw_is_sought(const rw_sought *it, const PgQuery__Node *column);
/* What a condition, and those that it is made of by AND and OR, says of the column. A row for which
 * a condition that binds is true has a value there. `condition` NULL: RW_UNBOUND. */
rw_bound rw_bound_of(const rw_sought *it, const PgQuery__Node *condition);
/* The one of both that says more. */
rw_bound rw_bound_more(rw_bound a, rw_bound b);

#endif
