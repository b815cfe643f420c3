#include "proxy/client/message/extended.h"

#include "protocol/frontend.h"
#include "protocol/utf8.h"
#include "proxy/client/answer/lone.h"
#include "proxy/client/answer/relay.h"
#include "proxy/client/core/ask.h"
#include "proxy/client/core/kept.h"
#include "proxy/client/link/glance.h"
#include "proxy/client/link/schema_probe.h"
#include "proxy/client/link/sync_state.h"
#include "proxy/client/message/inert.h"
#include "proxy/client/message/lazy.h"
#include "proxy/client/message/sync.h"
#include "proxy/client/numbers/keys.h"
#include "proxy/client/prepared/lookup_bind.h"
#include "proxy/client/prepared/sql_execute.h"
#include "proxy/client/prepared/raw_parse.h"
#include "proxy/client/prepared/forward.h"
#include "proxy/client/prepared/prepare.h"
#include "proxy/client/prepared/prepare_again.h"
#include "proxy/client/prepared/kept_key.h"
#include "proxy/client/prepared/passthrough_renew.h"
#include "proxy/client/standing/describe.h"
#include "proxy/client/standing/dirty.h"
#include "proxy/client/standing/names.h"
#include "proxy/client/standing/passthrough_writes.h"
#include "proxy/ingest/blockers.h"

#include <stdlib.h>
#include <string.h>

/* The statement that a name means, but for what is held. */
static px_statement *statement_of(const px_session *session, pgw_slice name)
{
    return px_statements_find(&session->names.statements, name);
}

/* Whether the constants of a plan were read by other settings than the parameters will be: only the
 * session's own link has both. */
static bool is_of_other_settings(const px_session *session, const px_plan *plan)
{
    return !px_identity_shares(plan->identity, session->who.identity);
}

/* Whether an INSERT may be batched by itself, or kept as part of a transaction. To describe it
 * there may fail the transaction, and only savepoints that the server has lead out of that. */
static bool may_be_batched(const px_session *session, const px_plan *plan)
{
    return session->own.status == 'I' ||
           (px_lazy_may(session) && px_lazy_takes(session, plan->insert, plan->catalog) &&
            (plan->described || !px_kept_has_savepoints(session->own.begun->kept)));
}

/* DONE: the message may be held. PASS: it is for the own link. */
static px_step may_hold(const px_session *session, const px_plan *plan,
                        const px_client_message *decoded)
{
    px_standing standing = px_session_standing(session);
    if (plan == NULL || decoded->rest != NULL || plan->insert->blocker != RW_BATCHABLE ||
        plan->hash_at_bind || plan->refusal != NULL || is_of_other_settings(session, plan) ||
        px_blocker(&session->write_groups, &standing, plan->identity, plan->insert) !=
            PX_NO_BLOCKER ||
        session->own.unsynced || !may_be_batched(session, plan) ||
        (!plan->identity->env.utf8 && !pgw_is_ascii(decoded->message)) ||
        session->group.bytes + decoded->message.len > PX_GROUP_BYTES ||
        px_group_is_full(&session->group))
        return PX_STEP_PASS;
    if (session->group.count > 0 || px_session_idle(session) || px_lazy_may(session))
        return PX_STEP_DONE;
    return PX_WAIT_IDLE;
}

