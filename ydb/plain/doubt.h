/*
 * doubt: finds, by the words of a text, what may be another result or more rows when it is asked a
 * second time in a transaction: volatile functions, functions that give sets, LIMIT in brackets.
 */
#ifndef RW_DOUBT_H
#define RW_DOUBT_H

#include "ydb/plain/cursor.h"

typedef enum rw_doubt {
    RW_DOUBT_VOLATILE = 1 << 0, /* a function whose result may change: random(), nextval() */
    RW_DOUBT_SETS = 1 << 1,     /* a function that gives rows: unnest(), generate_series() */
    RW_DOUBT_CHOICE = 1 << 2,   /* LIMIT or DISTINCT ON in brackets: other rows may come */
    RW_DOUBT_MOMENT = 1 << 3,   /* a time that is the same in a transaction, not beyond: now() */
    RW_DOUBT_UNTYPED = 1 << 4   /* a string or NULL by itself, which takes the type of its place */
} rw_doubt;

/* The first word or constant of a part that raises one of the doubts `asked` for; empty: there is
 * none. Functions are PostgreSQL's own: the endpoint knows no others. */
rw_part rw_find_doubt(pgw_slice text, rw_part part, unsigned asked, bool conforming);

/* Whether a part of a text asks for rows. */
bool rw_has_query(pgw_slice text, rw_part part, bool conforming);

/* The name of this table in a part of a text that holds a query, where it is no column's qualifier:
 * the query may read the table. Empty: none does. */
rw_part rw_find_query_of(pgw_slice table, pgw_slice text, rw_part part, bool conforming);

#endif
