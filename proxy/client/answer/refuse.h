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
/* … The link (ready) is shown it, as a Parse, so that nothing of it can run; what it says of it is
 * the error. Should it have nothing to say, `error` is. */
void px_refuse_unread(struct px_session *session, pgw_slice text, const pgw_error *error,
                      bool extended);
/* What has come of the message at hand, and of the group, is dropped, and so is what still comes:
 * the client gets the error, as it would for a statement. */
void px_refuse_message(struct px_session *session, const pgw_error *error);
/* What the statement at hand waits for has failed: it gets the error. */
void px_refuse_waiting(struct px_session *session, const pgw_error *error);
/* … which was run in the session's own transaction, so that this has failed, too. */
void px_refuse_failed(struct px_session *session, const pgw_error *error);
/* A statement that waits for a link or the catalog, not sent yet: 57014. */
void px_refuse_cancelled(struct px_session *session);

#endif
