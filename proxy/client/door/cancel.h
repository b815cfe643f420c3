/*
 * cancel: a CancelRequest finds the session that it is for.
 */
#ifndef PX_CANCEL_H
#define PX_CANCEL_H

#include "protocol/bytes.h"
#include "proxy/loop/worker.h"

struct px_session;

/* Writes the key by which the session is cancelled, of PGW_CANCEL_KEY or PGW_CANCEL_KEY_LONG bytes.
 */
void px_cancel_key(const struct px_session *session, pgw_buf *out);
/* Hands a CancelRequest to the worker of the session that was told `pid`. A wrong key is answered
 * like a right one: not. Any thread. */
void px_sessions_cancel(struct px_server *server, uint32_t pid, pgw_slice key);

#endif
