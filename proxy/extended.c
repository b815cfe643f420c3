#include "proxy/session.h"

#include "protocol/backend.h"
#include "protocol/frontend.h"
#include "proxy/bind.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the group ---- */

pgw_slice px_held_message(const px_group *group, size_t i)
{
    return (pgw_slice){group->bytes.ptr + group->held[i].offset, group->held[i].size};
}

pgw_slice px_held_body(const px_group *group, size_t i)
{
    pgw_slice message = px_held_message(group, i);
    return (pgw_slice){message.ptr + PGW_HEADER, message.len - PGW_HEADER};
}

void px_group_clear(px_session *session)
{
    px_group *group = &session->group;
    for (size_t i = 0; i < group->count; i++)
        px_plan_drop(group->held[i].plan);
    group->count = 0;
    pgw_buf_free(&group->bytes);
}

static void hold(px_session *session, char type, pgw_slice message, px_plan *plan)
{
    px_group *group = &session->group;
    if (group->count == group->cap) {
        group->cap = group->cap ? group->cap * 2 : 8;
        group->held = pgw_realloc(group->held, group->cap * sizeof *group->held);
    }
    if (plan != NULL)
        px_plan_take(plan);
    group->held[group->count++] =
        (px_held){.type = type, .offset = group->bytes.len, .size = message.len, .plan = plan};
    pgw_buf_add_slice(&group->bytes, message);
}

/* The statement a name means now: prepared in the group, or before it. */
static px_plan *find_plan(px_session *session, pgw_slice name)
{
    const px_group *group = &session->group;
    for (size_t i = group->count; i-- > 0;) {
        pgw_parse parse;
        pgw_target target;
        if (group->held[i].type == 'P' && pgw_parse_decode(px_held_body(group, i), &parse) &&
            pgw_slice_eq(parse.name, name))
            return group->held[i].plan;
        if (group->held[i].type == 'C' && pgw_target_decode(px_held_body(group, i), &target) &&
            target.kind == 'S' && pgw_slice_eq(target.name, name))
            return NULL;
    }
    px_statement *statement = px_statements_find(&session->statements, name);
    return statement != NULL ? statement->plan : NULL;
}

/* The held Bind that made a portal; count if none did, or if it was executed since. */
size_t px_group_portal(const px_group *group, pgw_slice name, size_t before)
{
    for (size_t i = before; i-- > 0;) {
        pgw_bind bind;
        pgw_execute execute;
        pgw_target target;
        pgw_slice body = px_held_body(group, i);
        if (group->held[i].type == 'B' && pgw_bind_decode(body, &bind) &&
            pgw_slice_eq(bind.portal, name))
            return i;
        if (group->held[i].type == 'E' && pgw_execute_decode(body, &execute) &&
            pgw_slice_eq(execute.portal, name))
            return group->count; /* a second Execute: 55000, as the server says it */
        if (group->held[i].type == 'C' && pgw_target_decode(body, &target) && target.kind == 'P' &&
            pgw_slice_eq(target.name, name))
            return group->count;
    }
    return group->count;
}

static bool portal_in_group(const px_group *group, pgw_slice name)
{
    return px_group_portal(group, name, group->count) < group->count;
}

static bool group_has(const px_group *group, const char *types)
{
    for (size_t i = 0; i < group->count; i++)
        if (strchr(types, group->held[i].type) != NULL)
            return true;
    return false;
}

/* ---- whether to hold ---- */

enum choice { HOLD, FORWARD, WAIT };

static enum choice may_hold(px_session *session, const px_plan *plan, pgw_slice message)
{
    if (plan == NULL || plan->insert->obstacle != RW_BATCHABLE || session->private_session ||
        !plan->identity->env.utf8 || session->rerouted || session->unsynced ||
        session->status != 'I' || session->group.bytes.len + message.len > PX_GROUP_BYTES)
        return FORWARD;
    if (session->group.count > 0 || px_session_idle(session))
        return HOLD;
    session->wait = PX_WAIT_IDLE;
    return WAIT;
}

/* ---- sending to the own link ---- */

