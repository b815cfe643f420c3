/*
 * rows: the data of a COPY … FROM STDIN as it comes, cut into rows as PostgreSQL's own COPY cuts
 * them, each with one more field at its end. The client's own bytes pass as they are.
 */
#ifndef PGW_COPY_ROWS_H
#define PGW_COPY_ROWS_H

#include "protocol/copy/fields.h"

/* `options` and what they point to must live as long. Freed by pgw_copy_free(). */
pgw_copy *pgw_copy_new(const pgw_copy_options *options, pgw_copy_fill *fill, void *context);
/* Has plain rows passed by this function instead of the usual one. */
void pgw_copy_pass_by(pgw_copy *copy, pgw_copy_pass *pass);
/* The next bytes of the data, cut anywhere; what the server is to get for them is appended to
 * `out`: at most the added fields more a row, and never a byte less. */
void pgw_copy_feed(pgw_copy *copy, pgw_slice bytes, pgw_buf *out);
/* The data has ended: the last row may have come without the end of its line. A backslash that ends
 * it is left away, as the server does. */
void pgw_copy_finish(pgw_copy *copy, pgw_buf *out);
/* How many rows have had their field added. */
uint64_t pgw_copy_rows(const pgw_copy *copy);
/* How many bytes the row that ended on line `line` (from 1, as PostgreSQL counts) had before the
 * added field, or how many of ASCII if the data is not in UTF8: they are as many in any encoding.
 * More than PGW_COPY_LINE_MOST, and a row that has not ended, count as that. False: it is not known
 * any more. */
PGW_MUST_CHECK bool pgw_copy_line(const pgw_copy *copy, uint64_t line, size_t *bytes);
/* The line, from 1, that the row at hand is on; while its field is added, the last one that it is
 * on. */
uint64_t pgw_copy_at_line(const pgw_copy *copy);
/* How long `out` was when the header's line had ended, without the end of the line; 0: it has not,
 * or there is none. */
size_t pgw_copy_header_end(const pgw_copy *copy);
/* What is wrong with the data up to the row at hand, or with its end, once it has ended; NULL: it
 * is cut as PostgreSQL cuts it. */
const pgw_copy_fault *pgw_copy_wrong(const pgw_copy *copy);
/* With options->every_row, while a field is added: whether the row has other than options->columns
 * fields, and how many it has. Of text and csv those that are there were read, of binary none. */
bool pgw_copy_is_odd(const pgw_copy *copy, size_t *fields);
/* What comes now is no data: it stands behind the mark that ends it. */
bool pgw_copy_has_ended(const pgw_copy *copy);
void pgw_copy_free(pgw_copy *copy); /* NULL is fine */

#endif
