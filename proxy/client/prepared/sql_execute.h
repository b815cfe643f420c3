/*
 * sql_execute: what SQL's PREPARE keeps with conditions on hashes, which the server computes, when
 * it is run: by EXECUTE, or by Bind; and other statements that EXECUTE runs, of a table whose name
 * may mean another one by now, or that may be another itself: PostgreSQL looks names up again.
 */
#ifndef PX_SQL_EXECUTE_H
#define PX_SQL_EXECUTE_H

#include "proxy/client/core/session.h"

/* Where the tables are others than when it was prepared, or names mean others, the statement (NULL,
 * or of any kind) is without conditions from now on. The link is ready. DONE, or the session waits.
 */
px_step px_sql_execute_renew_one(px_session *session, px_statement *statement);
/* Renews each statement that an EXECUTE in the text names, as px_sql_execute_renew_one() does; one
 * that is run behind what may change tables loses its conditions. One without conditions is stale
 * from then on if its table may be another. */
px_step px_sql_execute_renew(px_session *session, pgw_slice text);
/* Whether names mean others than when the statement was prepared; the error says so (0A000). */
PGW_MUST_CHECK bool px_sql_execute_has_moved(const px_session *session,
                                             const px_statement *statement, pgw_error *error);

/* Whether an EXECUTE in the text names a statement that has such conditions. */
bool px_sql_execute_is_executed(const px_session *session, pgw_slice text);

#endif
