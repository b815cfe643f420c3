#include "proxy/client/message/sync.h"

#include "protocol/backend.h"
#include "protocol/frontend.h"
#include "proxy/batch/register.h"
#include "proxy/client/answer/synthesized.h"
#include "proxy/client/link/schema_probe.h"
#include "proxy/client/message/lazy.h"
#include "proxy/client/numbers/sequence_refill.h"
#include "proxy/client/prepared/forward.h"
#include "proxy/client/prepared/prepare.h"
#include "proxy/client/prepared/prepare_again.h"
#include "proxy/client/standing/changes.h"
#include "proxy/client/standing/describe.h"
#include "proxy/ingest/submit.h"

static px_step sync_on_link(px_session *session)
{
    px_step step = px_forward_group(session);
    if (step == PX_STEP_DONE)
        px_submitter_end_reroute(&session->write_groups);
    if (!session->write_groups.rerouted)
        px_submitter_drop_statement(&session->write_groups);
    return step == PX_STEP_DONE ? PX_STEP_PASS : step;
}

/* The plan that a held message is to have now; counted. NULL where it has none any more, was
 * refused, or must wait. */
static px_step plan_again(px_session *session, size_t i, px_plan **fresh)
{
    const px_group *group = &session->group;
    const px_held *held = &group->held[i];
    pgw_slice name = {NULL, 0};
    *fresh = NULL;
    if (held->type == 'P' && !held->answered) {
        pgw_parse parse =
            held->decoded->as.parse; /* a copy, for the group may be refused and freed */
        *fresh = held->plan;
        return px_prepare(session, &parse, fresh);
    }
    if (held->type == 'P')
        name = held->decoded->as.parse.name;
    else if (held->about != PX_GROUP_NONE)
        *fresh = held->type == 'E' || group->held[held->about].type == 'P'
                     ? group->held[held->about].plan
                     : NULL;
    else if (held->type == 'B')
        name = held->decoded->as.bind.statement;
    else if (held->type != 'E')
        name = held->decoded->as.target.name;
    if (name.ptr != NULL) {
        px_statement *statement = px_statements_find(&session->names.statements, name);
        px_step step = px_prepare_again(session, name, &statement);
        if (step != PX_STEP_DONE || group->count == 0)
            return step; /* the group was refused, and the name in it is gone */
        *fresh = statement != NULL ? statement->plan : NULL;
    }
    if (*fresh != NULL)
        px_plan_take(*fresh);
    return PX_STEP_DONE;
}

/* Whether a plan is made of the tables as they are. One that only its session may have is in no
 * cache: made anew at each turn it would be described anew for ever. */
static bool is_current(px_session *session, const px_held *held)
{
    return held->type == 'P' && !held->answered && !held->plan->outdated &&
           held->plan->catalog == px_changes_known(session);
}

/* Refuses a Bind that has values for what the database made of the key before. */
static px_step refuse_other_key(px_session *session)
{
    pgw_error error;
    pgw_fail(&error, "40001", "the defaults of the table's key were changed while it was written");
    pgw_error_hint(&error, "Send the transaction again.");
    return px_prepare_refuse(session, NULL, &error);
}

/* Held message `i` gets the plan that it is to have now. DONE: it has. */
static px_step replan(px_session *session, size_t i)
{
    px_group *group = &session->group;
    px_plan *fresh;
    session->hand.replans = i + 1;
    px_step step = plan_again(session, i, &fresh);
    if (!px_step_waits(step) && group->count > 0 && group->held[i].type == 'B' &&
        !px_plan_asks_same(group->held[i].plan, fresh)) {
        px_plan_drop(fresh);
        fresh = NULL;
        step = refuse_other_key(session);
    }
    session->hand.replans = 0;
    if (px_step_waits(step))
        return step;
    px_submitter_note_reroute(&session->write_groups,
                              fresh == NULL || fresh->insert->blocker != RW_BATCHABLE);
    if (group->count == 0) /* the group was refused */
        return PX_STEP_DONE;
    px_group_replan(group, i, fresh);
    return PX_STEP_DONE;
}

/* Makes plans anew for all that is held, for the schema was not what it was thought to be. What is
 * not to be batched any more the server is to judge. */
static px_step plan_all_again(px_session *session)
{
    const px_group *group = &session->group;
    px_step step = PX_STEP_DONE;
    for (size_t i = 0; i < group->count && step == PX_STEP_DONE; i++)
        if (group->held[i].plan != NULL && !is_current(session, &group->held[i]))
            step = replan(session, i);
    return step;
}

/* Answers a group in which nothing is bound: everything that is held does what it should. */
static px_step answer_all(px_session *session)
{
    pgw_buf out = {0};
    px_synthesized_write(session, session->group.count, NULL, &out);
    px_synthesized_end(session, &out);
    return PX_STEP_DONE;
}

/* Looks at the tables again, and has plans made anew, once a group. */
static px_step look_again(px_session *session)
{
    if (session->write_groups.repeated)
        return PX_STEP_DONE;
    px_submitter_repeat(&session->write_groups);
    px_session_set_rechecked(session, false);
    px_step step = px_schema_probe_recheck(session, NULL);
    px_session_set_rechecked(session, false);
    return step;
}

/* Whether a statement that is only to be answered was described when others prepared it, and there
 * is no link to ask whether that is still so. */
static bool is_hearsay(const px_held *held)
{
    return held->type == 'P' && !held->answered && !held->on_link && held->plan->described &&
           px_plan_may_change(held->plan);
}

static px_step look_at_hearsay(px_session *session)
{
    const px_group *group = &session->group;
    for (size_t i = 0; i < group->count; i++)
        if (is_hearsay(&group->held[i]))
            return look_again(session);
    return PX_STEP_DONE;
}

