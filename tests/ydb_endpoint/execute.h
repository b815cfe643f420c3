/*
 * execute: a statement that has been let through, at the store: its rows and its tag on their way
 * to the client.
 */
#ifndef YE_EXECUTE_H
#define YE_EXECUTE_H

#include "tests/ydb_endpoint/session.h"

typedef struct ye_request {
    pgw_slice text;       /* a NUL stands behind */
    const pgw_buf *bind;  /* the Bind message for the store; NULL: a simple Query */
    const char *unusable; /* not NULL: why the parameters cannot be used */
} ye_request;

/* Writes rows and tag. False: it failed; the session's transaction is as it was. */
PGW_MUST_CHECK bool ye_execute(ye_session *session, const ye_request *request, ye_failure *failure);

/* RowDescription with this body as the endpoint sends it: neither tables nor formats (1.4.8). */
void ye_write_columns(pgw_slice body, pgw_buf *out);
/* Makes sure that the link aside is open. */
PGW_MUST_CHECK bool ye_open_aside(ye_session *session, ye_failure *failure);

#endif
