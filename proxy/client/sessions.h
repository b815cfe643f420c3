/*
 * sessions: the sessions of one worker, by slot: found again by messages of other threads, ticked,
 * drained at the end.
 */
#ifndef PX_SESSIONS_H
#define PX_SESSIONS_H

#include "proxy/loop/worker.h"

struct px_session;

/* Finds a place for the session, which is its slot until it leaves. */
void px_sessions_enter(struct px_session *session);
void px_sessions_leave(struct px_session *session);
/* One more than the largest slot that may be taken. */
size_t px_sessions_slots(const px_worker *worker);
struct px_session *px_sessions_at(const px_worker *worker, size_t slot); /* NULL: nobody */

/* Hands a CancelRequest to the worker of the session that was told `pid`. A wrong key is answered
 * like a right one: not. Any thread. */
void px_sessions_cancel(struct px_server *server, uint32_t pid, uint32_t key);

/* Deadlines, the end. */
extern const px_tenant px_sessions_tenant;

#endif
