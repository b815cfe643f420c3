/*
 * session: one link's half of a server: what the machine of ydb/server asks for is done by a
 * runner at YDB. Statements become texts, with parameters as constants (wording.h), and rows what
 * the client asked for. There is one connection: rows that nobody wants yet are put by when it is
 * needed for something else (runs.h).
 */
#ifndef PX_YDB_SESSION_H
#define PX_YDB_SESSION_H

#include "ydb/endpoint/half.h"

/* `session` is all zero. The runner is the caller's, who passes on what it tells. */
void px_ydb_session_begin(px_ydb_session *session, px_link *link, px_runner *runner);
/* The link has opened. False: what its client has set at its start is refused. */
PGW_MUST_CHECK bool px_ydb_session_open(px_ydb_session *session, pgw_error *error);
void px_ydb_session_end(px_ydb_session *session);

/* Does what the machine asks for, until that is a message, or the connection's end, or the runner
 * is at it. */
void px_ydb_session_go_on(px_ydb_session *session);
/* What the runner tells of what it does; go_on() is due then. */
void px_ydb_session_done(px_ydb_session *session, const char *tag);
void px_ydb_session_failed(px_ydb_session *session, const pgw_error *error);

#endif
