/*
 * inert: Bind, perhaps Describe, Execute and Sync of a statement that keyspread has nothing to do
 * with, in a session in which nothing of ours is possible: they go to the own link together, and
 * all their answers are one reply.
 */
#ifndef PX_INERT_H
#define PX_INERT_H

#include "proxy/client/core/session.h"

/* Whether a statement of this text, which names no configured table, may go so: it copies nothing,
 * and is no command. */
bool px_inert_may_be(pgw_slice text);
/* Relays such messages, if they are what the client has sent next, and all there. False: nothing
 * was done. */
PGW_MUST_CHECK bool px_inert_relay(px_session *session);

#endif