static px_step take_parse(px_session *session, const px_client_message *decoded, px_plan *plan)
{
    const pgw_parse *parse = &decoded->as.parse;
    if (session->pending.zone_moving && px_plan_needs_zone(plan)) {
        pgw_error error;
        pgw_fail(&error, "0A000", "the hash depends on TimeZone, and that is being changed");
        pgw_error_hint(&error, "Wait for the answer to SET before the INSERT is sent.");
        return px_prepare_refuse(session, NULL, &error);
    }
    bool taken = parse->name.len > 0 && (statement_of(session, parse->name) != NULL ||
                                         px_group_mentions(&session->group, parse->name));
    bool ahead = !taken && px_describe_goes_ahead(session, plan);
    px_step step = taken || ahead ? PX_STEP_PASS : may_hold(session, plan, decoded);
    if (step == PX_STEP_DONE)
        px_group_hold(&session->group, decoded, plan);
    if (step != PX_STEP_PASS)
        return step;
    step = px_prepare_link(session);
    if (step != PX_STEP_DONE)
        return step;
    bool raw_parse = ahead && px_raw_parse_fits(session, decoded, plan);
    if (raw_parse)
        px_raw_parse_parse(session, decoded, plan);
    else
        step = px_forward_parse(session, parse->name, plan);
    if (ahead && (raw_parse || !plan->described) &&
        !px_raw_parse_is_described(session, parse->name))
        px_describe_behind(session, parse->name, plan);
    if (step != PX_STEP_DONE)
        px_relay_drop_message(session); /* the message behind the Parse waits */
    return step;
}

/* Passes what is none of keyspread's, and names a statement that the link may have to be told of
 * first. */
static px_step pass_named(px_session *session, const px_statement *statement, pgw_slice name)
{
    if (statement == NULL || px_statements_on_link(&session->names.statements, statement))
        return PX_STEP_PASS;
    px_step step = px_prepare_link(session);
    if (step != PX_STEP_DONE)
        return step;
    px_names_prepare(session, name); /* the name may mean another statement by now */
    return PX_STEP_PASS;
}

static px_step pass_parse(px_session *session, pgw_slice name)
{
    return name.len > 0 ? pass_named(session, statement_of(session, name), name) : PX_STEP_PASS;
}

/* Renews what EXECUTE names in the text, or refuses the text. PASS: all is as it has to be. */
static px_step renew_executed(px_session *session, pgw_slice text, const pgw_slice *parsed)
{
    pgw_error error;
    bool may = px_names_may_execute(session, text);
    px_step step = may ? px_prepare_link(session) : PX_STEP_DONE;
    if (may && step == PX_STEP_DONE)
        step = px_sql_execute_renew(session, text);
    if (step != PX_STEP_DONE)
        return step;
    if (px_kept_key_is_executed(session, text, &error))
        return px_prepare_refuse(session, parsed, &error);
    if (may)
        px_names_of_execute(session, text);
    px_prepared_names_set_looked(&session->names, parsed != NULL && parsed->len == 0);
    return PX_STEP_PASS;
}

static px_step on_parse(px_session *session, const px_client_message *decoded)
{
    const pgw_parse parse = decoded->as.parse;
    px_plan *plan = NULL;
    if (!decoded->whole || session->who.identity->replication != NULL)
        return PX_STEP_PASS;
    px_passthrough *passthrough = px_state_parse(session, PX_UNREAD);
    px_prepared_names_look_up(&session->names, NULL);
    px_names_read(session, NULL);
    pgw_error error;
    px_step step = renew_executed(session, parse.query, &parse.name);
    if (step != PX_STEP_PASS)
        return step;
    px_glance glance = px_glance_at(session, parse.query, &passthrough->effects, &step, &error);
    if (glance == PX_GLANCE_WAITS)
        return step;
    if (glance == PX_GLANCE_REFUSED)
        return px_prepare_refuse(session, &parse.name, &error);
    if (glance == PX_GLANCE_PASSES)
        px_passthrough_writes_note(session, passthrough, passthrough->effects, parse.query,
                                   px_catalog_none());
    passthrough->inert = glance == PX_GLANCE_PASSES && px_inert_may_be(parse.query);
    if (glance == PX_GLANCE_PASSES)
        return pass_parse(session, parse.name);
    step = px_prepare(session, &parse, &plan);
    if (plan == NULL && step == PX_STEP_PASS && session->names.lookups != NULL)
        return px_lookup_bind_parse(session, decoded);
    if (plan == NULL)
        return step == PX_STEP_PASS ? pass_parse(session, parse.name) : step;
    step = take_parse(session, decoded, plan);
    px_plan_drop(plan);
    return step;
}

/* Passes a Bind, whose portal is the server's. What is held goes first, or it would seem to have
 * made it. */
