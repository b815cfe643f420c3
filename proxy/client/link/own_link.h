/*
 * own_link: a session's own link is lost, or left: what goes on with another one, and what cannot.
 */
#ifndef PX_OWN_LINK_H
#define PX_OWN_LINK_H

#include "proxy/backend/base/slots.h"

struct px_session;

/* Whether the own link, should it be lost now, can be replaced without the client's noticing. */
bool px_own_link_is_replaceable(const struct px_session *session);
void px_own_link_lose(struct px_session *session, const char *reason);
/* Closes the own link if that goes unnoticed. */
void px_own_link_leave(struct px_session *session);
/* The session waits for a link no longer: its turn is another's. A link that is being opened
 * already stays. */
void px_own_link_forgo(struct px_session *session);
/* Closes the own link if it is, or may be, without state, and others need it more. */
px_yield px_own_link_yield(struct px_session *session);
/* Has the own link tell whether what was read there can have left state, if nothing else is in the
 * way of its yielding. False: it cannot. */
bool px_own_link_learn(struct px_session *session);

#endif
