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
    const rw_field **fields; /* that it mentions */
    size_t count;
} rw_shown;

/* Whether it is at `*` or `t.*` of this list, not a product. */
bool rw_at_star(const rw_cursor *cursor, rw_part list);
/* Which fields it mentions. False: it may ask for more than those (0A000). */
PGW_MUST_CHECK bool rw_shown_read(const rw_subject *subject, const rw_values *values,
                                  rw_shown *out);

/* Whether what a row has there of its cell can be told without it; else 0A000. */
PGW_MUST_CHECK bool rw_shown_check(const rw_subject *subject, const rw_field *field, rw_part cell);

/* They wrap the rows that come between as the statement's table: SELECT list FROM ( … ) AS t. They
 * have the fields and, if they are `numbered`, a number in front, in whose order they come. */
void rw_shown_begin(const rw_clauses *clauses, rw_weave *out);
void rw_shown_end(const rw_clauses *clauses, const rw_shown *shown, bool numbered, rw_weave *out);

/* INSERT … VALUES … RETURNING of what is certain. */
PGW_MUST_CHECK bool rw_shown_insert(const rw_subject *subject, rw_weave *out);
/* DELETE … RETURNING, and UPDATE … RETURNING. */
PGW_MUST_CHECK bool rw_shown_change(const rw_subject *subject, rw_weave *out);

#endif
