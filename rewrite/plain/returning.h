/*
 * returning: what a statement with RETURNING is described by, before it is run.
 */
#ifndef RW_RETURNING_H
#define RW_RETURNING_H

#include "protocol/value.h"

/* A query that has the columns of the statement's RETURNING, whatever rows; empty if it has none.
 * Of one statement, clean, its parameters already NULLs with types. Lives in the arena. False: the
 * statement is none of PostgreSQL's grammar, or YDB has no such one; the error is filled. */
PGW_MUST_CHECK bool rw_returning_query(pgw_slice text, const pgw_reading *reading, pgw_slice *out);

#endif
