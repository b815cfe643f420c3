#include "proxy/client/standing/describe.h"

#include "protocol/frontend.h"
#include "proxy/client/core/session.h"
#include "proxy/client/core/sessions.h"
#include "proxy/client/standing/names.h"

#include <string.h>

static px_reply *send_describe(px_session *session, pgw_slice name, px_plan *plan)
{
    pgw_buf out = {0};
    pgw_write_describe('S', name, &out);
    px_reply *reply = px_replies_push(&session->pending.replies, PX_REPLY_DESCRIBE);
    reply->swallow = true;
    reply->plan = plan;
    px_plan_take(plan);
    px_session_send(session, &out);
    pgw_buf_free(&out);
    return reply;
}

px_step px_describe(px_session *session, pgw_slice name, px_plan *plan, bool sync)
{
    pgw_buf out = {0};
    send_describe(session, name, plan)->describe_plan = true;
    if (sync) {
        pgw_write_sync(&out);
        px_reply *reply = px_replies_push(&session->pending.replies, PX_REPLY_SYNC);
        reply->swallow = reply->describe_plan = true;
        px_own_close_group(&session->own);
    } else {
        pgw_write_flush(&out);
    }
    px_session_send(session, &out);
    pgw_buf_free(&out);
    return PX_WAIT_DESCRIBE;
}

px_step px_describe_again(px_session *session, px_statement *statement)
{
    px_plan *plan = px_plan_undescribed(statement->plan);
    px_statements_replan(&session->names.statements, statement, plan);
    return px_describe(session, statement->entry.name, plan, !session->own.unsynced);
}

void px_describe_refused(px_session *session)
{
    px_session_drop_group(session);
    px_pending_skip(&session->pending, true);
    if (session->own.unsynced)
        /* No ReadyForQuery comes before that of the client's own Sync. */
        px_session_end_wait(session, PX_WAIT_DESCRIBE);
}

/* ---- who does not wait ---- */

enum { LOOKED_AHEAD = 64 }; /* most messages that are looked at ahead */

/* Whether the client has sent the rest of the group that the message at hand begins, up to Sync,
 * and more behind it. `runs`: something of what was looked at is bound or executed. */
static bool has_sent_more(const px_session *session, bool *runs)
{
    pgw_slice input = px_stream_input(session->peer.stream);
    pgw_frame frame = session->hand.frame;
    *runs = false;
    for (size_t i = 0; i < LOOKED_AHEAD && frame.size < input.len; i++) {
        input = (pgw_slice){input.ptr + frame.size, input.len - frame.size};
        if (pgw_frame_next(input, &frame) != PGW_FRAME_OK || strchr("PBDECS", frame.type) == NULL)
            return false;
        *runs = *runs || frame.type == 'B' || frame.type == 'E';
        if (frame.type == 'S')
            return frame.size < input.len;
    }
    return false;
}

/* An INSERT without a list of columns is to be made anew, unseen, should the table have others. */
bool px_describe_goes_ahead(const px_session *session, const px_plan *plan)
{
    bool runs;
    if (!session->own.ready || session->group.count > 0 || plan->insert->list_end == 0 ||
        plan->asked != NULL || (plan->described ? !plan->infers : !plan->types_known))
        return false;
    bool sent = has_sent_more(session, &runs);
    return plan->described ? sent && !runs : sent || !px_session_is_quiet(session);
}

void px_describe_behind(px_session *session, pgw_slice name, px_plan *plan)
{
    send_describe(session, name, plan);
}

/* ---- one asks for all ---- */

void px_describe_give_up(px_session *session)
{
    px_worker *worker = session->worker;
    px_plan *plan = session->names.describing;
    if (plan == NULL)
        return;
    bool awaited = plan->awaited;
    px_prepared_names_describe(&session->names, NULL);
    plan->describing = plan->awaited = false;
    px_plan_drop(plan);
    for (size_t i = 0; awaited && i < px_sessions_slots(worker); i++) {
        px_session *other = px_sessions_at(worker, i);
        if (other != NULL && other->wait == PX_WAIT_TURN)
            px_session_wake(other, PX_WAIT_TURN);
    }
}

/* Claims a statement for this session, which asks for all that come with it, so that a thousand do
 * not open a thousand links. */
static px_step claim(px_session *session, px_plan *plan)
{
    if (session->names.describing == plan)
        return PX_STEP_DONE;
    if (plan->describing) { /* another session asks */
        plan->awaited = true;
        return PX_WAIT_TURN;
    }
    px_describe_give_up(session);
    px_prepared_names_describe(&session->names, plan);
    plan->describing = true;
    px_plan_take(plan);
    return PX_STEP_DONE;
}

/* Whether the backend has to describe a held statement, which is new to it. One that others have
 * described, and that is to be answered without being run, may have other types by now. One that
 * keyspread has nothing to do with any more has no plan. */
static bool is_to_be_described(const px_session *session, const px_held *held, bool keys)
{
    const px_plan *plan = held->plan;
    if (held->type != 'P' || plan == NULL || held->answered)
        return false;
    if (keys)
        return !plan->types_known;
    bool answered_only = !px_group_has(&session->group, "BE");
    return !plan->described ||
           (px_plan_may_change(plan) && answered_only && !held->on_link && session->own.ready);
}

px_step px_describe_group(px_session *session, bool keys)
{
    px_group *group = &session->group;
    for (size_t i = 0; i < group->count; i++) {
        px_plan *plan = group->held[i].plan;
        if (!is_to_be_described(session, &group->held[i], keys))
            continue;
        px_step step = plan->described ? PX_STEP_DONE : claim(session, plan);
        if (step == PX_STEP_DONE)
            step = px_session_need_link_to_ask(session);
        if (step != PX_STEP_DONE)
            return step;
        pgw_slice name = group->held[i].decoded->as.parse.name;
        if (session->write_groups.repeated && name.len > 0)
            px_names_close_unsynced(session, name);
        px_names_parse(session, name, plan, true);
        px_group_set_on_link(group, i, true);
        return px_describe(session, name, plan, true);
    }
    return PX_STEP_DONE;
}
