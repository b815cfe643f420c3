/*
 * shared_plan: which plans of prepared INSERTs a session has in common with its worker's others. In
 * one that may have temporary types a cast means what it means nowhere else, and so may the types
 * of parameters that its plans were described with.
 */
#ifndef PX_SHARED_PLAN_H
#define PX_SHARED_PLAN_H

#include "proxy/client/core/session.h"
#include "proxy/ingest/plan_cache.h"

/* The worker's plan of this id, not counted; NULL: there is none, or it may be another in this
 * session. */
px_plan *px_shared_plan(const px_session *session, px_plan_id id);
/* Keeps the plan for other sessions, unless they could mean something else by it. */
void px_shared_plan_keep(px_session *session, px_plan_id id, px_plan *plan);

#endif
