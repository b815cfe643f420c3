#define _GNU_SOURCE
#include "proxy/client/forward.h"

#include "protocol/backend.h"
#include "protocol/frontend.h"
#include "proxy/client/outcome.h"
#include "proxy/ingest/bind.h"
#include "proxy/ingest/obstacles.h"
#include "rewrite/insert/render.h"
#include "rewrite/lex/lexer.h"
#include "rewrite/lex/lexer_text.h"
#include "rewrite/read/script.h"

#include <stdlib.h>
#include <string.h>

/* Prepares there what was prepared here, or on a link that was lost. Closes it first: a Close that
 * the server skipped behind an error has left it there, and of what is not there it succeeds. */
static px_reply *prepare(px_session *session, px_statement *statement)
{
    pgw_buf out = {0};
    const px_plan *plan = statement->plan;
    pgw_write_close('S', pgw_slice_str(statement->name), &out);
    px_reply *closed = px_replies_push(&session->replies, PX_REPLY_CLOSE);
    closed->swallow = closed->silent = true;
    if (plan == NULL)
        pgw_buf_add_slice(&out, pgw_slice_buf(&statement->parse));
    else
        pgw_certainly(pgw_write_parse(pgw_slice_str(statement->name), plan->rewritten,
                                      plan->declared, plan->declared_count, &out));
    px_reply *reply = px_replies_push(&session->replies, PX_REPLY_PARSE);
    reply->swallow = true;
    reply->plan = statement->plan;
    if (reply->plan != NULL)
        px_plan_take(reply->plan);
    px_reply_records(&session->replies, reply, statement->name);
    px_statements_move(&session->statements, statement, true);
    px_session_send(session, &out);
    pgw_buf_free(&out);
    return reply;
}

static px_statement *find_away(px_session *session, pgw_slice name)
{
    px_statement *statement = px_statements_find(&session->statements, name);
    bool away = statement != NULL && !px_statements_on_link(&session->statements, statement) &&
                (statement->plan != NULL || statement->parse.len > 0);
    return away ? statement : NULL;
}

void px_forward_recorded(px_session *session, pgw_slice name)
{
    px_statement *statement = find_away(session, name);
    if (statement == NULL)
        return;
    prepare(session, statement);
    session->unsynced = true;
}

void px_forward_named(px_session *session, pgw_slice name)
{
    px_statement *statement = find_away(session, name);
    if (statement == NULL || session->status == 'E') /* nothing can be prepared, and nothing run */
        return;
    prepare(session, statement)->silent = true;
    if (session->unsynced)
        return;
    pgw_buf out = {0};
    pgw_write_sync(&out);
    px_replies_push(&session->replies, PX_REPLY_SYNC)->swallow = true;
    px_session_send(session, &out);
    pgw_buf_free(&out);
}

void px_forward_script(px_session *session, const rw_script *script)
{
    if ((script->effects & (RW_EFFECT_PREPARE | RW_EFFECT_DEALLOCATE)) == 0)
        return;
    for (size_t i = 0; i < script->count; i++)
        if (script->statements[i].effects & (RW_EFFECT_PREPARE | RW_EFFECT_DEALLOCATE))
            px_forward_named(session, script->statements[i].name);
}

bool px_forward_may_execute(const px_session *session, pgw_slice text)
{
    return px_statements_away(&session->statements) != NULL &&
           strcasestr(text.ptr, "execute") != NULL;
}

void px_forward_executed(px_session *session, pgw_slice text)
{
    pgw_arena arena = {0};
    rw_lexer lexer;
    rw_lexer_init(&lexer, text, session->identity->env.conforming);
    rw_token token = rw_lexer_next(&lexer);
    while (token.kind != RW_TOKEN_END && token.kind != RW_TOKEN_BAD) {
        bool execute = rw_token_is(text, token, "execute");
        token = rw_lexer_next(&lexer);
        if (execute && (token.kind == RW_TOKEN_WORD || token.kind == RW_TOKEN_QUOTED))
            px_forward_named(session, rw_token_name(text, token, &arena));
    }
    pgw_arena_free(&arena);
}

void px_forward_close_unsynced(px_session *session, pgw_slice name)
{
    pgw_buf out = {0};
    pgw_write_close('S', name, &out);
    px_forward_raw(session, PX_REPLY_CLOSE, NULL, true, pgw_slice_buf(&out));
    pgw_buf_free(&out);
}

void px_forward_close(px_session *session, pgw_slice name)
{
    pgw_buf out = {0};
    pgw_write_close('S', name, &out);
    pgw_write_sync(&out);
    px_replies_push(&session->replies, PX_REPLY_CLOSE)->swallow = true;
    px_replies_push(&session->replies, PX_REPLY_SYNC)->swallow = true;
    px_session_send(session, &out);
    pgw_buf_free(&out);
}

