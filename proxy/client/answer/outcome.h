/*
 * outcome: a session as the submitter of write groups: what its client is answered when they are
 * back, in the order of its own messages and about its own text.
 */
#ifndef PX_OUTCOME_H
#define PX_OUTCOME_H

#include "proxy/ingest/submitter.h"

struct px_session;

/* The functions of every session's `write groups`. */
extern const px_submitter_ops px_session_submitter_ops;

/* Whether some of the statement's rows are committed; the others are to be sent on the own link:
 * write groups.text or write groups.plans[0] is the statement without those that are. */
bool px_outcome_has_rest(const struct px_session *session);
/* Appends the statement that takes what a statement has waited elsewhere from the timeouts of the
 * transaction that it runs in. False: there is nothing to take. */
bool px_outcome_write_waited(struct px_session *session, pgw_buf *sql);
/* To be called before a statement goes to the own link (ready): if it has waited elsewhere, its
 * timeouts there are shorter by that, until its transaction ends. */
void px_outcome_send_waited(struct px_session *session);
/* Gives up the rest of the rows, which cannot be sent for this reason. */
void px_outcome_give_up(struct px_session *session, pgw_error *error);

#endif