static px_step pass_bind(px_session *session, const pgw_bind *bind)
{
    px_step step = px_prepare_link(session);
    if (step != PX_STEP_DONE)
        return step;
    px_statements_remove(&session->names.portals, bind->portal);
    return PX_STEP_PASS;
}

/* Binds a statement that executes others. PASS: these may be run. */
static px_step bind_executing(px_session *session, pgw_slice name)
{
    pgw_error error;
    pgw_slice text = px_names_executed(session, name);
    const px_passthrough unknown = {.stale = px_passthrough_writes_may(session) ||
                                             px_state_may_move(session)};
    if (name.len == 0 && session->names.looked)
        return PX_STEP_PASS;
    if (text.len > 0)
        return renew_executed(session, text, NULL);
    if (px_passthrough_writes_is_stale(session, &unknown, &error))
        return px_prepare_refuse(session, NULL, &error);
    return PX_STEP_PASS;
}

/* Binds a statement (NULL: of no name) that has no plan, and must not have come to need one. */
static px_step bind_passthrough(px_session *session, px_statement *statement,
                                const px_client_message *decoded)
{
    const pgw_bind *bind = &decoded->as.bind;
    pgw_error refusal, error;
    const px_passthrough *passthrough = px_state_passthrough(session, statement, bind->statement);
    px_step step = passthrough != NULL && passthrough->executes
                       ? bind_executing(session, bind->statement)
                       : PX_STEP_PASS;
    if (step != PX_STEP_PASS)
        return step;
    step = px_passthrough_renew(session, statement, bind->statement, false);
    if (step != PX_STEP_DONE)
        return step;
    if (passthrough != NULL && px_passthrough_writes_is_stale(session, passthrough, &error))
        return px_prepare_refuse(session, NULL, &error);
    bool changes = passthrough != NULL && !px_kept_key_holds(passthrough, bind, &refusal);
    if (changes && !px_lookup_bind_may_change(statement))
        return px_lookup_bind_refuse(session, passthrough, &refusal);
    if (passthrough != NULL && passthrough->moving) {
        px_catalog *catalog;
        step = px_schema_probe_verified(session, &catalog);
        if (step != PX_STEP_DONE)
            return step;
        if (px_state_has_moved(session, passthrough, &error))
            return px_prepare_refuse(session, NULL, &error);
    }
    step = px_lookup_bind_renew(session, statement);
    if (step == PX_STEP_DONE)
        step = px_sql_execute_renew_one(session, statement);
    if (step != PX_STEP_DONE)
        return step;
    if (changes && !px_lookup_bind_may_change(statement))
        return px_lookup_bind_refuse(session, passthrough, &refusal);
    if (px_lookup_bind_is(statement))
        return px_lookup_bind_bind(session, statement, decoded, changes);
    step = pass_named(session, statement, bind->statement);
    if (step == PX_STEP_PASS)
        step = pass_bind(session, bind);
    const px_reads *reads = px_names_reads(session, statement, bind->statement);
    if (step == PX_STEP_PASS && reads != NULL)
        px_reads_count(session->worker, reads->catalog, reads->map, NULL);
    return step;
}

static px_step bind_known(px_session *session, const px_client_message *decoded, px_plan *plan)
{
    const pgw_bind bind = decoded->as.bind;
    bool taken = bind.portal.len > 0 && px_group_has_portal(&session->group, bind.portal);
    px_step step = taken ? PX_STEP_PASS : may_hold(session, plan, decoded);
    if (step == PX_STEP_DONE && px_lone_submit(session, decoded, plan))
        return PX_WAIT_WRITE_GROUP;
    if (step == PX_STEP_DONE)
        px_group_hold(&session->group, decoded, plan);
    if (step != PX_STEP_PASS)
        return step;
    px_plan_take(plan); /* releasing the group drops the plan as well */
    step = px_prepare_link(session);
    if (step == PX_STEP_DONE && !session->pending.skipping)
        step = px_forward_bind(session, &bind, plan, false, decoded->rest);
    px_plan_drop(plan);
    return step;
}

