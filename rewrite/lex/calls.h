/*
 * calls: what a name followed by a parenthesis may do to its session, by the name alone: it is a
 * word of the grammar, a type, or a function of PostgreSQL's own. A function of the database's that
 * has such a name is the database's affair (see the table's `quiet`).
 */
#ifndef RW_CALLS_H
#define RW_CALLS_H

#include "protocol/bytes.h"

typedef enum rw_call {
    RW_CALL_HARMLESS, /* changes nothing */
    RW_CALL_KEEPS,    /* leaves something in the link, but no setting or name: setseed */
    RW_CALL_DRAWS,    /* draws a sequence's number, or tells what was drawn: nextval, currval */
    RW_CALL_RESETS,   /* makes a sequence go on from another number: setval */
    RW_CALL_UNKNOWN
} rw_call;

/* What a call of this name may do; `name` in any case. */
rw_call rw_call_of(pgw_slice name);
/* The names that are HARMLESS, in lower case, from 0 on; NULL behind the last. */
const char *rw_call_harmless(size_t i);

#endif
