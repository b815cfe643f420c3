/*
 * describe: the backend describes a new statement before anything that needs its types is sent. One
 * session asks, for all that come with the same statement.
 */
#ifndef PX_DESCRIBE_H
#define PX_DESCRIBE_H

#include "proxy/client/core/states.h"
#include "proxy/client/core/statements.h"

struct px_session;

/* Has what was sent to the link as `name` described; what to wait for. `sync`: on its own, not in a
 * group that goes on. */
px_step px_describe(struct px_session *session, pgw_slice name, px_plan *plan, bool sync);
/* Asks what types the parameters of a statement have that is on the link; what to wait for. */
px_step px_describe_again(struct px_session *session, px_statement *statement);
/* Whether the Parse at hand, which begins a group, is for the link at once, and all behind it: its
 * client does not wait for answers, and a statement that the backend is to describe would make it.
 */
bool px_describe_goes_ahead(const struct px_session *session, const px_plan *plan);
/* Has what was sent to the link as `name` described with what is sent next; the session does not
 * wait. */
void px_describe_behind(struct px_session *session, pgw_slice name, px_plan *plan);
/* The first new statement of the held group that the backend has not described (or, with `keys`,
 * whose parameters have types that only it can tell) is described now. DONE: there is none. */
PGW_MUST_CHECK px_step px_describe_group(struct px_session *session, bool keys);
/* The backend refused a statement it was to describe; the client has been told. */
void px_describe_refused(struct px_session *session);
/* The statement that this session had described, or not, is free for the others. */
void px_describe_give_up(struct px_session *session);

#endif
