#include "proxy/client/session.h"

#include "protocol/backend.h"
#include "protocol/frontend.h"
#include "proxy/client/forward.h"
#include "proxy/ingest/bind.h"
#include "proxy/ingest/obstacles.h"
#include "proxy/ingest/submit.h"
#include "rewrite/insert/returned.h"
#include "rewrite/read/prefilter.h"
#include "rewrite/read/script.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- whether to hold ---- */

enum choice { HOLD, FORWARD, WAIT };

static enum choice may_hold(px_session *session, const px_plan *plan, pgw_slice message)
{
    px_standing standing = px_session_standing(session);
    if (plan == NULL || plan->insert->obstacle != RW_BATCHABLE || plan->hash_at_bind ||
        plan->refusal != NULL ||
        px_obstacle(&session->units, &standing, plan->identity, plan->insert) != PX_COUNTERS ||
        session->unsynced || session->status != 'I' ||
        session->group.bytes.len + message.len > PX_GROUP_BYTES ||
        px_group_is_full(&session->group))
        return FORWARD;
    if (session->group.count > 0 || px_session_idle(session))
        return HOLD;
    session->wait = PX_WAIT_IDLE;
    return WAIT;
}

/* ---- one message ---- */

static px_step forward_later(px_session *session)
{
    if (session->group.count > 0 && !px_group_release(session))
        return PX_STEP_LATER;
    return px_session_need_link(session) ? PX_STEP_DONE : PX_STEP_LATER;
}

/* `parsed`: the name that a refused Parse gives, else NULL: one that fails has destroyed the
 * unnamed statement all the same. */
static px_step refuse(px_session *session, const pgw_slice *parsed, const pgw_error *error)
{
    if (session->group.count > 0 && !px_group_release(session))
        return PX_STEP_LATER;
    if (!px_session_idle(session) && !px_session_need_link(session))
        return PX_STEP_LATER;
    if (parsed != NULL && parsed->len == 0)
        px_forward_drop_unnamed(session);
    px_session_refuse(session, error, true);
    return PX_STEP_DONE;
}

/* The same for what `catalog` says of a text; if that may be old, another look comes first. */
static px_step refuse_text(px_session *session, const pgw_slice *name, const px_catalog *catalog,
                           const pgw_error *error)
{
    if (px_session_doubts(session, catalog))
        return PX_STEP_LATER;
    px_step step = refuse(session, name, error);
    if (step == PX_STEP_DONE)
        session->doubted = false;
    return step;
}

/* What a statement that is none of ours does to the session when it is prepared here and run later.
 */
static void note_prepared_effects(px_session *session, const rw_script *script)
{
    px_note_script(session, script, false);
    if (script->effects & RW_EFFECT_TRANSACTION)
        session->commits = true;
    session->ddl_unsynced = session->ddl_unsynced || session->own.parsed.effects & RW_EFFECT_DDL;
    px_forward_script(session, script);
    for (size_t i = 0; i < script->count; i++) {
        const rw_statement *statement = &script->statements[i];
        if (statement->effects & RW_EFFECT_PREPARE) {
            free(session->prepares);
            session->prepares = pgw_strndup(statement->name.ptr, statement->name.len);
        }
        if (statement->effects & (RW_EFFECT_DEALLOCATE | RW_EFFECT_DISCARD_ALL)) {
            free(session->deallocates);
            session->deallocates = pgw_strndup(statement->name.ptr, statement->name.len);
        }
    }
}

/* What the table is like by then cannot be asked before Sync. */
static px_step refuse_unsynced(px_session *session, pgw_arena arena, const pgw_slice *name)
{
    pgw_error error;
    pgw_arena_free(&arena);
    pgw_fail(&error, "0A000", "the table may be changed earlier in the same pipeline");
    pgw_error_hint(&error, "Send Sync before the INSERT.");
    return refuse(session, name, &error);
}

