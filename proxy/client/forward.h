/*
 * forward: messages about configured tables, rewritten, to the session's own link; and what is sent
 * there that the client never sent: Parse of recorded statements, Describe of new ones, Close.
 */
#ifndef PX_FORWARD_H
#define PX_FORWARD_H

#include "protocol/frontend.h"
#include "proxy/client/session.h"
#include "rewrite/read/script.h"

/* Of each the link must be ready. */
void px_forward_parse(px_session *session, pgw_slice name, px_plan *plan);
void px_forward_bind(px_session *session, const pgw_bind *bind, px_plan *plan, bool swallow);
/* A message as it is, whose replies and errors are about `plan` (may be NULL). */
px_reply *px_forward_raw(px_session *session, px_reply_kind kind, px_plan *plan, bool swallow,
                         pgw_slice message);
/* Prepares a statement that the link has not seen yet, for it was recorded here or prepared on a
 * link that was lost; nothing if it has. */
void px_forward_recorded(px_session *session, pgw_slice name);
/* … with a Sync of its own, and its error is not shown: SQL says the name. */
void px_forward_named(px_session *session, pgw_slice name);
/* … those that PREPARE and DEALLOCATE name: one clashes, one is dropped. */
void px_forward_script(px_session *session, const rw_script *script);
/* … those that EXECUTE names; whether there may be one. `text` ends with NUL. */
bool px_forward_may_execute(const px_session *session, pgw_slice text);
void px_forward_executed(px_session *session, pgw_slice text);
/* Closes a statement; the client is not told. */
void px_forward_close(px_session *session, pgw_slice name);
void px_forward_close_unsynced(px_session *session, pgw_slice name); /* in a group that goes on */
/* The unnamed statement is gone, on the link, too. */
void px_forward_drop_unnamed(px_session *session);

/* The first new statement of the held group that the backend has not described (or, with `keys`,
 * whose parameters have types that only it can tell) is described now. False: the session waits. */
bool px_forward_describe(px_session *session, bool keys);
/* The backend refused a statement it was to describe; the client has been told. */
void px_forward_refused(px_session *session);
/* It did so for what is held, with an ErrorResponse of this body: true if the client is to be told
 * by px_forward_failing, at ReadyForQuery: what stands before it is done and answered first. */
bool px_forward_fails(px_session *session, pgw_slice body);
void px_forward_failing(px_session *session);
/* Sends the held messages, rewritten. False: the session waits. */
bool px_group_release(px_session *session);

#endif
