/*
 * run: one statement, from its text to its reply: rows, tag or error, which are added to the
 * session's `out`. Faults that were ordered strike here.
 */
#ifndef YE_RUN_H
#define YE_RUN_H

#include "tests/ydb_endpoint/execute.h"

void ye_run(ye_session *session, const ye_request *request);

/* The body of a RowDescription with one column of type text. */
void ye_shown_row(const char *name, pgw_buf *out);

#endif