static px_step refuse_keys(px_session *session, const pgw_error *error)
{
    px_step step = px_prepare_refuse(session, NULL, error);
    if (step == PX_STEP_DONE)
        px_session_set_rechecked(session, false);
    return step;
}

/* Sends what is held first: the question stands in the group's own transaction. */
static px_step join_group(px_session *session)
{
    px_step step = px_prepare_link(session);
    if (step == PX_STEP_DONE && px_session_idle(session))
        px_own_open_group(&session->own);
    return step;
}

/* Binds an INSERT whose key is asked for first. */
static px_step bind_asked(px_session *session, const px_client_message *decoded, px_plan *plan)
{
    pgw_error error;
    pgw_buf filled = {0};
    const px_keys_of of = {
        .inserts = &plan->asked, .count = 1, .plan = plan, .bind = &decoded->as.bind};
    px_step step = px_keys_look_around(plan->asked) ? join_group(session) : PX_STEP_DONE;
    if (step != PX_STEP_DONE)
        return step;
    const rw_answer *answers = px_keys_ask(session, &of, &step, &error);
    if (answers == NULL && step == PX_STEP_DONE)
        step = px_schema_probe_recheck_keys(session);
    if (step != PX_STEP_DONE)
        return step;
    const char *schema = px_keys_schema(session);
    if (answers != NULL && schema != NULL && strcmp(schema, plan->asked->table->schema) != 0) {
        px_state_moved_by_key(&error); /* the plan has been made anew since */
        return refuse_keys(session, &error);
    }
    if (answers == NULL || !px_keys_bind(plan, &decoded->as.bind, answers, &filled, &error))
        return refuse_keys(session, &error);
    px_client_message whole = px_client_message_of('B', pgw_slice_buf(&filled));
    whole.given = &filled;
    whole.rest = decoded->rest;
    step = bind_known(session, &whole, plan);
    if (step == PX_STEP_DONE)
        px_keys_share_now(session, plan->asked);
    pgw_buf_free(&filled);
    return step;
}

/* Refuses a Bind whose keys cannot be told of its beginning. */
static px_step refuse_large(px_session *session)
{
    pgw_error error;
    px_relay_fail_large(&error);
    pgw_error_hint(&error, "Write the key's columns before the large values.");
    return px_prepare_refuse(session, NULL, &error);
}

static px_step on_bind(px_session *session, const px_client_message *decoded)
{
    const pgw_bind *bind = &decoded->as.bind;
    pgw_error error;
    if (px_keys_failure(session) != NULL) {
        px_step step = px_schema_probe_recheck_keys(session);
        return step == PX_STEP_DONE ? refuse_keys(session, px_keys_failure(session)) : step;
    }
    px_statement *statement = statement_of(session, bind->statement);
    px_plan *plan = px_group_plan(&session->group, statement, bind->statement);
    if (plan != NULL && !px_bind_check(plan, bind, decoded->whole, &error))
        return px_prepare_refuse(session, NULL, &error);
    px_step renewed = px_group_mentions(&session->group, bind->statement)
                          ? PX_STEP_DONE
                          : px_prepare_again(session, bind->statement, &statement);
    if (renewed != PX_STEP_DONE || session->pending.skipping)
        return renewed;
    plan = px_group_plan(&session->group, statement, bind->statement);
    if (decoded->rest != NULL && (plan == NULL || px_bind_reach(plan) > decoded->rest->given))
        return refuse_large(session);
    if (plan == NULL)
        return decoded->whole ? bind_passthrough(session, statement, decoded)
                              : pass_named(session, statement, bind->statement);
    if (px_raw_parse_is_refused(session, bind->statement))
        return pass_bind(session, bind);
    if (session->pending.zone_moving && px_plan_needs_zone(plan)) {
        pgw_fail(&error, "0A000", "the hash depends on TimeZone, and that is being changed");
        pgw_error_hint(&error, "Wait for the answer to SET before the INSERT is sent.");
        return px_prepare_refuse(session, NULL, &error);
    }
    if (plan->asked == NULL)
        return bind_known(session, decoded, plan);
    px_plan_take(plan); /* the group may drop the plan meanwhile */
    px_step step = bind_asked(session, decoded, plan);
    px_plan_drop(plan);
    return step;
}