/* A text seen for the first time: its plan, or what else is to become of it. The arena is given
 * away. */
static px_step make_plan(px_session *session, const pgw_parse *parse, const uint32_t *declared,
                         px_catalog *catalog, const rw_catalog *view, px_plan **plan)
{
    pgw_arena arena = {0};
    rw_script script;
    pgw_error error = PGW_ERROR_NONE;
    pgw_slice text = pgw_arena_copy(&arena, parse->query);
    rw_script_parse(text, view, &session->identity->env, &session->worker->plans->shapes, &arena,
                    &script);
    px_step step = PX_STEP_PASS;
    if ((script.refused || script.inserts > 0) && !px_settle(session, catalog)) {
        step = PX_STEP_LATER;
    } else if (script.refused) {
        size_t i = 0;
        while (script.statements[i].kind != RW_STATEMENT_REFUSED)
            i++;
        step = refuse_text(session, &parse->name, catalog, script.statements[i].error);
    } else if (script.inserts == 1 && script.count == 1) {
        if (session->unsynced && session->ddl_unsynced)
            return refuse_unsynced(session, arena, &parse->name);
        *plan = px_plan_new(arena, script.statements[0].insert, catalog, session->identity,
                            declared, parse->type_count, &error);
        if (*plan == NULL)
            return refuse_text(session, &parse->name, catalog, &error);
        session->doubted = false;
        return PX_STEP_DONE;
    } else if (script.effects != 0) {
        session->own.parsed.effects = px_change_effects(session, text, &script);
        session->own.parsed.moving = px_state_would_write(session, text, catalog);
        session->own.moving = session->own.moving || session->own.parsed.moving;
        step = forward_later(session) == PX_STEP_LATER ? PX_STEP_LATER : PX_STEP_PASS;
        if (step == PX_STEP_PASS)
            note_prepared_effects(session, &script);
    }
    pgw_arena_free(&arena);
    return step;
}

/* The plan of a Parse, counted; NULL where it is none of ours (PX_STEP_PASS), was refused
 * (PX_STEP_DONE), or must wait (PX_STEP_LATER). */
static px_step plan_of(px_session *session, const pgw_parse *parse, px_plan **plan)
{
    px_catalog *catalog;
    rw_catalog view;
    *plan = NULL;
    if (!px_session_catalog(session, parse->query, &catalog, &view))
        return PX_STEP_LATER;
    uint32_t *declared = pgw_alloc(parse->type_count * sizeof *declared);
    for (size_t i = 0; i < parse->type_count; i++)
        declared[i] = pgw_parse_type(parse, i);
    px_plan_id id =
        px_plan_id_of(parse->query, declared, parse->type_count, session->identity, catalog);
    px_step step = PX_STEP_DONE;
    bool usual = view.unqualified == NULL; /* else another session's plan may be of another table */
    *plan = usual ? px_plan_find(session->worker->plans, id) : NULL;
    if (*plan != NULL && !px_settle(session, catalog)) {
        *plan = NULL;
        step = PX_STEP_LATER;
    } else if (*plan != NULL) {
        px_plan_take(*plan);
    } else {
        step = make_plan(session, parse, declared, catalog, &view, plan);
        if (*plan != NULL && usual)
            px_plan_remember(session->worker->plans, id, *plan);
    }
    free(declared);
    return step;
}

static px_step take_parse(px_session *session, pgw_slice message, const pgw_parse *parse,
                          px_plan *plan)
{
    if (session->zone_moving && px_plan_needs_zone(plan)) {
        pgw_error error;
        pgw_fail(&error, "0A000", "the hash depends on TimeZone, and that is being changed");
        pgw_error_hint(&error, "Wait for the answer to SET before the INSERT is sent.");
        return refuse(session, NULL, &error);
    }
    bool taken =
        parse->name.len > 0 && (px_statements_find(&session->statements, parse->name) != NULL ||
                                px_group_mentions(&session->group, parse->name));
    enum choice choice = taken ? FORWARD : may_hold(session, plan, message);
    if (choice == HOLD)
        px_group_hold(session, 'P', message, plan);
    if (choice != FORWARD)
        return choice == HOLD ? PX_STEP_DONE : PX_STEP_LATER;
    if (forward_later(session) == PX_STEP_LATER)
        return PX_STEP_LATER;
    px_forward_parse(session, parse->name, plan);
    return PX_STEP_DONE;
}

