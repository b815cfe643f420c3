/*
 * copied: a client's COPY … FROM STDIN of a configured table: its data on the way to the own link,
 * each row with its hash.
 */
#ifndef PX_COPIED_H
#define PX_COPIED_H

#include "protocol/bytes.h"

#include <stdbool.h>

struct px_session;
struct px_reply;

/* Whether the link has yet to say that it takes the data of one that was sent: until then, its
 * client's data has to wait. */
bool px_copied_is_owed(const struct px_session *session);
/* Whether `reply` is of one that is about to be answered. */
bool px_copied_is(const struct px_reply *reply);
/* The link takes data (CopyInResponse, with this body), which is told to the client. */
void px_copied_begin(struct px_session *session, const struct px_reply *reply, pgw_slice body);
/* Bytes of data, cut anywhere. */
void px_copied_feed(struct px_session *session, pgw_slice bytes);
/* The data has ended, and the link is told so next. */
void px_copied_finish(struct px_session *session);
/* The client has ended the data, or (not `whole`) given it up. False: batches are on their way, and
 * px_session_look() is called when it is to be asked again. */
bool px_copied_ends(struct px_session *session, bool whole);
/* Whether its rows were stored in batches; then so many are committed. */
bool px_copied_tag(const struct px_session *session, uint64_t *rows);
/* The body of the error that its client is to see, where the server's COPY failed with this one. */
pgw_slice px_copied_failure(const struct px_session *session, pgw_slice body);
/* It is answered, or the link is gone. */
void px_copied_over(struct px_session *session);

#endif
