/*
 * row_values: comparisons of rows, `(a, b) > (1, 2)`, written out by their columns for stores that
 * have no such comparison: `(a > 1 OR (a = 1 AND b > 2))`.
 */
#ifndef RW_ROW_VALUES_H
#define RW_ROW_VALUES_H

#include "rewrite/statement/lookup/ranges.h"
#include "rewrite/statement/tree/where.h"

enum { RW_ROW_WIDTH = 8, RW_ROW_VALUES_MAX = 4 };

typedef struct rw_row_value {
    rw_token_span at; /* tokens of the whole comparison */
    size_t width;     /* columns, at least two */
    rw_token_span columns[RW_ROW_WIDTH], values[RW_ROW_WIDTH];
    bool less, equal; /* `less`: the operator is `<` or `<=`, else `>` or `>=`; `equal`: it is `<=`
                         or `>=` */
} rw_row_value;

/* Finds comparisons of columns with constants or parameters that must all be true, in the order of
 * the text; of more than RW_ROW_VALUES_MAX the rest is left out. */
size_t rw_row_values_find(const PgQuery__Node *where, const rw_tokens *tokens, rw_row_value *list);

#endif
