/*
 * relay: a client's message on its way to the own link, or nowhere: as it is, and as it comes, for
 * its body may be of any size.
 */
#ifndef PX_RELAY_H
#define PX_RELAY_H

#include "protocol/error.h"
#include "protocol/frame.h"
#include "proxy/client/core/client_message.h"

struct px_session;

/* Relays to the link (ready) what is here of the message; the rest follows by px_relay_on(). */
void px_relay(struct px_session *session, pgw_frame frame);
/* Relays a text that must name no configured table, which is looked for on the way: one that is
 * found there ends the session with 54000, and the backend, which never gets the rest, does nothing
 * of it. */
void px_relay_text(struct px_session *session, pgw_frame frame);
/* Whether a part of a text may name a configured table. */
bool px_relay_names_ours(const struct px_session *session, pgw_slice text);
/* Writes the error 54000 of a statement for a configured table that is too large to hold. */
void px_relay_fail_large(pgw_error *error);
/* Relays the data of a COPY of a configured table (CopyData), each row of it with its hash. */
void px_relay_copied(struct px_session *session, pgw_frame frame);
/* Relays what follows the first `begun` bytes of a Bind, which the link has in another form. Takes
 * rest->behind over. */
void px_relay_rest(struct px_session *session, pgw_frame frame, size_t begun, px_rest *rest);
/* Frees what px_relay_rest() keeps, for a session that ends. */
void px_relay_forget_rest(struct px_session *session);
/* Drops a message as it comes. */
void px_relay_drop(struct px_session *session, pgw_frame frame);
/* Drops the first `len` bytes, which are there: `frame` begins behind them, and is at hand. */
void px_relay_drop_before(struct px_session *session, size_t len, pgw_frame frame);
/* Drops the message at hand, which was answered. */
void px_relay_drop_message(struct px_session *session);
/* Relays more of the message. False: no more has come, or the session was closed. */
bool px_relay_on(struct px_session *session);

#endif