/* What is none of ours, and names a statement that the link may have to be told of first. */
static px_step pass_named(px_session *session, pgw_slice name)
{
    const px_statement *statement = px_statements_find(&session->statements, name);
    if (statement == NULL || px_statements_on_link(&session->statements, statement))
        return PX_STEP_PASS;
    if (forward_later(session) == PX_STEP_LATER)
        return PX_STEP_LATER;
    px_forward_recorded(session, name);
    return PX_STEP_PASS;
}

static px_step on_parse(px_session *session, pgw_slice message, pgw_slice body)
{
    pgw_parse parse;
    px_plan *plan;
    rw_catalog names = *px_catalog_names(session->worker);
    if (!pgw_parse_decode(body, &parse) || session->identity->replication != NULL)
        return PX_STEP_PASS;
    session->own.parsed = (px_foreign){.effects = PX_UNREAD, .generation = session->own.generation};
    if (rw_prefilter_passes(parse.query, &names, &session->own.parsed.effects)) {
        if (px_forward_may_execute(session, parse.query)) {
            if (forward_later(session) == PX_STEP_LATER)
                return PX_STEP_LATER;
            px_forward_executed(session, parse.query);
        }
        return parse.name.len > 0 ? pass_named(session, parse.name) : PX_STEP_PASS;
    }
    pgw_error error;
    if (session->opaque && px_refuse_opaque(session, parse.query, &error))
        return refuse(session, &parse.name, &error);
    px_step step = plan_of(session, &parse, &plan);
    if (plan == NULL && step == PX_STEP_PASS && parse.name.len > 0)
        return pass_named(session, parse.name);
    if (plan == NULL)
        return step;
    step = take_parse(session, message, &parse, plan);
    px_plan_drop(plan);
    return step;
}

static px_step refuse_moved(px_session *session)
{
    pgw_error error;
    const px_foreign moved = {.moving = true, .generation = session->own.generation + 1};
    px_state_has_moved(session, &moved, &error);
    return refuse(session, NULL, &error);
}

/* A statement that is none of ours must not have become one. */
static px_step bind_foreign(px_session *session, pgw_slice name)
{
    pgw_error error;
    const px_foreign *foreign = px_state_foreign(session, name);
    if (foreign == NULL || !foreign->moving)
        return pass_named(session, name);
    if (!px_settle(session, px_catalog_none()))
        return PX_STEP_LATER;
    if (px_state_has_moved(session, foreign, &error))
        return refuse(session, NULL, &error);
    return pass_named(session, name);
}

/* The types of a statement's parameters are those it was prepared with, also those that were
 * inferred: columns may change theirs, what its client sends does not. Returns how many. */
static size_t types_of(const px_plan *plan, pgw_buf *types)
{
    size_t asked =
        plan->asked_count < plan->declared_count ? plan->asked_count : plan->declared_count;
    size_t known = plan->types != NULL ? plan->insert->param_count : 0;
    size_t count = asked > known ? asked : known;
    for (size_t i = 0; i < count; i++) {
        uint32_t type = i < known ? plan->types[i] : 0;
        pgw_buf_add_i32(types, (int32_t)(type == 0 && i < asked ? plan->declared[i] : type));
    }
    return count;
}

/* Its client goes on to read the answers as they were described. */
static px_step refuse_other_result(px_session *session)
{
    pgw_error error;
    pgw_fail(&error, "0A000", "cached plan must not change result type");
    return refuse(session, NULL, &error);
}

