/*
 * riding: a session's BEGIN that was answered here (begun.h), on its way to the link;
 * px_session_send() lets it go first.
 */
#ifndef PX_RIDING_H
#define PX_RIDING_H

#include "protocol/bytes.h"

struct px_session;

/* Begins: the client has the answer to its BEGIN. Takes the messages over: Parse, Bind and Execute;
 * `closes`: and Close of the portal and of the statement, which are to leave nothing there. */
void px_riding_begin(struct px_session *session, pgw_buf messages, bool closes);
/* Ends the BEGIN that was answered here; nothing happens if there is none. */
void px_riding_end(struct px_session *session);
/* Sends the BEGIN without company: then the server knows of the transaction, and counts its times.
 */
void px_riding_go_alone(struct px_session *session);
/* Whether what the client sends next must wait until the BEGIN is answered. */
bool px_riding_holds_back(const struct px_session *session);
/* The server has answered the BEGIN. */
void px_riding_arrived(struct px_session *session);
/* The server has heard of the transaction, or it has failed there: no INSERT of it is kept any
 * more. Nothing happens if there is none. */
void px_riding_is_ordinary(struct px_session *session);
/* A NotificationResponse of this body has come. True: it is kept for the end of the transaction. */
bool px_riding_hears(struct px_session *session, pgw_slice body);
/* The transaction has ended: what was kept is put to the client. */
void px_riding_tell(struct px_session *session);
/* A Sync was sent behind a BEGIN that the server refused: now the transaction is begun once more,
 * and made to fail. */
void px_riding_fail_there(struct px_session *session);

#endif
