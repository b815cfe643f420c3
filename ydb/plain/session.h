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
    pgw_slice columns;      /* the body of a RowDescription; empty: no rows. All are text */
    const pgw_slice *cells; /* of all rows, one after the other; {NULL, 0} is a NULL */
    size_t rows, width;
    pgw_error warning; /* to be told in front of the tag; no SQLSTATE: none */
} rw_said;

/* Whether a SELECT is one of set_config() and current_setting() alone, of constants and parameters.
 * May use libpg_query, and needs up to 64 MiB of stack then; so may the others. */
PGW_MUST_CHECK bool rw_session_selects(pgw_slice text, const pgw_reading *reading);
/* The columns of such a statement, whose parameters may still be there. False: refused. */
PGW_MUST_CHECK bool rw_session_describe(const rw_variables *variables, pgw_slice text,
                                        const pgw_reading *reading, rw_said *out);
/* Does it; parameters have been put in. `in_block`: within BEGIN and COMMIT, or a Query of several
 * statements. All that is said belongs to the arena. */
PGW_MUST_CHECK bool rw_session_run(rw_variables *variables, pgw_slice text, bool in_block,
                                   const pgw_reading *reading, rw_said *out);

#endif
