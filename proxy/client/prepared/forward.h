/*
 * forward: messages about configured tables, rewritten, to the session's own link.
 */
#ifndef PX_FORWARD_H
#define PX_FORWARD_H

#include "protocol/frontend.h"
#include "proxy/client/core/client_message.h"
#include "proxy/client/core/replies.h"
#include "proxy/client/core/states.h"

struct px_session;

/* Sends a Parse. For this, and for what follows, the link must be ready. DONE, unless only the
 * backend can tell the types of its parameters, which it was asked for. */
px_step px_forward_parse(struct px_session *session, pgw_slice name, px_plan *plan);
/* Sends a Bind, or refuses it; but where what is known of the table may be old, that is looked at
 * first. `rest`: of the Bind only the beginning is here, with all that its keys need, and is sent;
 * NULL: all of it is. */
px_step px_forward_bind(struct px_session *session, const pgw_bind *bind, px_plan *plan,
                        bool swallow, px_rest *rest);
/* Sends a message as it is; its replies and errors are about `plan` (may be NULL). */
px_reply *px_forward_raw(struct px_session *session, px_reply_kind kind, px_plan *plan,
                         bool swallow, pgw_slice message);

/* Sends the held messages, if there are any, rewritten. */
PGW_MUST_CHECK px_step px_forward_group(struct px_session *session);
/* Sends the first `count` held messages, rewritten; the others are dropped. */
PGW_MUST_CHECK px_step px_forward_held(struct px_session *session, size_t count);
/* The backend refused a statement that it was to describe for what is held, with an ErrorResponse
 * of this body: true if the client is to be told by px_forward_failing(), at ReadyForQuery: what
 * stands before it is done and answered first, unless a transaction has failed by it. */
bool px_forward_fails(struct px_session *session, pgw_slice body);
void px_forward_failing(struct px_session *session);

#endif
