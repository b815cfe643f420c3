#include "proxy/client/core/shared_plan.h"

#include "proxy/ingest/blockers.h"

static bool is_for_all(const px_session *session, const px_plan *plan)
{
    px_standing standing = px_session_standing(session);
    return !px_blocker_has_names(&standing, plan->insert);
}

px_plan *px_shared_plan(const px_session *session, px_plan_id id)
{
    px_plan *plan = px_plan_find(session->worker->plans, id);
    return plan != NULL && is_for_all(session, plan) ? plan : NULL;
}

void px_shared_plan_keep(px_session *session, px_plan_id id, px_plan *plan)
{
    if (is_for_all(session, plan))
        px_plan_remember(session->worker->plans, id, plan);
}
