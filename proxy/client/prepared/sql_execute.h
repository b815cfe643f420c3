/*
 * sql_execute: what SQL's PREPARE keeps with conditions on hashes, which the server computes, when
 * it is run: by EXECUTE, or by Bind.
 */
#ifndef PX_SQL_EXECUTE_H
#define PX_SQL_EXECUTE_H

#include "proxy/client/core/session.h"

/* Where the tables are others than when it was prepared, or names mean others, the statement (NULL,
 * or of any kind) is without conditions from now on. The link is ready. DONE, or the session waits.
 */
px_step px_sql_execute_renew_one(px_session *session, px_statement *statement);
/* Renews each statement that an EXECUTE in the text names, as px_sql_execute_renew_one() does; one
 * that is run behind what may change tables loses its conditions. */
px_step px_sql_execute_renew(px_session *session, pgw_slice text);

/* Whether an EXECUTE in the text names a statement that has such conditions. */
bool px_sql_execute_is_executed(const px_session *session, pgw_slice text);

#endif
