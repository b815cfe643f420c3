/*
 * sessions: the table of one worker's sessions, by slot: found again by messages of other threads.
 */
#ifndef PX_SESSIONS_H
#define PX_SESSIONS_H

#include "proxy/loop/worker.h"

struct px_session;

/* Finds a place for the session, which is its slot until it leaves. */
void px_sessions_enter(struct px_session *session);
void px_sessions_leave(struct px_session *session);
/* One more than the largest slot that is taken. */
size_t px_sessions_slots(const px_worker *worker);
struct px_session *px_sessions_at(const px_worker *worker, size_t slot); /* NULL: nobody */

/* Frees the table; all sessions have left. */
void px_sessions_free(px_worker *worker);

#endif
