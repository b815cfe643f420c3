/*
 * passthrough_renew: before a statement that writes rows is run, it is read by the tables of now.
 */
#ifndef PX_PASSTHROUGH_RENEW_H
#define PX_PASSTHROUGH_RENEW_H

#include "proxy/client/core/session.h"

/* Reads the statement of this name (NULL: there is none) again, if the tables are others than it
 * was read by last: it is stale from then on if it would change a key, as its text stands, or if
 * nobody knows. `behind`: so it is anyway, if what stands in front of it and is not sent yet may
 * change them. DONE, unless it must wait. */
px_step px_passthrough_renew(px_session *session, px_statement *statement, pgw_slice name,
                             bool behind);

/* Whether the statement, without a plan, is an INSERT into a table that has its hash by now, by a
 * migration (`keyspread migrate`). DONE: it is none; PASS: it is one. */
px_step px_passthrough_migrated(px_session *session, px_statement *statement);

#endif