/* A statement of this name was prepared when the schema, or (if no link has it) the settings, were
 * others: its plan is made anew. DONE: it is as it should be. */
static px_step renew(px_session *session, pgw_slice name)
{
    px_statement *statement = px_statements_find(&session->statements, name);
    px_catalog *catalog;
    rw_catalog view;
    if (statement == NULL || statement->plan == NULL)
        return PX_STEP_DONE;
    if (!px_session_catalog(session, statement->plan->insert->text, &catalog, &view))
        return PX_STEP_LATER;
    px_plan *old = statement->plan, *fresh;
    bool same_settings = px_statements_on_link(&session->statements, statement) ||
                         strcmp(old->identity->key, session->identity->key) == 0;
    if (!px_settle(session, catalog))
        return PX_STEP_LATER;
    bool moved = statement->generation != session->own.generation;
    if (old->catalog == catalog && same_settings && !moved)
        return PX_STEP_DONE;
    pgw_buf types = {0};
    size_t count = types_of(old, &types);
    pgw_parse parse = {name, old->insert->text, pgw_slice_buf(&types), count};
    px_step step = plan_of(session, &parse, &fresh);
    pgw_buf_free(&types);
    if (fresh == NULL && step == PX_STEP_PASS && moved)
        return refuse_moved(session);
    if (fresh == NULL)
        return step;
    if (!rw_insert_returns_same(old->insert, fresh->insert)) {
        px_plan_drop(fresh);
        return refuse_other_result(session);
    }
    statement = px_statements_find(&session->statements, name);
    bool on_link = statement != NULL && px_statements_on_link(&session->statements, statement);
    if (on_link && px_session_idle(session))
        px_forward_close(session, name);
    else if (on_link)
        px_forward_close_unsynced(session, name);
    px_statements_put(&session->statements, name, fresh, false)->generation =
        session->own.generation;
    px_plan_drop(fresh);
    return PX_STEP_DONE;
}

static px_step on_bind(px_session *session, pgw_slice message, pgw_slice body)
{
    pgw_bind bind;
    pgw_error error;
    bool whole = pgw_bind_decode(body, &bind);
    px_plan *plan = px_group_plan(session, bind.statement);
    if (plan == NULL)
        return whole ? bind_foreign(session, bind.statement) : pass_named(session, bind.statement);
    px_step renewed =
        px_group_has(&session->group, "P") ? PX_STEP_DONE : renew(session, bind.statement);
    if (renewed != PX_STEP_DONE || session->skipping)
        return renewed;
    plan = px_group_plan(session, bind.statement);
    if (plan == NULL)
        return PX_STEP_PASS;
    if (session->zone_moving && px_plan_needs_zone(plan)) {
        pgw_fail(&error, "0A000", "the hash depends on TimeZone, and that is being changed");
        pgw_error_hint(&error, "Wait for the answer to SET before the INSERT is sent.");
        return refuse(session, NULL, &error);
    }
    if (!px_bind_check(plan, &bind, whole, &error))
        return refuse(session, NULL, &error);
    bool taken =
        bind.portal.len > 0 && px_group_portal(&session->group, bind.portal) != PX_GROUP_NONE;
    enum choice choice = taken ? FORWARD : may_hold(session, plan, message);
    if (choice == HOLD)
        px_group_hold(session, 'B', message, plan);
    if (choice != FORWARD)
        return choice == HOLD ? PX_STEP_DONE : PX_STEP_LATER;
    px_plan_take(plan); /* releasing the group lets go of its hold */
    px_step step = forward_later(session);
    if (step == PX_STEP_DONE && !session->skipping)
        px_forward_bind(session, &bind, plan, false);
    px_plan_drop(plan);
    return step;
}

