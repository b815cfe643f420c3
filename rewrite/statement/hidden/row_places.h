/*
 * row_places: system columns that tell a row's partition, of tables whose hash column is hidden.
 * `tableoid` becomes the table's; a write that finds rows by `ctid`, which rows of two partitions
 * may share, is refused.
 */
#ifndef RW_ROW_PLACES_H
#define RW_ROW_PLACES_H

#include "protocol/error.h"
#include "rewrite/statement/edit/edit_writer.h"

/* What is known of a statement while it is looked through; begins as zeros but for `statement`. */
typedef struct rw_row_places {
    const PgQuery__Node *statement;
    bool read, taken; /* `taken` has been read; the statement calls something of its own tableoid */
    const PgQuery__ColumnRef *ctid; /* the first reference to `ctid`; NULL: none */
    const rw_table *written; /* partitioned table that UPDATE, DELETE or MERGE writes; NULL: none */
} rw_row_places;

/* Notes that the statement writes the item. */
void rw_row_places_write(rw_row_places *places, const rw_query_scope_item *item);
/* Notes a reference in the query `scope`. `of`: the item that is named before it, or NULL. True:
 * something stands in its place. */
bool rw_row_places_note(rw_row_places *places, rw_edit_writer *texts, const rw_query_scope *scope,
                        const PgQuery__ColumnRef *at, const rw_query_scope_item *of);
/* Notes `(row).name` or `name(row)`. */
void rw_row_places_select(rw_row_places *places, const PgQuery__ColumnRef *row,
                          const rw_query_scope_item *of, const char *name);
/* Judges once all is noted. False: the error of `reading` is filled. */
PGW_MUST_CHECK bool rw_row_places_judge(const rw_row_places *places, pgw_slice text,
                                        const pgw_reading *reading);

#endif