/* Whether it is known what a held portal returns, or will be: a held Parse is described first. */
static bool can_describe(const px_group *group, pgw_slice portal)
{
    size_t bind = px_group_portal(group, portal);
    if (bind == PX_GROUP_NONE)
        return false;
    const px_held *held = &group->held[bind];
    return held->about != PX_GROUP_NONE ||
           (held->plan != NULL && (held->plan->described || held->plan->insert->returning == 0));
}

static px_step on_describe(px_session *session, const px_client_message *decoded)
{
    const pgw_target target = decoded->as.target;
    if (!decoded->whole)
        return PX_STEP_PASS;
    if (target.kind == 'P') {
        if (!can_describe(&session->group, target.name) || px_group_is_full(&session->group))
            return PX_STEP_PASS;
        px_group_hold(&session->group, decoded, NULL);
        return PX_STEP_DONE;
    }
    const px_statement *statement = statement_of(session, target.name);
    px_plan *plan = px_group_plan(&session->group, statement, target.name);
    if (plan == NULL && px_lookup_bind_is(statement))
        return px_lookup_bind_describe(session, decoded, statement->lookups);
    if (plan == NULL)
        return pass_named(session, statement, target.name);
    px_step step = may_hold(session, plan, decoded);
    if (step == PX_STEP_DONE)
        px_group_hold(&session->group, decoded, plan);
    if (step != PX_STEP_PASS)
        return step;
    px_plan_take(plan);
    step = px_prepare_link(session);
    if (step == PX_STEP_DONE && !session->pending.skipping) {
        px_names_claim(session, target.name);
        px_forward_raw(session, PX_REPLY_DESCRIBE, plan, false, decoded->message);
    }
    px_plan_drop(plan);
    return step;
}

static px_step on_execute(px_session *session, const px_client_message *decoded)
{
    const pgw_execute execute = decoded->as.execute;
    if (!decoded->whole)
        return PX_STEP_PASS;
    size_t bind = px_group_portal(&session->group, execute.portal);
    if (bind == PX_GROUP_NONE || px_group_is_full(&session->group)) {
        px_step step = px_prepare_link(session);
        if (step != PX_STEP_DONE)
            return step;
        px_statement *portal = px_statements_find(&session->names.portals, execute.portal);
        if (portal == NULL || portal->plan == NULL || session->pending.skipping)
            return PX_STEP_PASS;
        px_forward_raw(session, PX_REPLY_EXECUTE, portal->plan, false, decoded->message);
        return PX_STEP_DONE;
    }
    px_group_hold(&session->group, decoded, session->group.held[bind].plan);
    return PX_STEP_DONE;
}

static px_step on_close(px_session *session, const px_client_message *decoded)
{
    const pgw_target target = decoded->as.target;
    if (!decoded->whole)
        return PX_STEP_PASS;
    const px_statement *statement = target.kind == 'S' ? statement_of(session, target.name) : NULL;
    bool ours = target.kind == 'S' ? px_group_plan(&session->group, statement, target.name) != NULL
                                   : px_group_portal(&session->group, target.name) != PX_GROUP_NONE;
    if (ours && !px_group_is_full(&session->group) &&
        (session->group.count > 0 || px_session_idle(session) || px_lazy_may(session))) {
        if (statement == NULL || !px_statements_on_link(&session->names.statements, statement)) {
            px_group_hold(&session->group, decoded, NULL);
            return PX_STEP_DONE;
        }
    }
    px_step step = px_prepare_link(session);
    if (step != PX_STEP_DONE)
        return step;
    return PX_STEP_PASS; /* the session forgets the name when the Close is passed */
}

