/*
 * executed_names: statements that EXECUTE runs, of a table whose name may mean another one by now,
 * or that may be another itself: PostgreSQL looks names up again.
 */
#ifndef PX_EXECUTED_NAMES_H
#define PX_EXECUTED_NAMES_H

#include "proxy/client/core/session.h"

/* Looks at the tables, and asks what names mean, if the statement (NULL: none) is such a one.
 * `behind`: it is stale anyway, if what stands in front of it, and is not sent yet, may change
 * either. DONE, or the session waits. */
px_step px_executed_names_renew(px_session *session, px_statement *statement, bool behind);
/* Whether names mean others than when it was prepared; the error says so (0A000). */
PGW_MUST_CHECK bool px_executed_names_moved(const px_session *session,
                                            const px_statement *statement, pgw_error *error);
/* Whether what begins with the word may change what names mean. */
bool px_executed_names_move_by(const px_session *session, pgw_slice text, rw_token first);

#endif