static px_step on_describe(px_session *session, pgw_slice message, pgw_slice body)
{
    pgw_target target;
    if (!pgw_target_decode(body, &target))
        return PX_STEP_PASS;
    if (target.kind == 'P') {
        if (px_group_portal(&session->group, target.name) == PX_GROUP_NONE ||
            px_group_is_full(&session->group))
            return PX_STEP_PASS;
        px_group_hold(session, 'D', message, NULL);
        return PX_STEP_DONE;
    }
    px_plan *plan = px_group_plan(session, target.name);
    if (plan == NULL)
        return pass_named(session, target.name);
    enum choice choice = may_hold(session, plan, message);
    if (choice == HOLD)
        px_group_hold(session, 'D', message, plan);
    if (choice != FORWARD)
        return choice == HOLD ? PX_STEP_DONE : PX_STEP_LATER;
    px_plan_take(plan);
    px_step step = forward_later(session);
    if (step == PX_STEP_DONE && !session->skipping) {
        px_forward_recorded(session, target.name);
        px_forward_raw(session, PX_REPLY_DESCRIBE, plan, false, message);
    }
    px_plan_drop(plan);
    return step;
}

static px_step on_execute(px_session *session, pgw_slice message, pgw_slice body)
{
    pgw_execute execute;
    if (!pgw_execute_decode(body, &execute))
        return PX_STEP_PASS;
    size_t bind = px_group_portal(&session->group, execute.portal);
    if (bind == PX_GROUP_NONE || px_group_is_full(&session->group)) {
        if (forward_later(session) == PX_STEP_LATER)
            return PX_STEP_LATER;
        px_statement *portal = px_statements_find(&session->portals, execute.portal);
        if (portal == NULL || session->skipping)
            return PX_STEP_PASS;
        px_forward_raw(session, PX_REPLY_EXECUTE, portal->plan, false, message);
        return PX_STEP_DONE;
    }
    px_group_hold(session, 'E', message, session->group.held[bind].plan);
    return PX_STEP_DONE;
}

static px_step on_close(px_session *session, pgw_slice message, pgw_slice body)
{
    pgw_target target;
    if (!pgw_target_decode(body, &target))
        return PX_STEP_PASS;
    bool ours = target.kind == 'S' ? px_group_plan(session, target.name) != NULL
                                   : px_group_portal(&session->group, target.name) != PX_GROUP_NONE;
    if (ours && !px_group_is_full(&session->group) &&
        (session->group.count > 0 || px_session_idle(session))) {
        px_statement *statement = px_statements_find(&session->statements, target.name);
        if (target.kind == 'P' || statement == NULL ||
            !px_statements_on_link(&session->statements, statement)) {
            px_group_hold(session, 'C', message, NULL);
            return PX_STEP_DONE;
        }
    }
    px_step step = forward_later(session);
    if (step == PX_STEP_LATER)
        return step;
    return PX_STEP_PASS; /* and the name is forgotten there */
}

/* ---- the end of a group ---- */

static px_step sync_on_link(px_session *session)
{
    px_step step = px_group_release(session) ? PX_STEP_PASS : PX_STEP_LATER;
    session->units.rerouted = session->units.rerouted && step == PX_STEP_LATER;
    if (!session->units.rerouted)
        px_owner_drop_statement(&session->units);
    return step;
}

/* The plan that a held message is to have now; counted. NULL where it has none any more, was
 * refused, or must wait (LATER). */
static px_step plan_again(px_session *session, size_t i, px_plan **fresh)
{
    const px_group *group = &session->group;
    const px_held *held = &group->held[i];
    pgw_slice body = px_held_body(group, i), name = {NULL, 0};
    pgw_parse parse;
    pgw_bind bind;
    pgw_target target;
    *fresh = NULL;
    if (held->type == 'P' && pgw_parse_decode(body, &parse))
        return plan_of(session, &parse, fresh);
    if (held->about != PX_GROUP_NONE)
        *fresh = held->type == 'E' || group->held[held->about].type == 'P'
                     ? group->held[held->about].plan
                     : NULL;
    else if (held->type == 'B' && pgw_bind_decode(body, &bind))
        name = bind.statement;
    else if (held->type != 'E' && pgw_target_decode(body, &target))
        name = target.name;
    if (name.ptr != NULL) {
        px_step step = renew(session, name);
        if (step != PX_STEP_DONE || group->count == 0)
            return step; /* refused: the group, and the name in it, is gone */
        px_statement *statement = px_statements_find(&session->statements, name);
        *fresh = statement != NULL ? statement->plan : NULL;
    }
    if (*fresh != NULL)
        px_plan_take(*fresh);
    return PX_STEP_DONE;
}