/* `adds`: the name is new, and free again if the server refuses. */
static void send_parse(px_session *session, pgw_slice name, px_plan *plan, bool swallow, bool adds)
{
    pgw_buf out = {0};
    pgw_write_parse(name, plan->rewritten, plan->declared, plan->declared_count, &out);
    px_reply *reply = px_replies_push(&session->replies, PX_REPLY_PARSE);
    reply->swallow = swallow;
    reply->plan = plan;
    px_plan_take(plan);
    reply->name = adds ? pgw_strndup(name.ptr, name.len) : NULL;
    px_session_send(session, &out);
    pgw_buf_free(&out);
    session->unsynced = true;
}

static void send_describe(px_session *session, pgw_slice name, px_plan *plan)
{
    pgw_buf out = {0};
    pgw_write_describe('S', name, &out);
    px_reply *reply = px_replies_push(&session->replies, PX_REPLY_DESCRIBE);
    reply->swallow = reply->describe_plan = true;
    reply->plan = plan;
    px_plan_take(plan);
    px_session_send(session, &out);
    pgw_buf_free(&out);
}

/* Lets the backend describe a new statement before anything that needs its types is sent. */
static void describe(px_session *session, pgw_slice name, px_plan *plan, bool sync)
{
    pgw_buf out = {0};
    send_describe(session, name, plan);
    if (sync) {
        pgw_write_sync(&out);
        px_replies_push(&session->replies, PX_REPLY_SYNC)->swallow = true;
        session->unsynced = false;
    } else {
        pgw_write_flush(&out);
    }
    px_session_send(session, &out);
    pgw_buf_free(&out);
    session->wait = PX_WAIT_DESCRIBE;
}

void px_extended_refused(px_session *session)
{
    px_group_clear(session);
    session->skipping = true;
    if (session->unsynced)
        session->wait = PX_WAIT_NOTHING; /* no ReadyForQuery comes before the client's own Sync */
}

/* A recorded statement whose name is asked for again: the link must know it, to refuse the second.
 */
static void prepare_if_recorded(px_session *session, pgw_slice name)
{
    px_statement *statement = px_statements_find(&session->statements, name);
    if (statement == NULL || statement->plan == NULL || statement->on_link)
        return;
    send_parse(session, name, statement->plan, true, false);
    statement->on_link = true;
}

static void forward_parse(px_session *session, pgw_slice name, px_plan *plan)
{
    if (name.len > 0)
        prepare_if_recorded(session, name);
    bool adds = name.len == 0 || px_statements_find(&session->statements, name) == NULL;
    send_parse(session, name, plan, false, adds);
    if (adds)
        px_statements_put(&session->statements, name, plan, true);
    if (!plan->types_known)
        describe(session, name, plan, false);
}

static void forward_bind(px_session *session, const pgw_bind *bind, px_plan *plan, bool swallow)
{
    pgw_error error;
    pgw_arena arena = {0};
    px_bound bound;
    pgw_buf out = {0};
    if (!px_bind_keys(session->worker->config, plan, bind, &session->identity->env, &arena, &bound,
                      &error) ||
        !px_bind_write(plan, bind, bind->portal, bind->statement, &bound, &out, &error)) {
        px_session_refuse(session, &error, true);
    } else {
        prepare_if_recorded(session, bind->statement);
        px_reply *reply = px_replies_push(&session->replies, PX_REPLY_BIND);
        reply->plan = plan;
        px_plan_take(plan);
        reply->swallow = swallow;
        px_session_send(session, &out);
        session->unsynced = true;
        px_statements_put(&session->portals, bind->portal, plan, true);
    }
    pgw_buf_free(&out);
    pgw_arena_free(&arena);
}

static void forward_raw(px_session *session, px_reply_kind kind, px_plan *plan, bool swallow,
                        pgw_slice message)
{
    px_reply *reply = px_replies_push(&session->replies, kind);
    reply->swallow = swallow;
    reply->plan = plan;
    if (plan != NULL)
        px_plan_take(plan);
    px_stream_put(px_link_stream(session->link), message.ptr, message.len);
    session->unsynced = true;
}

/* A statement that was described is on the link already: if the client knows it there is nothing to
 * do, else it gets its ParseComplete from a second Parse, for which a name must be free. */
