#include "proxy/client/prepared/forward.h"

#include "proxy/client/standing/describe.h"
#include "proxy/client/standing/dirty.h"
#include "proxy/client/standing/names.h"
#include "proxy/client/link/schema_probe.h"
#include "proxy/client/answer/outcome.h"
#include "proxy/client/answer/refuse.h"
#include "proxy/client/standing/script.h"
#include "proxy/client/core/session.h"
#include "proxy/client/core/settings.h"
#include "proxy/ingest/blockers.h"
#include "rewrite/insert/render.h"

static void send_named_parse(px_session *session, pgw_slice name, px_plan *plan)
{
    bool adds = name.len == 0 || px_statements_find(&session->names.statements, name) == NULL;
    px_reply *reply = px_names_parse(session, name, plan, false);
    if (adds) {
        px_reply_renames(&session->pending.replies, reply, &session->names.statements, name);
        px_statement *statement = px_statements_put(&session->names.statements, name, plan, true);
        statement->generation = session->known.generation;
        statement->unsure = plan->infers;
    }
}

px_step px_forward_parse(px_session *session, pgw_slice name, px_plan *plan)
{
    if (name.len > 0)
        px_names_claim(session, name);
    send_named_parse(session, name, plan);
    return plan->types_known ? PX_STEP_DONE : px_describe(session, name, plan, false);
}

/* Name of the statement that a Bind has for itself. */
#define ONCE PGW_LITERAL("keyspread bind")

static void send_bind(px_session *session, const pgw_bind *bind, px_plan *plan, bool swallow,
                      const pgw_buf *message)
{
    if (plan->whole != NULL) {
        px_names_close_unsynced(session, ONCE);
        px_names_parse(session, ONCE, plan, true);
    } else {
        px_names_prepare(session, bind->statement);
    }
    px_script_note_plan(session, plan); /* planning evaluates, too */
    px_reply *reply = px_replies_push(&session->pending.replies, PX_REPLY_BIND);
    reply->plan = plan;
    px_plan_take(plan);
    reply->swallow = swallow;
    px_session_send(session, message);
    px_own_open_group(&session->own);
    px_statements_put(&session->names.portals, bind->portal, plan, true);
}

/* The statement that the Bind is of, counted. NULL: bound->error. */
static px_plan *bound_statement(px_session *session, px_plan *plan, const px_bound *bound,
                                bool known)
{
    px_plan *other = NULL;
    if (known)
        other = px_plan_for_bind(plan, bound->keys);
    else if (rw_insert_may_fail(plan->insert))
        return px_plan_refusing(plan, bound->keys, bound->known, &bound->error);
    else
        return NULL;
    if (other == NULL)
        px_plan_take(other = px_outcome_has_rest(session) ? session->write_groups.plans[0] : plan);
    return other;
}

/* Leaves of the written Bind what goes before the rest of it. False: the rows are too large. */
static bool leave_beginning(px_session *session, const px_plan *plan, px_bound *bound,
                            px_rest *rest, pgw_buf *out)
{
    const rw_insert *insert = plan->insert;
    if (rest->bytes < 2) /* the count of result formats stands at its end */
        return pgw_fail(&bound->error, "08P01", "a Bind ends before its result formats");
    for (size_t r = 0; r < bound->known; r++)
        if (!px_bind_limit(session->worker, insert->table, rest->bytes / insert->row_count,
                           &bound->keys[r], &bound->error))
            return false;
    if (!pgw_bind_cut(out, rest->given, rest->count, rest->bytes, &rest->behind))
        return pgw_fail(&bound->error, "54000", "a Bind with its hashes is too large a message");
    return rest->awaited = true;
}

