/*
 * copied_out: a COPY … TO STDOUT for a server that has no COPY: the SELECT whose rows it gives, and
 * these rows as data of text, csv or binary.
 */
#ifndef RW_COPIED_OUT_H
#define RW_COPIED_OUT_H

#include "protocol/value.h"

typedef struct rw_copied_out rw_copied_out;

/* Reads a statement that begins with COPY and is no COPY FROM. In the reading's arena. NULL: the
 * statement is refused, and the error is filled. */
PGW_MUST_CHECK rw_copied_out *rw_copied_out_new(pgw_slice text, const pgw_reading *reading);
pgw_slice rw_copied_out_query(const rw_copied_out *out);
bool rw_copied_out_is_binary(const rw_copied_out *out);
/* Appends what stands before all rows. `columns`: the body of the rows' RowDescription; what is
 * kept of it is in `arena`. Returns the number of columns. */
size_t rw_copied_out_begin(rw_copied_out *out, pgw_slice columns, pgw_arena *arena, pgw_buf *bytes);
/* Appends a row, whose cells are text; {NULL, 0} is a NULL. False: a value has no binary form
 * here. */
PGW_MUST_CHECK bool rw_copied_out_row(rw_copied_out *out, const pgw_slice *cells, size_t count,
                                      pgw_buf *bytes, pgw_error *error);
/* Appends what stands behind all rows; returns the number of rows. */
uint64_t rw_copied_out_end(const rw_copied_out *out, pgw_buf *bytes);

#endif
