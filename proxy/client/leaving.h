/*
 * leaving: what keyspread has open of its own in a database, or for a role, is closed in all
 * workers: links for batches that are idle, sessions' idle links that can be replaced. Before DROP,
 * CREATE and ALTER DATABASE, which fail while anybody is connected.
 */
#ifndef PX_LEAVING_H
#define PX_LEAVING_H

#include "protocol/bytes.h"

struct px_session;
struct px_worker;

/* Looks at a statement that a session is about to send: true if it may go on; false: the session
 * waits (PX_WAIT_DATABASES) until the databases it names are left, and asks again then. */
bool px_leaving_first(struct px_session *session, pgw_slice text);

/* The backend lets nobody more in for `user`: idle links for batches of that role are closed. */
void px_leaving_make_room(struct px_worker *worker, const char *user);

#endif