/* Whether what was parsed, and may be run by now, drops the name when it is answered: also one
 * that Parse would give behind it, and that the server keeps. */
static bool is_dropped_by_parsed(const px_session *session, const px_client_message *decoded,
                                 pgw_slice name)
{
    const char *drops = session->names.deallocates;
    return drops != NULL && (*drops == '\0' || pgw_slice_eq_str(name, drops)) &&
           decoded->type == 'P' && name.len > 0 && session->pending.replies.count > 0;
}

/* Whether something unanswered may change what the name means, if it is not skipped or refused. */
static bool name_is_moving(const px_session *session, const px_client_message *decoded)
{
    const px_replies *replies = &session->pending.replies;
    bool parsed = session->names.deallocates != NULL || session->names.prepares != NULL;
    if (replies->moving.count == 0 && replies->texts_renaming == 0 && !parsed)
        return false;
    pgw_slice name = px_client_message_statement(decoded);
    if (name.ptr == NULL)
        return false;
    if (session->own.unsynced)
        return px_replies_move_before(replies, name) ||
               is_dropped_by_parsed(session, decoded, name);
    return px_replies_move(replies, name) || (parsed && replies->count > 0);
}

static px_step take(px_session *session, const px_client_message *decoded)
{
    if (name_is_moving(session, decoded) || px_raw_parse_waits(session, decoded))
        return px_ask_for_answers(session);
    px_step step;
    if (session->names.looked && strchr("PSH", decoded->type) != NULL)
        px_prepared_names_set_looked(&session->names, false);
    switch (decoded->type) {
    case 'P':
        return on_parse(session, decoded);
    case 'B':
        step = on_bind(session, decoded);
        px_prepared_names_set_looked(&session->names, session->names.looked && px_step_waits(step));
        return step;
    case 'D':
        return on_describe(session, decoded);
    case 'E':
        return on_execute(session, decoded);
    case 'C':
        return on_close(session, decoded);
    case 'S':
        return px_sync(session);
    default:
        return px_sync_flush(session);
    }
}

px_step px_extended(px_session *session, char type, pgw_slice message)
{
    px_client_message decoded = px_client_message_of(type, message);
    return take(session, &decoded);
}

/* Waits for more of a Bind's beginning. PASS: what is here must do. */
static px_step await_beginning(px_session *session, pgw_slice message)
{
    if (message.len >= PX_GROUP_BYTES)
        return PX_STEP_PASS;
    px_stream_expect(session->peer.stream, PX_GROUP_BYTES);
    return PX_STEP_MORE;
}

px_step px_extended_large_bind(px_session *session, pgw_frame frame, pgw_slice message)
{
    px_rest rest = {0};
    pgw_bind bind;
    message.len = message.len < frame.size ? message.len : frame.size;
    pgw_slice body = {message.ptr + PGW_HEADER, message.len - PGW_HEADER};
    if (!pgw_bind_begins(body, &bind, &rest.given))
        return await_beginning(session, message);
    pgw_slice name = pgw_name_significant(bind.statement);
    const px_plan *plan = px_group_plan(&session->group, statement_of(session, name), name);
    if (plan == NULL)
        return PX_STEP_PASS;
    if (px_bind_reach(plan) > rest.given && await_beginning(session, message) == PX_STEP_MORE)
        return PX_STEP_MORE;
    size_t begun = (size_t)(bind.values.ptr + bind.values.len - message.ptr);
    rest.count = bind.value_count;
    rest.bytes = frame.size - begun;
    pgw_buf beginning = {0};
    pgw_write_bind_begun(&bind, rest.given, &beginning);
    px_client_message decoded = px_client_message_of('B', pgw_slice_buf(&beginning));
    decoded.rest = &rest;
    px_step step = take(session, &decoded);
    if (rest.awaited)
        px_relay_rest(session, frame, begun, &rest);
    else if (step == PX_STEP_DONE)
        px_relay_drop(session, frame);
    if (!rest.awaited)
        pgw_buf_free(&rest.behind);
    pgw_buf_free(&beginning);
    return step;
}
