/*
 * failure: errors and notices of a session's own link, as its client may see them, and what a
 * server skips behind an error.
 */
#ifndef PX_FAILURE_H
#define PX_FAILURE_H

#include "proxy/client/core/session.h"

/* What becomes of a message of the link. */
typedef enum px_fate {
    PX_SHOW,   /* the client gets it as it is */
    PX_HIDE,   /* the client never sent what this answers */
    PX_INSTEAD /* something was written in its place */
} px_fate;

px_fate px_failure(px_session *session, pgw_slice body);
/* ReadyForQuery came behind what begins a refused transaction once more, which must have failed.
 * False: it has not, and the session ends. */
PGW_MUST_CHECK bool px_failure_begun_again(px_session *session);
/* Shows a notice; it, too, has positions and contexts. `head`: the reply that it comes with; may be
 * NULL. */
px_fate px_failure_notice(px_session *session, const px_reply *head, pgw_slice body);
/* Whether the text of the reply was sent with something of keyspread's in it. */
bool px_failure_is_of_ours(const px_reply *head);
/* Writes a message to the client. */
void px_failure_put(px_session *session, char type, const pgw_buf *body);

#endif
