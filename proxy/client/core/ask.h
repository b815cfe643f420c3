/*
 * ask: something that keyspread itself asks the backend over a session's own link, unseen by its
 * client.
 */
#ifndef PX_ASK_H
#define PX_ASK_H

#include "proxy/backend/schema/unseen.h"
#include "proxy/client/core/session.h"

/* Name of the question's statement and of its portal. */
#define PX_ASK_NAME PGW_LITERAL("keyspread state")

/* Writes a question to `out`; what the answers are for is marked in their replies. `sql` is no
 * longer than a message may be. */
void px_ask(px_session *session, pgw_slice sql, px_asks asks, pgw_buf *out);
/* Asks with values for the question's parameters, which are no longer than a message may be. They
 * come by Bind, which a walsender cannot send. */
void px_ask_with(px_session *session, pgw_slice sql, const px_unseen_values *values, px_asks asks,
                 pgw_buf *out);
/* A statement of a question was answered, and others of it were not. */
void px_ask_heard(px_session *session);
/* Nothing that sync_state.h or keys.h asks for is awaited any more, or yet. */
void px_ask_nothing(px_session *session);
/* Sends the question that was written, and frees `out`; the link is ready. In the middle of a group
 * there is no Sync: should anything before the question fail, it is skipped. */
void px_ask_send(px_session *session, px_asks asks, pgw_buf *out);

/* Sends statements of keyspread's own and a Sync, of which the client hears nothing, not even an
 * error; the link is ready. The reply of the Sync, valid until the next push. */
px_reply *px_ask_silently(px_session *session, const char *const *statements, size_t count);

/* Runs a statement of keyspread's own between the client's, in its group: an error of it is the
 * group's. Nothing if `sql` is empty. */
void px_ask_between(px_session *session, pgw_slice sql);

/* To wait until nothing is owed: in the middle of a group the server keeps its answers to itself
 * until it is asked. PX_WAIT_IDLE. */
px_step px_ask_for_answers(px_session *session);

#endif
