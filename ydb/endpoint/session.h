/*
 * session: does what the server machine of ydb/server asks for, by a runner at YDB. Parameters
 * become constants in texts (wording.h). There is one connection: rows that are not wanted yet are
 * put by when it is needed for something else (runs.h).
 */
#ifndef PX_YDB_SESSION_H
#define PX_YDB_SESSION_H

#include "ydb/endpoint/half.h"

/* `session` is all zero. The runner belongs to the caller, who passes on the runner's callbacks. */
void px_ydb_session_begin(px_ydb_session *session, px_link *link, px_runner *runner);
/* The link has opened. False: a setting of the client's startup parameters is refused. */
PGW_MUST_CHECK bool px_ydb_session_open(px_ydb_session *session, pgw_error *error);
void px_ydb_session_end(px_ydb_session *session);

/* Does what the machine asks for, until it asks for a message or the connection's end, or until the
 * runner is busy. */
void px_ydb_session_go_on(px_ydb_session *session);
/* The runner's on_done and on_failed; px_ydb_session_go_on() is due after them. */
void px_ydb_session_done(px_ydb_session *session, const char *tag);
void px_ydb_session_failed(px_ydb_session *session, const pgw_error *error);

#endif