/* The schema was not what it was thought to be: plans are made anew for all that is held. What is
 * not to be batched any more, or none of ours, the server is to judge. */
static px_step plan_all_again(px_session *session)
{
    px_group *group = &session->group;
    for (size_t i = 0; i < group->count && !session->units.rerouted; i++) {
        px_plan *fresh;
        if (group->held[i].plan == NULL)
            continue;
        px_step step = plan_again(session, i, &fresh);
        if (step == PX_STEP_LATER)
            return step;
        session->units.rerouted = fresh == NULL || fresh->insert->obstacle != RW_BATCHABLE;
        if (fresh == NULL)
            break;
        px_plan_drop(group->held[i].plan);
        group->held[i].plan = fresh;
    }
    return PX_STEP_DONE;
}

/* Nothing is bound: everything that is held does what it should. */
static px_step answer_all(px_session *session)
{
    pgw_buf out = {0};
    px_group_answer(session, session->group.count, NULL, &out);
    px_group_end(session, &out);
    return PX_STEP_DONE;
}

static size_t count_executions(const px_group *group)
{
    size_t count = 0;
    for (size_t i = 0; i < group->count; i++)
        count += group->held[i].type == 'E';
    return count;
}

/* All that is executed is of one plan, and bound in the group. `at` gets the held Execute of each.
 */
static px_submission submit_executions(px_session *session, size_t *at, px_unfit *unfit)
{
    const px_group *group = &session->group;
    size_t most = count_executions(group);
    pgw_bind *binds = pgw_alloc(most * sizeof *binds);
    const pgw_bind **list = pgw_alloc(most * sizeof *list);
    px_executions all = {.binds = list};
    for (size_t i = 0; i < group->count; i++) {
        if (group->held[i].type != 'E')
            continue;
        all.plan = group->held[i].plan;
        at[all.count] = i;
        list[all.count] = &binds[all.count];
        pgw_certainly(pgw_bind_decode(px_held_body(group, px_group_executed(group, i)),
                                      &binds[all.count++])); /* or it were not held */
    }
    px_standing standing = px_session_standing(session);
    px_submission what = px_submit_bound(&session->units, &standing, &all, unfit);
    free(list);
    free(binds);
    return what;
}

static void answer_unfit(px_session *session, const px_unfit *unfit, size_t execute)
{
    pgw_buf out = {0};
    size_t at = unfit->at_bind ? px_group_executed(&session->group, execute) : execute;
    px_group_answer(session, at, NULL, &out);
    pgw_error_write(&unfit->error, "ERROR", &out);
    px_count_error(session->worker->metrics, pgw_slice_str(unfit->error.sqlstate));
    px_group_end(session, &out);
}

/* The group is a unit, whose outcome will answer it (LATER); or it is for the own link (PASS); or
 * it is refused (DONE). */
static px_step submit_group(px_session *session)
{
    if (!px_batcher_has_room(session->worker)) {
        session->wait = PX_WAIT_TURN;
        return PX_STEP_LATER;
    }
    px_unfit unfit = {0};
    size_t *at = pgw_alloc(count_executions(&session->group) * sizeof *at);
    px_submission what = submit_executions(session, at, &unfit);
    if (what == PX_SUBMITTED)
        session->wait = PX_WAIT_UNIT;
    else if (what == PX_SUBMIT_REFUSED)
        answer_unfit(session, &unfit, at[unfit.execution]);
    free(at);
    static const px_step steps[] = {[PX_SUBMITTED] = PX_STEP_LATER,
                                    [PX_SUBMIT_ON_LINK] = PX_STEP_PASS,
                                    [PX_SUBMIT_REFUSED] = PX_STEP_DONE};
    return steps[what];
}