static size_t count_executions(const px_group *group)
{
    size_t count = 0;
    for (size_t i = 0; i < group->count; i++)
        count += group->held[i].type == 'E';
    return count;
}

/* Submits what the group executes, all of it bound there. `at` gets the held Execute of each. */
static px_submission submit_executions(px_session *session, size_t *at, px_unfit *unfit)
{
    px_group *group = &session->group;
    px_execution *list = pgw_arena_alloc(&group->memory, count_executions(group) * sizeof *list);
    px_executions all = {.all = list};
    for (size_t i = 0; i < group->count; i++) {
        if (group->held[i].type != 'E')
            continue;
        px_plan *plan = group->held[i].plan;
        at[all.count] = i;
        const px_held *bind = &group->held[px_group_executed(group, i)];
        bool returns = plan->insert->returning > 0;
        list[all.count++] =
            (px_execution){plan, &bind->decoded->as.bind,
                           returns ? group->held[i].decoded->as.execute.max_rows : 0};
    }
    px_standing standing = px_session_standing(session);
    return px_submit_bound(&session->write_groups, &standing, &all, unfit);
}

static void answer_unfit(px_session *session, const px_unfit *unfit, size_t execute)
{
    pgw_buf out = {0};
    size_t at = unfit->at_bind ? px_group_executed(&session->group, execute) : execute;
    px_synthesized_write(session, at, NULL, &out);
    pgw_error_write(&unfit->error, "ERROR", &out);
    px_count_error(session->worker->metrics, pgw_slice_str(unfit->error.sqlstate));
    px_synthesized_end(session, &out);
}

/* The group is a write group, whose outcome will answer it; or it is for the own link
 * (PASS); or it is refused (DONE). */
static px_step submit_group(px_session *session)
{
    if (session->own.status != 'I')
        return px_lazy_keeps_group(session) ? PX_STEP_DONE : PX_STEP_PASS;
    if (!px_register_has_room(session->worker))
        return PX_WAIT_TURN;
    px_unfit unfit; /* no initializer: the error takes a kilobyte */
    pgw_error_clear(&unfit.error);
    unfit.at_bind = false;
    size_t *at =
        pgw_arena_alloc(&session->group.memory, count_executions(&session->group) * sizeof *at);
    px_submission what = submit_executions(session, at, &unfit);
    if (what == PX_SUBMITTED) {
        px_sequence_refill_ask(session);
        return PX_WAIT_WRITE_GROUP;
    }
    /* The key's column may be another than was known. */
    px_step step = unfit.error.sqlstate[0] != '\0' ? look_again(session) : PX_STEP_DONE;
    if (step != PX_STEP_DONE)
        return step;
    if (what == PX_SUBMIT_ON_LINK)
        return PX_STEP_PASS;
    answer_unfit(session, &unfit, at[unfit.execution]);
    return PX_STEP_DONE;
}

static bool has_new(const px_group *group)
{
    for (size_t i = 0; i < group->count; i++) {
        const px_held *held = &group->held[i];
        if (held->type == 'P' && !held->answered && !held->plan->described)
            return true;
    }
    return false;
}

/* Whether the group has so many rows that it would find no company in a batch. */
static bool is_bulk(const px_group *group)
{
    const px_plan *first = NULL;
    uint64_t rows = 0;
    for (size_t i = 0; i < group->count; i++) {
        if (group->held[i].type != 'E')
            continue;
        first = first != NULL ? first : group->held[i].plan;
        rows += group->held[i].plan->insert->row_count;
    }
    return rows > px_catalog_config(first->catalog, first->insert->table)->batch.rows / 2;
}

/* Whether what is executed can be a write group. Where one of several statements is new it is
 * described as it goes to the own link: its client does not wait for one after the other, which may
 * all be texts that never come again. */
static bool may_be_write_group(px_group *group)
{
    size_t statements = px_group_count_statements(group);
    px_group_describe(group, statements > 1 && has_new(group));
    if (!px_group_runs_all(group) || group->describes)
        return false;
    return statements <= 1 || (statements <= PX_WRITE_GROUP_MOST && !is_bulk(group));
}

px_step px_sync(px_session *session)
{
    px_step step = session->write_groups.repeated ? plan_all_again(session) : PX_STEP_DONE;
    if (step != PX_STEP_DONE)
        return step;
    if (session->write_groups.rerouted || !may_be_write_group(&session->group))
        return sync_on_link(session);
    step = px_describe_group(session, false);
    if (step != PX_STEP_DONE)
        return step;
    if (!px_group_has(&session->group, "BE")) {
        step = look_at_hearsay(session);
        return step == PX_STEP_DONE ? answer_all(session) : step;
    }
    step = PX_STEP_PASS; /* what is bound and not executed may fail all the same */
    if (px_group_has(&session->group, "E"))
        step = submit_group(session);
    return step == PX_STEP_PASS ? sync_on_link(session) : step;
}

px_step px_sync_flush(px_session *session)
{
    px_step step = session->write_groups.repeated ? plan_all_again(session) : PX_STEP_DONE;
    if (step != PX_STEP_DONE)
        return step;
    if (session->write_groups.rerouted || px_group_has(&session->group, "BE")) {
        step = px_forward_group(session);
        return step == PX_STEP_DONE ? PX_STEP_PASS : step;
    }
    step = px_describe_group(session, false);
    if (step == PX_STEP_DONE)
        step = look_at_hearsay(session);
    if (step != PX_STEP_DONE)
        return step;
    pgw_buf out = {0};
    px_synthesized_write(session, session->group.count, NULL, &out);
    px_submitter_go_on(&session->write_groups);
    px_stream_put_buf(session->peer.stream, &out);
    pgw_buf_free(&out);
    return PX_STEP_DONE;
}
