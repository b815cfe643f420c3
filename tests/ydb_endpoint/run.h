/*
 * run: one statement, from its text to its reply: rows, tag or error. Nothing here knows messages
 * of the client; what is written goes to the session's `out`.
 */
#ifndef YE_RUN_H
#define YE_RUN_H

#include "tests/ydb_endpoint/session.h"

typedef struct ye_request {
    pgw_slice text;       /* a NUL stands behind */
    const pgw_buf *bind;  /* the Bind message for the store; NULL: a simple Query */
    const char *unusable; /* not NULL: why the parameters cannot be used */
} ye_request;

void ye_run(ye_session *session, const ye_request *request);

/* RowDescription with this body as the endpoint sends it: neither tables nor formats (1.4.8). */
void ye_write_columns(pgw_slice body, pgw_buf *out);
/* The body of a RowDescription with one column of type text. */
void ye_shown_row(const char *name, pgw_buf *out);
/* Makes sure that the link aside is open. */
PGW_MUST_CHECK bool ye_open_aside(ye_session *session, ye_failure *failure);

#endif
