/*
 * hidden_stars: what a statement shows of configured tables, found in libpg_query's tree: stars,
 * whole rows, TABLE, COPY; and how it is to be written to show no hash column.
 */
#ifndef RW_HIDDEN_STARS_H
#define RW_HIDDEN_STARS_H

#include "protocol/error.h"
#include "protocol/value.h"
#include "rewrite/hash/table.h"
#include "rewrite/statement/edit/token_edits.h"

#include <pg_query/pg_query.pb-c.h>

typedef struct rw_hidden_stars {
    const rw_token_edits *map; /* NULL: nothing is to be changed */
    bool by_value;             /* the statement's constants decide */
} rw_hidden_stars;

/* Finds the changes of a statement, in the arena. `text` is what the tree was made of. A table
 * whose hash column the text names is left as it is: its client knows it. If the table is strict,
 * there is no such column: false, and the error is filled, where PostgreSQL itself would not say
 * so. */
PGW_MUST_CHECK bool rw_hidden_stars_find(const PgQuery__Node *statement, pgw_slice text,
                                         const rw_catalog *catalog, const pgw_reading *reading,
                                         rw_hidden_stars *out);

#endif