px_step px_forward_bind(px_session *session, const pgw_bind *bind, px_plan *plan, bool swallow,
                        px_rest *rest)
{
    pgw_arena arena = {0};
    px_bound bound;
    pgw_buf out = {0};
    bool known =
        px_bind_keys(session->worker, plan, bind, &session->who.identity->env, &arena, &bound);
    px_step step = known || px_session_aborted(session)
                       ? PX_STEP_DONE
                       : px_schema_probe_recheck(session, plan->catalog);
    if (step != PX_STEP_DONE) {
        pgw_arena_free(&arena);
        return step;
    }
    px_plan *sent = bound_statement(session, plan, &bound, known);
    px_bind_names names = {bind->portal, sent != plan ? ONCE : bind->statement};
    const pgw_env now = px_settings_env(session);
    pgw_bind spelled =
        px_bind_spell(plan->types, px_bind_feeding(plan, &arena), bind, &now, &arena);
    if (sent != NULL && px_bind_write(sent, &spelled, names, &bound, &out, &bound.error) &&
        (rest == NULL || leave_beginning(session, plan, &bound, rest, &out))) {
        px_standing standing = px_session_standing(session);
        px_blocker_count_bind(&session->write_groups, &standing, sent, &bound);
        send_bind(session, bind, sent, swallow, &out);
    } else {
        px_refuse(session, &bound.error, true);
    }
    px_session_set_rechecked(session, false);
    px_plan_drop(sent);
    pgw_buf_free(&out);
    pgw_arena_free(&arena);
    return PX_STEP_DONE;
}

px_reply *px_forward_raw(px_session *session, px_reply_kind kind, px_plan *plan, bool swallow,
                         pgw_slice message)
{
    px_reply *reply = px_replies_push(&session->pending.replies, kind);
    reply->swallow = swallow;
    reply->plan = plan;
    if (plan != NULL)
        px_plan_take(plan);
    if (kind == PX_REPLY_EXECUTE && plan != NULL && session->own.status == 'I')
        px_pending_note_commit(&session->pending, true);
    if (kind == PX_REPLY_EXECUTE && plan != NULL)
        px_script_note_plan(session, plan);
    if (session->own.begun != NULL)
        px_session_send_begun(session);
    px_link_send(session->own.link, message.ptr, message.len);
    px_own_open_group(&session->own);
    return reply;
}

/* A statement that was described is on the link already: if the client knows it there is nothing to
 * do, else it gets its ParseComplete from a second Parse, for which a name must be free. */
static void forward_held_parse(px_session *session, const px_held *held, pgw_slice name)
{
    if (held->answered && held->on_link)
        return;
    if (held->on_link && name.len > 0)
        px_names_close_unsynced(session, name);
    if (held->answered) {
        px_names_prepare(session, name);
        return;
    }
    (void)px_forward_parse(session, name, held->plan); /* the types of what is held are known */
    if (session->group.describes && !held->plan->described && px_plan_comes_again(held->plan))
        px_describe_behind(session, name, held->plan);
}

/* The plan that the portal of a held Execute was bound to just now. */
static px_plan *portal_plan(px_session *session, const px_held *held)
{
    px_statement *portal =
        px_statements_find(&session->names.portals, held->decoded->as.execute.portal);
    return portal != NULL ? portal->plan : held->plan;
}

static void forward_held_execute(px_session *session, const px_held *held)
{
    px_plan *plan = portal_plan(session, held);
    if (plan == NULL)
        px_state_note_execute(session);
    px_forward_raw(session, PX_REPLY_EXECUTE, plan, held->answered, held->decoded->message);
}

static void forward_held_describe(px_session *session, const px_held *held)
{
    const px_client_message *decoded = held->decoded;
    bool statement = decoded->as.target.kind == 'S';
    if (statement)
        px_names_claim(session, decoded->as.target.name);
    px_forward_raw(session, statement ? PX_REPLY_DESCRIBE : PX_REPLY_DESCRIBE_PORTAL, held->plan,
                   held->answered, decoded->message);
}

static void forward_held_close(px_session *session, const px_held *held)
{
    const px_client_message *decoded = held->decoded;
    px_reply *reply =
        px_forward_raw(session, PX_REPLY_CLOSE, NULL, held->answered, decoded->message);
    if (decoded->as.target.kind == 'S')
        px_reply_renames(&session->pending.replies, reply, &session->names.statements,
                         decoded->as.target.name);
}

/* Sends a held Parse that has lost its plan as its client wrote it. */
static void forward_passthrough_parse(px_session *session, const px_held *held)
{
    pgw_slice name = held->decoded->as.parse.name;
    if (held->answered) {
        px_names_prepare(session, name);
        return;
    }
    if (session->write_groups.repeated && name.len > 0) /* the backend may have described it */
        px_names_close_unsynced(session, name);
    px_reply *reply = px_forward_raw(session, PX_REPLY_PARSE, NULL, false, held->decoded->message);
    px_state_parse(session, PX_UNREAD)->moving = true;
    px_state_note_moving(session, true);
    px_names_passthrough(session, reply, name, held->decoded->message);
}

