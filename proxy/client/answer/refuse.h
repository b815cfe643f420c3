/*
 * refuse: the message at hand gets an error of ours, where the server's would stand: here, or in a
 * transaction that lives on at the backend and must fail there as well.
 */
#ifndef PX_REFUSE_H
#define PX_REFUSE_H

#include "protocol/error.h"

struct px_session;

/* Answers an error to the message at hand: here if the session is idle, else by a statement that
 * must fail in the link's transaction. `extended`: then skip until Sync. */
void px_refuse(struct px_session *session, const pgw_error *error, bool extended);
/* Whether the server's own words about a refused text are to be heard: it is none of PostgreSQL's
 * grammar, or of a transaction that has failed. `statements`: how many a Query has; 1 for Parse. */
bool px_refuse_hears(const struct px_session *session, pgw_slice text, size_t statements);
/* Shows a refused text to the link (ready) as a Parse, so that nothing of it can run; what the
 * server says of it is the error. Should it have nothing to say, `error` is. */
void px_refuse_unread(struct px_session *session, pgw_slice text, const pgw_error *error,
                      bool extended);
/* Drops what has come of the message at hand, and of the group, and what still comes: the client
 * gets the error, as it would for a statement. */
void px_refuse_message(struct px_session *session, const pgw_error *error);
/* Answers the statement at hand with the error of what it waits for. */
void px_refuse_waiting(struct px_session *session, const pgw_error *error);
/* Does what px_refuse_waiting() does for an error in the session's own transaction, which has
 * failed by it. */
void px_refuse_failed(struct px_session *session, const pgw_error *error);
/* Refuses with 57014 a statement that waits for a link or the catalog, and is not sent yet. */
void px_refuse_cancelled(struct px_session *session);

#endif
