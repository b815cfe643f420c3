/*
 * terminate: a client that has said all it wants to say, by Terminate, by closing its side or by
 * vanishing. That is no cancel: what was complete before is executed and answered, as PostgreSQL
 * does, and only then the session ends.
 */
#ifndef PX_TERMINATE_H
#define PX_TERMINATE_H

#include <stdbool.h>

struct px_session;

/* Whether the link owes answers: it has to be told of the goodbye, and to end by itself. */
bool px_terminate_has_to_wait(const struct px_session *session);
/* Nothing that the client sends is looked at from now on. The session closes when the backend has
 * done what it was sent, and the client has taken the answers, or takes no more. */
void px_terminate(struct px_session *session);
/* Cancels the statement whose rows are thrown away because nobody is there, as PostgreSQL ends it
 * at its first failed send, if nothing was sent behind it on the link. From time to time. */
void px_terminate_unheard(struct px_session *session);
/* The link has ended. True: it had done all that it was sent, and the session ends. */
bool px_terminate_is_said(struct px_session *session);

#endif