static void forward_passthrough_bind(px_session *session, const px_held *held)
{
    const pgw_bind *bind = &held->decoded->as.bind;
    px_names_prepare(session, bind->statement);
    px_statements_remove(&session->names.portals, bind->portal);
    px_state_note_bind(session, held->decoded->message);
    px_forward_raw(session, PX_REPLY_BIND, NULL, held->answered, held->decoded->message);
}

static bool forward_passthrough(px_session *session, const px_held *held)
{
    if (held->plan != NULL || (held->type != 'P' && held->type != 'B'))
        return false;
    if (held->type == 'P')
        forward_passthrough_parse(session, held);
    else
        forward_passthrough_bind(session, held);
    return true;
}

static void forward_held(px_session *session, size_t i)
{
    const px_held *held = &session->group.held[i];
    const px_client_message *decoded = held->decoded;
    if (forward_passthrough(session, held))
        return;
    switch (held->type) {
    case 'P':
        forward_held_parse(session, held, decoded->as.parse.name);
        return;
    case 'B':
        px_session_set_rechecked(session, true); /* later messages do not wait for another look */
        (void)px_forward_bind(session, &decoded->as.bind, held->plan, held->answered, NULL);
        return;
    case 'E':
        forward_held_execute(session, held);
        return;
    case 'D':
        forward_held_describe(session, held);
        return;
    default:
        forward_held_close(session, held);
    }
}

static bool is_unnamed_parse(const px_group *group, size_t i)
{
    return group->held[i].type == 'P' && group->held[i].decoded->as.parse.name.len == 0;
}

/* The Parse that failed has destroyed the unnamed statement there, also one that the client has. */
static void drop_unnamed_there(px_session *session)
{
    px_group *group = &session->group;
    px_statement *statement = px_statements_find(&session->names.statements, (pgw_slice){NULL, 0});
    if (!is_unnamed_parse(group, group->failing))
        return;
    if (statement != NULL)
        px_statements_move(&session->names.statements, statement, false);
    for (size_t i = 0; i < group->failing; i++)
        if (is_unnamed_parse(group, i))
            px_group_set_on_link(group, i, false);
}

bool px_forward_fails(px_session *session, pgw_slice body)
{
    px_group *group = &session->group;
    if (session->own.unsynced || session->own.fatal || group->failure != NULL)
        return false;
    size_t failing = PX_GROUP_NONE;
    for (size_t i = 0; i < group->count; i++)
        if (group->held[i].on_link && !group->held[i].answered)
            failing = i;
    if (failing == PX_GROUP_NONE)
        return false; /* the statement was described before, and is bound */
    if (session->own.status != 'I' && is_unnamed_parse(group, failing))
        px_names_forget_unnamed(session);
    if (session->own.status != 'I')
        return false; /* the transaction takes nothing more */
    px_group_fail(group, failing, body);
    drop_unnamed_there(session);
    return true;
}

/* Should the backend take the statement after all, the group fails behind it: nobody knows its
 * types. */
void px_forward_failing(px_session *session)
{
    px_group *group = &session->group;
    const px_held *held = &group->held[group->failing];
    for (size_t i = 0; i < group->failing && !session->pending.skipping; i++)
        forward_held(session, i);
    if (!session->pending.skipping) {
        send_named_parse(session, held->decoded->as.parse.name, held->plan);
        px_refuse(session, group->failure, true);
    }
    px_session_drop_group(session);
}

px_step px_forward_held(px_session *session, size_t count)
{
    px_step step = px_session_need_link(session);
    if (step == PX_STEP_DONE)
        step = px_describe_group(session, true);
    if (step != PX_STEP_DONE)
        return step;
    px_outcome_send_waited(session);
    for (size_t i = 0; i < count && !session->pending.skipping; i++)
        forward_held(session, i);
    px_session_drop_group(session);
    return PX_STEP_DONE;
}

px_step px_forward_group(px_session *session)
{
    size_t count = session->group.count;
    return count > 0 ? px_forward_held(session, count) : PX_STEP_DONE;
}
