/*
 * set_list: the SET list of an UPDATE, by its tokens: where each column's name and value stand,
 * which libpg_query's tree does not tell.
 */
#ifndef RW_SET_LIST_H
#define RW_SET_LIST_H

#include "protocol/bytes.h"

#include <pg_query/pg_query.pb-c.h>

typedef struct rw_set_value {
    size_t name, name_end; /* bytes of the statement at which the column's name begins and ends */
    size_t start, end;     /* bytes of the statement at which the value begins and ends */
    const PgQuery__ResTarget *target;
    const PgQuery__Node *value; /* NULL: the value is a column of a query */
} rw_set_value;

/* What stands between two commas: `a = 1`, or `(a, b) = (1, 2)`. */
typedef struct rw_set_item {
    size_t comma; /* byte of the comma before the item; the first item: its own start */
    size_t start, end;
    size_t first, count; /* index of its first value in the list, and how many it has */
    bool listed;         /* the columns are in parentheses: `(a, b) = …` or `(a) = …` */
} rw_set_item;

typedef struct rw_set_list {
    rw_set_item *items;
    size_t item_count;
    rw_set_value *values;
    size_t value_count;
} rw_set_list;

/* Reads the SET list; `out` is in `arena`. False: the text is not what the tree says. */
PGW_MUST_CHECK bool rw_set_list_read(const PgQuery__UpdateStmt *update, pgw_slice text,
                                     bool conforming, pgw_arena *arena, rw_set_list *out);

#endif
