/*
 * session: statements about a session's settings, done on its variables: SET, RESET, SHOW, SELECT
 * set_config(…), current_setting(…), the modes of BEGIN, and what DISCARD does to them; UNLISTEN.
 */
#ifndef RW_SESSION_H
#define RW_SESSION_H

#include "ydb/plain/variables.h"

#include "protocol/value.h"

typedef struct rw_said {
    const char *tag;
    pgw_slice columns;      /* the body of a RowDescription, all text; empty: there are no rows */
    const pgw_slice *cells; /* the cells row by row; {NULL, 0} is a NULL */
    size_t rows, width;
    pgw_error warning; /* a warning to be sent before the tag; no SQLSTATE: there is none */
} rw_said;

/* Whether a SELECT calls set_config() and current_setting() alone, with constants and parameters.
 * May use libpg_query, and needs up to 64 MiB of stack then; so may the functions below. */
PGW_MUST_CHECK bool rw_session_selects(pgw_slice text, const pgw_reading *reading);
/* Tells the columns of a statement about settings, whose parameters may still be there. False: it
 * is refused. */
PGW_MUST_CHECK bool rw_session_describe(const rw_variables *variables, pgw_slice text,
                                        const pgw_reading *reading, rw_said *out);
/* Runs a statement about settings; constants stand for its parameters. `in_block`: between BEGIN
 * and COMMIT, or in a Query of several statements. What `out` holds belongs to the arena. */
PGW_MUST_CHECK bool rw_session_run(rw_variables *variables, pgw_slice text, bool in_block,
                                   const pgw_reading *reading, rw_said *out);

#endif
