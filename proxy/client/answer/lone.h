/*
 * lone: a group of one row: a Bind, perhaps a Describe, an Execute and a Sync, all there. They stay
 * in the client's stream until the row has its outcome, and are held (group.h) only if the client
 * is to hear something else than that the row is stored.
 */
#ifndef PX_LONE_H
#define PX_LONE_H

#include "proxy/client/core/client_message.h"
#include "proxy/ingest/submitter.h"

struct px_session;

/* Submits the row of the Bind at hand, which may be batched, if its group is such a one: the
 * outcome is to be waited for. False: nothing was done, and the Bind is to be held. */
PGW_MUST_CHECK bool px_lone_submit(struct px_session *session, const px_client_message *decoded,
                                   px_plan *plan);
/* Answers such a group, and drops it. False: none is under way, or it is held now, as if its
 * messages had been from the first. */
PGW_MUST_CHECK bool px_lone_answer(struct px_session *session, const px_outcome *outcome);
/* Holds such a group, if one is under way, of whose Bind the submitter still has the plan. */
void px_lone_hold(struct px_session *session);

#endif
