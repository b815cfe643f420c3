/*
 * leaving: what keyspread has open of its own in a database is closed in all workers: links for
 * batches that are idle, sessions' idle links that can be replaced. Before DROP, CREATE and ALTER
 * DATABASE, which fail while anybody is connected.
 */
#ifndef PX_LEAVING_H
#define PX_LEAVING_H

#include "protocol/bytes.h"

struct px_session;

/* Looks at a statement that a session is about to send: true if it may go on; false: the session
 * waits (PX_WAIT_DATABASES) until the databases it names are left, and asks again then. */
bool px_leaving_first(struct px_session *session, pgw_slice text);

#endif