static void forward_held_parse(px_session *session, const px_held *held, pgw_slice name)
{
    if (held->answered && held->on_link)
        return;
    if (held->on_link && name.len > 0) {
        pgw_buf out = {0};
        pgw_write_close('S', name, &out);
        forward_raw(session, PX_REPLY_CLOSE, NULL, true, pgw_slice_buf(&out));
        pgw_buf_free(&out);
    }
    if (held->answered)
        prepare_if_recorded(session, name);
    else
        forward_parse(session, name, held->plan);
}

static void forward_held(px_session *session, size_t i)
{
    px_group *group = &session->group;
    px_held *held = &group->held[i];
    pgw_slice body = px_held_body(group, i), message = px_held_message(group, i);
    pgw_parse parse;
    pgw_bind bind;
    pgw_target target;
    switch (held->type) {
    case 'P':
        if (pgw_parse_decode(body, &parse))
            forward_held_parse(session, held, parse.name);
        return;
    case 'B':
        if (pgw_bind_decode(body, &bind))
            forward_bind(session, &bind, held->plan, held->answered);
        return;
    case 'E':
        forward_raw(session, PX_REPLY_EXECUTE, held->plan, held->answered, message);
        return;
    case 'D':
        if (pgw_target_decode(body, &target) && target.kind == 'S') {
            prepare_if_recorded(session, target.name);
            forward_raw(session, PX_REPLY_DESCRIBE, held->plan, held->answered, message);
        } else {
            forward_raw(session, PX_REPLY_DESCRIBE_PORTAL, held->plan, held->answered, message);
        }
        return;
    default:
        if (pgw_target_decode(body, &target) && target.kind == 'S')
            px_statements_remove(&session->statements, target.name);
        forward_raw(session, PX_REPLY_CLOSE, NULL, held->answered, message);
    }
}

/* One session asks for all that come with the same statement, so that a thousand do not open a
 * thousand links for it. */
static void claim(px_session *session, px_plan *plan)
{
    if (session->describing == plan)
        return;
    px_session_give_up_claim(session);
    session->describing = plan;
    plan->describing = true;
    px_plan_take(plan);
}

/* The first new statement of the group that the backend has not described (or, with `keys`, whose
 * parameters have types that only it can tell) is described now; false: the session waits. */
static bool describe_new(px_session *session, bool keys)
{
    px_group *group = &session->group;
    for (size_t i = 0; i < group->count; i++) {
        px_plan *plan = group->held[i].plan;
        pgw_parse parse;
        if (group->held[i].type != 'P' || group->held[i].answered ||
            (keys ? plan->types_known : plan->described))
            continue;
        if (plan->describing && session->describing != plan) {
            session->wait = PX_WAIT_TURN;
            return false;
        }
        claim(session, plan);
        if (!px_session_need_link(session))
            return false;
        if (!pgw_parse_decode(px_held_body(group, i), &parse))
            continue;
        send_parse(session, parse.name, plan, true, false);
        describe(session, parse.name, plan, true);
        group->held[i].on_link = true;
        return false;
    }
    return true;
}

bool px_group_release(px_session *session)
{
    if (!px_session_need_link(session) || !describe_new(session, true))
        return false;
    for (size_t i = 0; i < session->group.count && !session->skipping; i++)
        forward_held(session, i);
    px_group_clear(session);
    return true;
}

/* ---- one message ---- */

static px_step forward_later(px_session *session)
{
    if (session->group.count > 0 && !px_group_release(session))
        return PX_STEP_LATER;
    return px_session_need_link(session) ? PX_STEP_DONE : PX_STEP_LATER;
}

static px_step refuse(px_session *session, const pgw_error *error)
{
    if (session->group.count > 0 && !px_group_release(session))
        return PX_STEP_LATER;
    if (!px_session_idle(session) && !px_session_need_link(session))
        return PX_STEP_LATER;
    px_session_refuse(session, error, true);
    return PX_STEP_DONE;
}

/* What a statement that is none of ours does to the session when it is prepared here and run later.
 * Names that it may drop are forgotten at once: at worst a Bind to one goes on as it is, and the
 * server finds our parameter missing. */
