/*
 * shown: the rows of RETURNING as a SELECT gives them: from the values of an INSERT, from the rows
 * that a DELETE will take, and from those that an UPDATE will change with what they will be.
 */
#ifndef RW_SHOWN_H
#define RW_SHOWN_H

#include "ydb/plain/set_items.h"
#include "ydb/plain/values.h"

/* What RETURNING asks for. */
typedef struct rw_shown {
    const rw_field **fields; /* the fields that RETURNING mentions */
    size_t count;
} rw_shown;

/* Whether the cursor is at `*` or `t.*` of this list, not at a product. */
bool rw_at_star(const rw_cursor *cursor, rw_part list);
/* Reads which fields RETURNING mentions. False: it may ask for more than those (0A000). */
PGW_MUST_CHECK bool rw_shown_read(const rw_subject *subject, const rw_values *values,
                                  rw_shown *out);

/* Whether the value that a field gets from a cell is known before the row is written; else
 * 0A000. */
PGW_MUST_CHECK bool rw_shown_check(const rw_subject *subject, const rw_field *field, rw_part cell);

/* Begin and end a query of the rows that come between, which stand for the statement's table:
 * SELECT list FROM ( … ) AS t. The rows have the fields of `shown` and, if they are `numbered`, a
 * number in front, by which they are ordered. */
void rw_shown_begin(const rw_clauses *clauses, rw_weave *out);
void rw_shown_end(const rw_clauses *clauses, const rw_shown *shown, bool numbered, rw_weave *out);

/* Adds the query that shows the rows of INSERT … VALUES … RETURNING. False: a value is not
 * certain. */
PGW_MUST_CHECK bool rw_shown_insert(const rw_subject *subject, rw_weave *out);
/* Adds the query that shows the rows of DELETE … RETURNING or UPDATE … RETURNING. */
PGW_MUST_CHECK bool rw_shown_change(const rw_subject *subject, rw_weave *out);

#endif