void px_forward_drop_unnamed(px_session *session)
{
    const pgw_slice unnamed = PGW_LITERAL("");
    const px_statement *ours = px_statements_find(&session->statements, unnamed);
    bool on_link = session->unnamed_on_link ||
                   (ours != NULL && px_statements_on_link(&session->statements, ours));
    if (on_link && session->link_ready && px_session_idle(session))
        px_forward_close(session, unnamed);
    else if (on_link && session->link_ready)
        px_forward_close_unsynced(session, unnamed);
    session->unnamed_on_link = false;
    px_statements_remove(&session->statements, unnamed);
}

static px_reply *send_parse(px_session *session, pgw_slice name, px_plan *plan, bool swallow)
{
    pgw_buf out = {0};
    pgw_certainly(
        pgw_write_parse(name, plan->rewritten, plan->declared, plan->declared_count, &out));
    px_reply *reply = px_replies_push(&session->replies, PX_REPLY_PARSE);
    reply->swallow = swallow;
    reply->plan = plan;
    px_plan_take(plan);
    px_session_send(session, &out);
    pgw_buf_free(&out);
    session->unsynced = true;
    return reply;
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

void px_forward_refused(px_session *session)
{
    px_group_clear(session);
    session->skipping = true;
    if (session->unsynced)
        session->wait = PX_WAIT_NOTHING; /* no ReadyForQuery comes before the client's own Sync */
}

static void send_named_parse(px_session *session, pgw_slice name, px_plan *plan)
{
    bool adds = name.len == 0 || px_statements_find(&session->statements, name) == NULL;
    px_reply *reply = send_parse(session, name, plan, false);
    if (adds) {
        px_reply_renames(&session->replies, reply, &session->statements, name);
        px_statements_put(&session->statements, name, plan, true)->generation =
            session->own.generation;
    }
}

void px_forward_parse(px_session *session, pgw_slice name, px_plan *plan)
{
    if (name.len > 0)
        px_forward_recorded(session, name);
    send_named_parse(session, name, plan);
    if (!plan->types_known)
        describe(session, name, plan, false);
}

/* The statement that a Bind has for itself. */
#define ONCE PGW_LITERAL("keyspread bind")

static void send_bind(px_session *session, const pgw_bind *bind, px_plan *plan, bool swallow,
                      const pgw_buf *message)
{
    if (plan->whole != NULL) {
        px_forward_close_unsynced(session, ONCE);
        send_parse(session, ONCE, plan, true);
    } else {
        px_forward_recorded(session, bind->statement);
    }
    px_reply *reply = px_replies_push(&session->replies, PX_REPLY_BIND);
    reply->plan = plan;
    px_plan_take(plan);
    reply->swallow = swallow;
    px_session_send(session, message);
    session->unsynced = true;
    px_statements_put(&session->portals, bind->portal, plan, true);
}

/* The statement that the Bind is of, counted. NULL: the error. */
static px_plan *bound_statement(px_session *session, const pgw_bind *bind, px_plan *plan,
                                px_bound *bound, pgw_arena *arena, pgw_error *error)
{
    px_plan *other = NULL;
    if (px_bind_keys(session->worker, plan, bind, &session->identity->env, arena, bound, error))
        other = px_plan_for_bind(plan, bound->keys);
    else if (rw_insert_may_fail(plan->insert))
        return px_plan_refusing(plan, bound->keys, bound->known, error);
    else
        return NULL;
    if (other == NULL)
        px_plan_take(other = px_outcome_has_rest(session) ? session->units.plan : plan);
    return other;
}

void px_forward_bind(px_session *session, const pgw_bind *bind, px_plan *plan, bool swallow)
{
    pgw_error error;
    pgw_arena arena = {0};
    px_bound bound;
    pgw_buf out = {0};
    px_plan *sent = bound_statement(session, bind, plan, &bound, &arena, &error);
    pgw_slice name = sent != plan ? ONCE : bind->statement;
    if (sent != NULL && px_bind_write(sent, bind, bind->portal, name, &bound, &out, &error)) {
        px_standing standing = px_session_standing(session);
        px_obstacle_count_bind(&session->units, &standing, sent, &bound);
        send_bind(session, bind, sent, swallow, &out);
    } else {
        px_session_refuse(session, &error, true);
    }
    px_plan_drop(sent);
    pgw_buf_free(&out);
    pgw_arena_free(&arena);
}

px_reply *px_forward_raw(px_session *session, px_reply_kind kind, px_plan *plan, bool swallow,
                         pgw_slice message)
{
    px_reply *reply = px_replies_push(&session->replies, kind);
    reply->swallow = swallow;
    reply->plan = plan;
    if (plan != NULL)
        px_plan_take(plan);
    if (kind == PX_REPLY_EXECUTE && plan != NULL && session->status == 'I')
        session->undecided = true;
    px_link_send(session->link, message.ptr, message.len);
    session->unsynced = true;
    return reply;
}

/* A statement that was described is on the link already: if the client knows it there is nothing to
 * do, else it gets its ParseComplete from a second Parse, for which a name must be free. */
static void forward_held_parse(px_session *session, const px_held *held, pgw_slice name)
{
    if (held->answered && held->on_link)
        return;
    if (held->on_link && name.len > 0)
        px_forward_close_unsynced(session, name);
    if (held->answered)
        px_forward_recorded(session, name);
    else
        px_forward_parse(session, name, held->plan);
}

/* What the portal of a held Execute was bound to just now. */
static px_plan *portal_plan(px_session *session, const px_held *held, pgw_slice body)
{
    pgw_execute execute;
    px_statement *portal = pgw_execute_decode(body, &execute)
                               ? px_statements_find(&session->portals, execute.portal)
                               : NULL;
    return portal != NULL ? portal->plan : held->plan;
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
            px_forward_bind(session, &bind, held->plan, held->answered);
        return;
    case 'E':
        px_forward_raw(session, PX_REPLY_EXECUTE, portal_plan(session, held, body), held->answered,
                       message);
        return;
    case 'D':
        if (pgw_target_decode(body, &target) && target.kind == 'S') {
            px_forward_recorded(session, target.name);
            px_forward_raw(session, PX_REPLY_DESCRIBE, held->plan, held->answered, message);
        } else {
            px_forward_raw(session, PX_REPLY_DESCRIBE_PORTAL, held->plan, held->answered, message);
        }
        return;
    default:
        if (pgw_target_decode(body, &target) && target.kind == 'S')
            px_reply_renames(&session->replies,
                             px_forward_raw(session, PX_REPLY_CLOSE, NULL, held->answered, message),
                             &session->statements, target.name);
        else
            px_forward_raw(session, PX_REPLY_CLOSE, NULL, held->answered, message);
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
bool px_forward_describe(px_session *session, bool keys)
{
    px_group *group = &session->group;
    for (size_t i = 0; i < group->count; i++) {
        px_plan *plan = group->held[i].plan;
        pgw_parse parse;
        if (group->held[i].type != 'P' || group->held[i].answered ||
            (keys ? plan->types_known : plan->described))
            continue;
        if (plan->describing && session->describing != plan) {
            plan->awaited = true;
            session->wait = PX_WAIT_TURN;
            return false;
        }
        claim(session, plan);
        if (!px_session_need_link(session))
            return false;
        if (!pgw_parse_decode(px_held_body(group, i), &parse))
            continue;
        send_parse(session, parse.name, plan, true);
        describe(session, parse.name, plan, true);
        group->held[i].on_link = true;
        return false;
    }
    return true;
}

static bool is_unnamed_parse(const px_group *group, size_t i)
{
    pgw_parse parse;
    return group->held[i].type == 'P' && pgw_parse_decode(px_held_body(group, i), &parse) &&
           parse.name.len == 0;
}

/* The Parse that failed has destroyed the unnamed statement there, also one that the client has. */
static void drop_unnamed_there(px_session *session)
{
    px_group *group = &session->group;
    px_statement *statement = px_statements_find(&session->statements, (pgw_slice){NULL, 0});
    if (!is_unnamed_parse(group, group->failing))
        return;
    if (statement != NULL)
        px_statements_move(&session->statements, statement, false);
    for (size_t i = 0; i < group->failing; i++)
        if (is_unnamed_parse(group, i))
            group->held[i].on_link = false;
}

bool px_forward_fails(px_session *session, pgw_slice body)
{
    px_group *group = &session->group;
    if (session->unsynced || session->fatal || group->failure != NULL)
        return false;
    for (size_t i = 0; i < group->count; i++)
        if (group->held[i].on_link && !group->held[i].answered)
            group->failing = i;
    drop_unnamed_there(session);
    group->failure = pgw_alloc(sizeof *group->failure);
    pgw_error_read(body, group->failure);
    return true;
}

/* Should the backend take the statement after all, the group fails behind it: nobody knows its
 * types. */
void px_forward_failing(px_session *session)
{
    px_group *group = &session->group;
    const px_held *held = &group->held[group->failing];
    pgw_parse parse;
    for (size_t i = 0; i < group->failing && !session->skipping; i++)
        forward_held(session, i);
    if (!session->skipping && pgw_parse_decode(px_held_body(group, group->failing), &parse)) {
        send_named_parse(session, parse.name, held->plan);
        px_session_refuse(session, group->failure, true);
    }
    px_group_clear(session);
}

bool px_group_release(px_session *session)
{
    if (!px_session_need_link(session) || !px_forward_describe(session, true))
        return false;
    for (size_t i = 0; i < session->group.count && !session->skipping; i++)
        forward_held(session, i);
    px_group_clear(session);
    return true;
}
