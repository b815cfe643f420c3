/*
 * first_rows: whether a SELECT asks for the first rows of one table in the order of its key, by
 * ORDER BY and LIMIT, or by min() and max().
 */
#ifndef RW_FIRST_ROWS_H
#define RW_FIRST_ROWS_H

#include "rewrite/statement/lookup/lookup_from.h"
#include "rewrite/statement/lookup/ranges.h"
#include "rewrite/statement/tree/where.h"

typedef struct rw_first_rows {
    size_t depth;                /* The order is that of so many columns of the key, its first. */
    bool up, down;               /* The first rows in ascending, in descending order, or both. */
    rw_token_span limit, offset; /* how many rows; empty for min() and max(), which ask for one */
} rw_first_rows;

/* Reads what a SELECT with a single table asks for, whose WHERE can be repeated in subqueries with
 * the same result for each row. False: it asks for something else, or that cannot be told. */
PGW_MUST_CHECK bool rw_first_rows_find(const PgQuery__SelectStmt *select, const rw_from *in,
                                       const rw_tokens *tokens, rw_first_rows *out);

#endif
