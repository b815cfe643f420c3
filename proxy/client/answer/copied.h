/*
 * copied: a client's COPY … FROM STDIN of a configured table: its data on the way to the own link,
 * each row with its hash.
 */
#ifndef PX_COPIED_H
#define PX_COPIED_H

#include "protocol/error.h"
#include "rewrite/statement/copy/copy_from.h"

#include <stdbool.h>

struct px_session;
struct px_reply;

/* Whether the link has yet to say that it takes the data of one that was sent: until then, its
 * client's data has to wait. */
bool px_copied_is_owed(const struct px_session *session);
/* Whether `reply` is of one that is about to be answered. */
bool px_copied_is(const struct px_reply *reply);
/* Whether the session may send such a COPY now. If not, the error is filled (0A000, 22023). What
 * the session has on its link is to be known. */
PGW_MUST_CHECK bool px_copied_may_begin(const struct px_session *session, const rw_copy *copy,
                                        pgw_error *error);
/* The link takes data (CopyInResponse, with this body), which is told to the client. */
void px_copied_begin(struct px_session *session, const struct px_reply *reply, pgw_slice body);
/* Bytes of data, cut anywhere. */
void px_copied_feed(struct px_session *session, pgw_slice bytes);
/* The data has ended, and the link is told so next. */
void px_copied_finish(struct px_session *session);
/* Whether its rows are stored in batches; the functions below are for such alone. */
bool px_copied_is_apart(const struct px_session *session);
/* A COPY in batches still awaits batches or the client's data: what the own link says waits, too.
 * When that is over, px_session_look() is called. */
bool px_copied_is_under_way(const struct px_session *session);
/* The client has ended the data, or, for a reason, given it up. False: batches are on their way; it
 * is to be called again when px_session_look() is. */
bool px_copied_ends(struct px_session *session, const pgw_slice *reason);
/* The client has cancelled it. False: there is none that is under way. */
bool px_copied_cancel(struct px_session *session);
/* How many of the COPY's rows are committed. */
uint64_t px_copied_rows(const struct px_session *session);
/* The body of the error by which it has failed; empty: it has not. */
pgw_slice px_copied_failure(const struct px_session *session);
/* Frees the session's COPY, which is answered, or whose link is gone. */
void px_copied_over(struct px_session *session);

#endif
