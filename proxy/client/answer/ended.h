/*
 * ended: the end of a transaction whose BEGIN was answered here, and of which the server was told
 * nothing but, perhaps, that BEGIN: its client is outside of any transaction from now on.
 */
#ifndef PX_ENDED_H
#define PX_ENDED_H

#include "protocol/bytes.h"

struct px_session;

/* Forgets the BEGIN, and what was kept of its transaction; the server's own, if it has one, is
 * rolled back unseen. The caller answers the client. */
void px_ended(struct px_session *session);
/* Ends the transaction as px_ended() does, for the COMMIT at hand of what was kept (begun.h). The
 * COMMIT gets this answer (an ErrorResponse, or its CommandComplete) and ReadyForQuery, and is
 * consumed. */
void px_ended_commit(struct px_session *session, const pgw_buf *answer);
/* Notes what the begin or end of a transaction makes dirty. */
void px_ended_note(struct px_session *session);

#endif
