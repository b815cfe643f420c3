/*
 * leaving: what keyspread has open of its own in a database is closed in all workers: links for
 * batches that are idle, sessions' idle links that can be replaced. Before DROP, CREATE and ALTER
 * DATABASE, which fail while anybody is connected.
 */
#ifndef PX_LEAVING_H
#define PX_LEAVING_H

#include "protocol/bytes.h"
#include "proxy/client/core/states.h"

struct px_session;

/* Looks at a statement that a session is about to send. DONE: it may go on; else the session waits
 * until the databases it names are left, and asks again then. */
px_step px_leaving_first(struct px_session *session, pgw_slice text);

#endif
