/*
 * moved: statements that EXECUTE runs, of a table whose name may mean another one by now, or that
 * may be another itself: PostgreSQL looks names up again.
 */
#ifndef PX_MOVED_H
#define PX_MOVED_H

#include "proxy/client/core/session.h"

/* Looks at the tables, and asks what names mean, if the statement (NULL: none) is such a one.
 * `behind`: it is stale anyway, if what stands in front of it, and is not sent yet, may change
 * either. DONE, or the session waits. */
px_step px_moved_renew(px_session *session, px_statement *statement, bool behind);
/* Whether names mean others than when it was prepared; the error says so (0A000). */
PGW_MUST_CHECK bool px_moved_is(const px_session *session, const px_statement *statement,
                                pgw_error *error);
/* Whether what begins with the word may change what names mean. */
bool px_moved_by(const px_session *session, pgw_slice text, rw_token first);

#endif
