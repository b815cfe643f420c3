/*
 * split_query: a Query of several statements, one of which can only be understood when those before
 * it have run (it writes a table that they make, say). Its parts are sent one by one, as one
 * transaction, and the client sees one answer.
 */
#ifndef PX_SPLIT_QUERY_H
#define PX_SPLIT_QUERY_H

#include "proxy/client/core/states.h"
#include "proxy/ingest/text.h"

struct px_session;
struct px_split_query;

/* Where `text`, the part at hand of the client's, is to be cut: the statement, from 1, that is the
 * next part's first. 0: it is sent as it is, with what of it is refused. */
size_t px_split_query_cut(const struct px_session *session, const px_text *text);
/* Cuts the text there. DONE: its part can be looked at now. */
PGW_MUST_CHECK px_step px_split_query_begin(struct px_session *session, const px_text *text,
                                            size_t cut);
/* The part of the client's text that comes now. */
pgw_slice px_split_query_at_hand(const struct px_session *session);
/* Whether the part at hand means what it meant when the client sent it, whatever settings have
 * become. False: the error. */
PGW_MUST_CHECK bool px_split_query_are_readable(const struct px_session *session, pgw_error *error);
/* Goes on to the next part, for everything before is answered. True: there is none, or an error
 * came. */
bool px_split_query_are_over(struct px_session *session);
/* Notes that the part at hand was sent, or answered here (DONE); its answer, the last that the link
 * owes, ends nothing, and is to be waited for. */
px_step px_split_query_sent(struct px_session *session);
/* Ends the Query: commits, or rolls back, keyspread's transaction, which is to be waited for. DONE:
 * that is ended, and its client has got ReadyForQuery. */
PGW_MUST_CHECK px_step px_split_query_end(struct px_session *session);
/* Keeps a setting that the link reports and the session does not know yet: its client is told at
 * the end. False: its Query is in no parts. */
bool px_split_query_report(struct px_session *session, pgw_slice name, pgw_slice value);
/* Notes that an error ends the Query at hand. False: it is in no parts. */
bool px_split_query_fail(struct px_session *session);
/* Characters of the client's text in front of the part at hand. */
size_t px_split_query_before(const struct px_session *session);
/* Frees the parts: the message has been dealt with. */
void px_split_query_forget(struct px_session *session);

#endif