static void note_prepared_effects(px_session *session, const rw_script *script)
{
    if (script->effects & (RW_EFFECT_PRIVATE | RW_EFFECT_TEMPORARY))
        session->private_session = true;
    if (script->effects & RW_EFFECT_TEMPORARY)
        session->qualified_only = true;
    if (script->effects & RW_EFFECT_STATE)
        session->link_state = true;
    if (script->effects & RW_EFFECT_DDL)
        session->ddl_seen = true;
    for (size_t i = 0; i < script->count; i++) {
        const rw_statement *statement = &script->statements[i];
        if ((statement->effects & RW_EFFECT_TRACKED) && px_session_setting(statement->setting) >= 5)
            session->private_session = true;
        if (statement->effects & RW_EFFECT_PREPARE)
            px_statements_put(&session->statements, statement->name, NULL, true);
        if (statement->effects & RW_EFFECT_DEALLOCATE) {
            prepare_if_recorded(session, statement->name);
            px_statements_remove(&session->statements, statement->name);
        }
    }
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
    rw_script_parse(text, view, &session->identity->env, &arena, &script);
    px_step step = PX_STEP_PASS;
    if (script.refused) {
        size_t i = 0;
        while (script.statements[i].kind != RW_STATEMENT_REFUSED)
            i++;
        step = refuse(session, script.statements[i].error);
    } else if (script.inserts == 1 && script.count == 1) {
        *plan = px_plan_new(arena, script.statements[0].insert, catalog, session->identity,
                            declared, parse->type_count, &error);
        return *plan != NULL ? PX_STEP_DONE : refuse(session, &error);
    } else if (script.effects != 0) {
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
    if (!px_session_catalog(session, &catalog, &view))
        return PX_STEP_LATER;
    uint32_t *declared = pgw_alloc(parse->type_count * sizeof *declared);
    for (size_t i = 0; i < parse->type_count; i++)
        declared[i] = pgw_parse_type(parse, i);
    px_plan_id id =
        px_plan_id_of(parse->query, declared, parse->type_count, session->identity, catalog);
    px_step step = PX_STEP_DONE;
    *plan = session->qualified_only ? NULL : px_plan_find(session->worker->plans, id);
    if (*plan != NULL) {
        px_plan_take(*plan);
    } else {
        step = make_plan(session, parse, declared, catalog, &view, plan);
        if (*plan != NULL && !session->qualified_only)
            px_plan_remember(session->worker->plans, id, *plan);
    }
    free(declared);
    return step;
}

static px_step take_parse(px_session *session, pgw_slice message, const pgw_parse *parse,
                          px_plan *plan)
{
    bool taken =
        parse->name.len > 0 && (px_statements_find(&session->statements, parse->name) != NULL ||
                                find_plan(session, parse->name) != NULL);
    enum choice choice = taken ? FORWARD : may_hold(session, plan, message);
    if (choice == HOLD)
        hold(session, 'P', message, plan);
    if (choice != FORWARD)
        return choice == HOLD ? PX_STEP_DONE : PX_STEP_LATER;
    if (forward_later(session) == PX_STEP_LATER)
        return PX_STEP_LATER;
    forward_parse(session, parse->name, plan);
    return PX_STEP_DONE;
}

static px_step on_parse(px_session *session, pgw_slice message, pgw_slice body)
{
    pgw_parse parse;
    px_plan *plan;
    rw_catalog names = *px_catalog_names(session->worker);
    if (!pgw_parse_decode(body, &parse) || session->identity->replication != NULL)
        return PX_STEP_PASS;
    if (rw_text_passes(parse.query, &names)) {
        px_statement *same = px_statements_find(&session->statements, parse.name);
        if (same == NULL || same->plan == NULL || same->on_link || parse.name.len == 0)
            return PX_STEP_PASS;
        if (forward_later(session) == PX_STEP_LATER)
            return PX_STEP_LATER;
        prepare_if_recorded(session, parse.name);
        return PX_STEP_PASS;
    }
    px_step step = plan_of(session, &parse, &plan);
    if (plan == NULL)
        return step;
    step = take_parse(session, message, &parse, plan);
    px_plan_drop(plan);
    return step;
}

static px_step on_bind(px_session *session, pgw_slice message, pgw_slice body)
{
    pgw_bind bind;
    pgw_error error;
    bool whole = pgw_bind_decode(body, &bind);
    px_plan *plan = find_plan(session, bind.statement);
    if (plan == NULL)
        return PX_STEP_PASS;
    if (!px_bind_check(plan, &bind, whole, &error))
        return refuse(session, &error);
    bool taken = bind.portal.len > 0 && portal_in_group(&session->group, bind.portal);
    enum choice choice = taken ? FORWARD : may_hold(session, plan, message);
    if (choice == HOLD)
        hold(session, 'B', message, plan);
    if (choice != FORWARD)
        return choice == HOLD ? PX_STEP_DONE : PX_STEP_LATER;
    px_plan_take(plan); /* releasing the group lets go of its hold */
    px_step step = forward_later(session);
    if (step == PX_STEP_DONE && !session->skipping)
        forward_bind(session, &bind, plan, false);
    px_plan_drop(plan);
    return step;
}

static px_step on_describe(px_session *session, pgw_slice message, pgw_slice body)
{
    pgw_target target;
    if (!pgw_target_decode(body, &target))
        return PX_STEP_PASS;
    if (target.kind == 'P') {
        if (!portal_in_group(&session->group, target.name))
            return PX_STEP_PASS;
        hold(session, 'D', message, NULL);
        return PX_STEP_DONE;
    }
    px_plan *plan = find_plan(session, target.name);
    if (plan == NULL)
        return PX_STEP_PASS;
    enum choice choice = may_hold(session, plan, message);
    if (choice == HOLD)
        hold(session, 'D', message, plan);
    if (choice != FORWARD)
        return choice == HOLD ? PX_STEP_DONE : PX_STEP_LATER;
    px_plan_take(plan);
    px_step step = forward_later(session);
    if (step == PX_STEP_DONE && !session->skipping) {
        prepare_if_recorded(session, target.name);
        forward_raw(session, PX_REPLY_DESCRIBE, plan, false, message);
    }
    px_plan_drop(plan);
    return step;
}

static px_step on_execute(px_session *session, pgw_slice message, pgw_slice body)
{
    pgw_execute execute;
    if (!pgw_execute_decode(body, &execute))
        return PX_STEP_PASS;
    if (!portal_in_group(&session->group, execute.portal)) {
        if (forward_later(session) == PX_STEP_LATER)
            return PX_STEP_LATER;
        px_statement *portal = px_statements_find(&session->portals, execute.portal);
        if (portal == NULL || session->skipping)
            return PX_STEP_PASS;
        forward_raw(session, PX_REPLY_EXECUTE, portal->plan, false, message);
        return PX_STEP_DONE;
    }
    size_t bind = px_group_portal(&session->group, execute.portal, session->group.count);
    hold(session, 'E', message, session->group.held[bind].plan);
    return PX_STEP_DONE;
}

static px_step on_close(px_session *session, pgw_slice message, pgw_slice body)
{
    pgw_target target;
    if (!pgw_target_decode(body, &target))
        return PX_STEP_PASS;
    bool ours = target.kind == 'S' ? find_plan(session, target.name) != NULL
                                   : portal_in_group(&session->group, target.name);
    if (ours && (session->group.count > 0 || px_session_idle(session))) {
        px_statement *statement = px_statements_find(&session->statements, target.name);
        if (target.kind == 'P' || statement == NULL || !statement->on_link) {
            hold(session, 'C', message, NULL);
            return PX_STEP_DONE;
        }
    }
    px_step step = forward_later(session);
    if (step == PX_STEP_LATER)
        return step;
    if (target.kind == 'S')
        px_statements_remove(&session->statements, target.name);
    return PX_STEP_PASS;
}

/* ---- the end of a group ---- */

static void forget_statement(px_session *session, pgw_slice name)
{
    px_statement *statement = px_statements_find(&session->statements, name);
    if (statement != NULL && statement->on_link && session->link_ready)
        px_session_close_on_link(session, name);
    px_statements_remove(&session->statements, name);
}

/* What the client is owed for held message `i`, as it stands when it did what it should. */
static void answer(px_session *session, size_t i, pgw_slice tag, pgw_buf *out)
{
    px_group *group = &session->group;
    px_held *held = &group->held[i];
    pgw_slice body = px_held_body(group, i);
    pgw_parse parse;
    pgw_target target;
    switch (held->type) {
    case 'P':
        if (pgw_parse_decode(body, &parse))
            px_statements_put(&session->statements, parse.name, held->plan, held->on_link);
        pgw_write_parse_complete(out);
        break;
    case 'B':
        pgw_write_bind_complete(out);
        break;
    case 'D':
        if (held->plan != NULL)
            pgw_write_parameter_description(held->plan->types, held->plan->insert->param_count,
                                            out);
        pgw_write_no_data(out);
        break;
    case 'E':
        pgw_write_tag(tag.ptr, out);
        break;
    default:
        if (pgw_target_decode(body, &target) && target.kind == 'S')
            forget_statement(session, target.name);
        pgw_write_close_complete(out);
    }
    held->answered = true;
}

void px_group_answer(px_session *session, size_t before, const px_unit *unit, pgw_buf *out)
{
    size_t executed = 0;
    for (size_t i = 0; i < before; i++) {
        const px_held *held = &session->group.held[i];
        char tag[40] = "";
        if (held->type == 'E') {
            size_t rows =
                unit != NULL ? unit->statements[executed++].tag : held->plan->insert->row_count;
            snprintf(tag, sizeof tag, "INSERT 0 %zu", rows);
        }
        if (!session->group.held[i].answered)
            answer(session, i, pgw_slice_str(tag), out);
    }
}

void px_group_end(px_session *session, pgw_buf *out)
{
    pgw_write_ready('I', out);
    px_stream_put_buf(session->stream, out);
    pgw_buf_free(out);
    px_group_clear(session);
}

/* One statement text for all that is executed: what a pipeline of one prepared statement can do. */
static bool one_statement(const px_group *group)
{
    const px_plan *first = NULL;
    for (size_t i = 0; i < group->count; i++) {
        const px_plan *plan = group->held[i].plan;
        if (group->held[i].type != 'E')
            continue;
        if (first != NULL && strcmp(first->name, plan->name) != 0)
            return false;
        first = plan;
    }
    return true;
}

static px_step on_sync(px_session *session)
{
    if (session->rerouted || !one_statement(&session->group)) {
        px_step step = px_group_release(session) ? PX_STEP_PASS : PX_STEP_LATER;
        session->rerouted = session->rerouted && step == PX_STEP_LATER;
        return step;
    }
    if (!describe_new(session, false))
        return PX_STEP_LATER;
    pgw_error error;
    size_t at = 0;
    if (group_has(&session->group, "E") && !px_batcher_has_room(session->worker)) {
        session->wait = PX_WAIT_TURN;
        return PX_STEP_LATER;
    }
    if (group_has(&session->group, "E") && px_submit_group(session, &error, &at))
        return PX_STEP_LATER; /* Sync is answered with the outcome */
    pgw_buf out = {0};
    if (!group_has(&session->group, "E")) {
        px_group_answer(session, session->group.count, NULL, &out);
    } else {
        px_group_answer(session, at, NULL, &out);
        pgw_error_write(&error, "ERROR", &out);
    }
    px_group_end(session, &out);
    return PX_STEP_DONE;
}

static px_step on_flush(px_session *session)
{
    if (session->rerouted || group_has(&session->group, "BE"))
        return px_group_release(session) ? PX_STEP_PASS : PX_STEP_LATER;
    if (!describe_new(session, false))
        return PX_STEP_LATER;
    pgw_buf out = {0};
    px_group_answer(session, session->group.count, NULL, &out);
    px_stream_put_buf(session->stream, &out);
    pgw_buf_free(&out);
    return PX_STEP_DONE;
}

px_step px_extended(px_session *session, char type, pgw_slice message)
{
    pgw_slice body = {message.ptr + PGW_HEADER, message.len - PGW_HEADER};
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