static px_step on_sync(px_session *session)
{
    if (session->units.repeated && plan_all_again(session) == PX_STEP_LATER)
        return PX_STEP_LATER;
    if (session->units.rerouted || !px_group_is_one_statement(&session->group))
        return sync_on_link(session);
    if (!px_forward_describe(session, false))
        return PX_STEP_LATER;
    if (!px_group_has(&session->group, "BE"))
        return answer_all(session);
    px_step step = PX_STEP_PASS; /* what is bound and not executed may fail all the same */
    if (px_group_has(&session->group, "E"))
        step = submit_group(session);
    return step == PX_STEP_PASS ? sync_on_link(session) : step;
}

static px_step on_flush(px_session *session)
{
    if (session->units.repeated && plan_all_again(session) == PX_STEP_LATER)
        return PX_STEP_LATER;
    if (session->units.rerouted || px_group_has(&session->group, "BE"))
        return px_group_release(session) ? PX_STEP_PASS : PX_STEP_LATER;
    if (!px_forward_describe(session, false))
        return PX_STEP_LATER;
    pgw_buf out = {0};
    px_group_answer(session, session->group.count, NULL, &out);
    px_stream_put_buf(session->stream, &out);
    pgw_buf_free(&out);
    return PX_STEP_DONE;
}

/* The statement that a message names; {NULL, 0}: none. */
static pgw_slice statement_name(char type, pgw_slice body)
{
    pgw_parse parse;
    pgw_bind bind;
    pgw_target target;
    if (type == 'P' && pgw_parse_decode(body, &parse))
        return parse.name;
    if (type == 'B' && pgw_bind_decode(body, &bind))
        return bind.statement;
    bool named = (type == 'D' || type == 'C') && pgw_target_decode(body, &target);
    return named && target.kind == 'S' ? target.name : (pgw_slice){NULL, 0};
}

/* Something unanswered may change what the name means, if it is not skipped or refused. */
static bool name_is_moving(const px_session *session, char type, pgw_slice body)
{
    const px_replies *replies = &session->replies;
    bool parsed = session->deallocates != NULL || session->prepares != NULL;
    if (replies->moving.count == 0 && replies->texts_renaming == 0 && !parsed)
        return false;
    pgw_slice name = statement_name(type, body);
    if (name.ptr == NULL)
        return false;
    if (session->unsynced)
        return px_replies_move_before(replies, name);
    return px_replies_move(replies, name) || (parsed && replies->count > 0);
}

/* In the middle of a group the server keeps its answers to itself until it is asked. */
static void wait_for_answers(px_session *session)
{
    pgw_buf out = {0};
    pgw_write_flush(&out);
    if (session->unsynced)
        px_session_send(session, &out);
    pgw_buf_free(&out);
    session->wait = PX_WAIT_IDLE;
}

px_step px_extended(px_session *session, char type, pgw_slice message)
{
    pgw_slice body = {message.ptr + PGW_HEADER, message.len - PGW_HEADER};
    if (name_is_moving(session, type, body)) {
        wait_for_answers(session);
        return PX_STEP_LATER;
    }
    switch (type) {
    case 'P':
        return on_parse(session, message, body);
    case 'B':
        return on_bind(session, message, body);
    case 'D':
        return on_describe(session, message, body);
    case 'E':
        return on_execute(session, message, body);
    case 'C':
        return on_close(session, message, body);
    case 'S':
        return on_sync(session);
    default:
        return on_flush(session);
    }
}
