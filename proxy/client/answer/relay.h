/*
 * relay: a client's message on its way to the own link, or nowhere: as it is, and as it comes, for
 * its body may be of any size.
 */
#ifndef PX_RELAY_H
#define PX_RELAY_H

#include "protocol/error.h"
#include "protocol/frame.h"

struct px_session;

/* To the link (ready): what is here of the message; the rest follows by px_relay_on(). */
void px_relay(struct px_session *session, pgw_frame frame);
/* Likewise, but a text that must name no configured table, which is looked for on the way: one that
 * is found there ends the session with 54000, and the backend, which never gets the rest, does
 * nothing of it. */
void px_relay_text(struct px_session *session, pgw_frame frame);
/* Whether a part of a text may name a configured table. */
bool px_relay_names_ours(const struct px_session *session, pgw_slice text);
/* What is told of a statement for such a table that is too large to hold: 54000. */
void px_relay_fail_large(pgw_error *error);
/* The data of a COPY of ours (CopyData), each row of it with its hash. */
void px_relay_copied(struct px_session *session, pgw_frame frame);
/* Nowhere. */
void px_relay_drop(struct px_session *session, pgw_frame frame);
/* Nowhere: the message at hand, which was answered. */
void px_relay_drop_message(struct px_session *session);
/* More of the message has come. False: it has not, or the session was closed. */
bool px_relay_on(struct px_session *session);

#endif
