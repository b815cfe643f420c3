/*
 * row_places: system columns that say where a row is. Of a table in partitions whose hash column is
 * unseen nobody is to know them: `tableoid` is the table's, and by `ctid`, which rows of two
 * partitions may share, no row is found to be written.
 */
#ifndef RW_ROW_PLACES_H
#define RW_ROW_PLACES_H

#include "protocol/error.h"
#include "rewrite/statement/edit/star_text.h"

/* Of a statement, while it is looked through; begins as zeros but for that. */
typedef struct rw_row_places {
    const PgQuery__Node *statement;
    bool read, taken;               /* whether it calls something of its own tableoid */
    const PgQuery__ColumnRef *ctid; /* the first; NULL: none */
    const rw_table *written;        /* by UPDATE, DELETE or MERGE, in partitions; NULL: none is */
} rw_row_places;

/* The item is written. */
void rw_row_places_write(rw_row_places *places, const rw_star_item *item);
/* A reference in the query `scope`. `of`: whose it is, if that is written before it; or NULL. True:
 * something stands in its place. */
bool rw_row_places_note(rw_row_places *places, rw_star_texts *texts, const rw_star_scope *scope,
                        const PgQuery__ColumnRef *at, const rw_star_item *of);
/* `(row).name`, or name(row). */
void rw_row_places_select(rw_row_places *places, const PgQuery__ColumnRef *row,
                          const rw_star_item *of, const char *name);
/* When all is noted. False: the error of `reading`. */
PGW_MUST_CHECK bool rw_row_places_judge(const rw_row_places *places, pgw_slice text,
                                        const pgw_reading *reading);

#endif
