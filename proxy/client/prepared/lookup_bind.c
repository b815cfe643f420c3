#define _GNU_SOURCE
#include "proxy/client/prepared/lookup_bind.h"

#include "proxy/client/answer/copied.h"
#include "proxy/client/core/session.h"
#include "proxy/client/core/settings.h"
#include "proxy/client/link/schema_probe.h"
#include "proxy/client/link/sync_state.h"
#include "proxy/client/prepared/forward.h"
#include "proxy/client/prepared/prepare.h"
#include "proxy/client/prepared/kept_key.h"
#include "proxy/client/standing/changes.h"
#include "proxy/client/standing/dirty.h"
#include "proxy/client/standing/names.h"
#include "proxy/ingest/bind.h"
#include "rewrite/statement/special/explain_query.h"

#include <string.h>

bool px_lookup_bind_is(const px_statement *statement)
{
    return statement != NULL && statement->lookups != NULL && !statement->lookups->sql_execute;
}

/* Makes sure that the own link is there, and takes messages. DONE: it is and does. */
static px_step use_link(px_session *session)
{
    px_step step = px_prepare_link(session);
    bool dropped = session->pending.skipping || session->own.copy_in;
    return step == PX_STEP_DONE && dropped ? PX_STEP_PASS : step;
}

static px_reply *send_message(px_session *session, px_reply_kind kind, px_lookups *lookups,
                              pgw_buf *out)
{
    px_reply *reply = px_replies_push(&session->pending.replies, kind);
    reply->lookups = lookups;
    if (lookups != NULL)
        px_lookups_take(lookups);
    px_session_send(session, out);
    pgw_buf_free(out);
    px_own_open_group(&session->own);
    return reply;
}

px_step px_lookup_bind_parse(px_session *session, const px_client_message *decoded)
{
    pgw_slice name = decoded->as.parse.name;
    px_lookups *lookups = session->names.lookups;
    px_step step = use_link(session);
    if (step != PX_STEP_DONE)
        return step;
    pgw_buf out = {0}, kept = {0};
    px_names_prepare(session, name);
    px_lookups_parse(lookups, name, lookups->rewritten, &out);
    pgw_buf_add_slice(&kept, pgw_slice_buf(&out));
    px_reply *reply = send_message(session, PX_REPLY_PARSE, lookups, &out);
    px_names_lookup_bind(session, reply, name, pgw_slice_buf(&kept));
    pgw_buf_free(&kept);
    px_names_note_lookup_bind(session);
    return PX_STEP_DONE;
}

/* Name of the statement that a Bind has for itself. */
#define ONCE PGW_LITERAL("keyspread plain")

/* Asks the backend what it takes the statement for; its error says so if the statement is none any
 * more. */
static void describe_unseen(px_session *session, pgw_slice name, px_lookups *lookups)
{
    pgw_buf out = {0};
    pgw_write_describe('S', name, &out);
    send_message(session, PX_REPLY_DESCRIBE, lookups, &out)->swallow = true;
}

/* Before a statement is parsed anew, its parameters' types must be known: they stay what they were
 * when its client prepared it. False: they were known, or have been asked for in vain. */
static bool ask_types(px_session *session, pgw_slice name, px_lookups *lookups)
{
    lookups->asked = lookups->retyped && !lookups->asked && !px_lookups_know_types(lookups);
    if (!lookups->asked)
        return false;
    pgw_buf out = {0};
    px_names_prepare(session, name);
    describe_unseen(session, name, lookups);
    pgw_write_flush(&out);
    px_session_send(session, &out);
    pgw_buf_free(&out);
    return true;
}

/* Whether names may mean others than when the statement was prepared. */
static bool has_moved(const px_session *session, const px_statement *statement)
{
    return statement->passthrough.generation !=
           px_state_generation(session, &statement->passthrough);
}

/* Binds the statement as its client wrote it, if names mean something else by now; else without
 * conditions. */
static void bind_plain(px_session *session, const px_statement *statement, const pgw_bind *bind,
                       pgw_buf *out)
{
    px_lookups *lookups = statement->lookups;
    bool moved = has_moved(session, statement);
    pgw_buf parse = {0};
    if (lookups->retyped)
        describe_unseen(session, bind->statement, lookups);
    /* What is unseen may have changed the types: this is looked at again at the next Bind. */
    lookups->retyped = lookups->retyped || px_changes_unseen(session);
    px_names_close_unsynced(session, ONCE);
    px_lookups_parse(lookups, ONCE, moved ? lookups->text : lookups->plain, &parse);
    send_message(session, PX_REPLY_PARSE, NULL, &parse)->swallow = true;
    pgw_certainly(pgw_write_bind(bind, bind->portal, ONCE, NULL, 0, out));
}

/* A table that it made as it was written would be the configuration's, and have no hash. */
static const pgw_error *unmakeable(const rw_script *script, const px_lookups *is, pgw_error *error)
{
    if (script->refused)
        return script->statements[0].error;
    if (is == NULL)
        return NULL;
    px_state_tell_moved(error);
    return error;
}

/* Looks what names mean now, as they have changed since the statement was prepared: perhaps back.
 */
static px_step renew_meaning(px_session *session, px_statement *statement, px_catalog *catalog)
{
    rw_catalog view;
    px_state_view(session, catalog, &view);
    const px_lookups *was = statement->lookups;
    const pgw_env env = px_settings_env(session);
    pgw_arena arena = {0};
    pgw_error error;
    rw_script script;
    rw_script_parse(was->text, &view, &env, NULL, &arena, &script);
    rw_explain_query(was->text, &view, &env, &arena, &script);
    px_lookups *is = script.count == 1
                         ? px_lookups_new(was->text, script.statements, catalog,
                                          &(pgw_reading){&env, &arena, &error}, was->declared)
                         : NULL;
    bool same = is != NULL && pgw_slice_eq(is->rewritten, was->rewritten);
    const pgw_error *refusal = was->defines && !same ? unmakeable(&script, is, &error) : NULL;
    if (same)
        statement->passthrough.generation = px_state_generation(session, &statement->passthrough);
    px_step step = PX_STEP_DONE;
    if (refusal != NULL) /* After the error PASS drops the Bind, as all messages up to Sync. */
        step = px_prepare_refuse(session, NULL, refusal);
    if (refusal != NULL && step == PX_STEP_DONE)
        step = PX_STEP_PASS;
    px_lookups_drop(is);
    pgw_arena_free(&arena);
    return step;
}

/* Refuses a statement: what it would store as hashes may be wrong by now, or be stored in another
 * table. */
static px_step refuse_change(px_session *session, const char *which)
{
    pgw_error error;
    pgw_fail(&error, "0A000",
             "the table %s may be another than it was when the statement was prepared", which);
    pgw_error_hint(&error, "Prepare it again, behind a Sync.");
    pgw_error_stale(&error);
    return px_prepare_refuse(session, NULL, &error);
}

static bool is_moved(const px_session *session, const px_statement *statement)
{
    return has_moved(session, statement) || px_changes_unseen(session);
}

px_step px_lookup_bind_renew(px_session *session, px_statement *statement)
{
    if (!px_lookup_bind_is(statement))
        return PX_STEP_DONE;
    px_catalog *catalog;
    px_step step = px_schema_probe_verified(session, &catalog);
    if (step == PX_STEP_DONE && statement->lookups->copy != NULL)
        /* Nothing in a COPY would notice that its table has changed. */
        step = px_schema_probe_recheck(session, catalog);
    if (step != PX_STEP_DONE)
        return step;
    bool holds = px_lookups_hold(statement->lookups, catalog);
    if (statement->passthrough.changes_key && (!holds || is_moved(session, statement)))
        return refuse_change(session, "whose key is updated");
    if (statement->lookups->copy != NULL && !holds)
        return refuse_change(session, "that is copied into");
    pgw_error error;
    if (statement->lookups->copy != NULL &&
        !px_copied_may_begin(session, statement->lookups->copy, &error))
        return px_prepare_refuse(session, NULL, &error);
    px_lookups *otherwise = statement->lookups->otherwise;
    if (otherwise != NULL && !px_lookups_hold(otherwise, catalog)) {
        px_lookups_drop(otherwise);
        statement->lookups->otherwise = NULL;
        statement->passthrough.outlived = true;
    }
    statement->lookups->retyped = !holds && px_lookups_retyped(statement->lookups, catalog);
    if (!holds && !statement->lookups->retyped)
        px_names_forget_lookups(session, pgw_slice_str(statement->name));
    else if (has_moved(session, statement))
        return renew_meaning(session, statement, catalog);
    return PX_STEP_DONE;
}

bool px_lookup_bind_may_change(const px_statement *statement)
{
    return px_lookup_bind_is(statement) && statement->lookups->otherwise != NULL;
}

px_step px_lookup_bind_refuse(px_session *session, const px_passthrough *passthrough,
                              const pgw_error *refusal)
{
    return passthrough->outlived ? refuse_change(session, "whose key is updated")
                                 : px_prepare_refuse(session, NULL, refusal);
}

/* Sends and binds a statement that the Bind has for itself, which changes the key. */
static void bind_change(px_session *session, px_lookups *lookups, const pgw_bind *bind,
                        bool by_zone, pgw_buf *out)
{
    pgw_env env = px_settings_env(session);
    pgw_buf parse = {0};
    pgw_bind once = *bind;
    once.statement = ONCE;
    bool sure = !by_zone && px_lookups_bind(lookups, &once, &env, out);
    if (!sure)
        pgw_certainly(pgw_write_bind(bind, bind->portal, ONCE, NULL, 0, out));
    px_names_close_unsynced(session, ONCE);
    px_lookups_parse(lookups, ONCE, sure ? lookups->rewritten : lookups->plain, &parse);
    send_message(session, PX_REPLY_PARSE, lookups, &parse)->swallow = true;
}

/* Notes the lookups that the portal was bound with (NULL: none); mostly they are the same as
 * before. */
static void name_portal(px_session *session, pgw_slice name, px_lookups *lookups)
{
    px_statements *portals = &session->names.portals;
    const px_statement *was = px_statements_find(portals, name);
    if (lookups == NULL)
        px_statements_remove(portals, name);
    else if (was == NULL || was->lookups != lookups)
        px_statements_look_up(portals, px_statements_put(portals, name, NULL, true), lookups);
}

px_step px_lookup_bind_bind(px_session *session, const px_statement *statement,
                            const px_client_message *decoded, bool changes)
{
    pgw_error error;
    const pgw_bind *bind = &decoded->as.bind;
    px_lookups *lookups = changes ? statement->lookups->otherwise : statement->lookups;
    if (changes && is_moved(session, statement))
        return refuse_change(session, "whose key is updated");
    if (!px_bind_count(bind, lookups->own, &error))
        return px_prepare_refuse(session, NULL, &error);
    px_step step = use_link(session);
    if (step == PX_STEP_DONE && ask_types(session, bind->statement, lookups))
        return PX_WAIT_IDLE;
    if (step != PX_STEP_DONE)
        return step;
    pgw_buf out = {0};
    pgw_env env = px_settings_env(session);
    bool by_zone =
        px_kept_key_heeds_zone(&statement->passthrough, bind); /* WHERE is to be read alike */
    bool sure = changes || (!lookups->retyped && !by_zone && !has_moved(session, statement) &&
                            (lookups->defines || !px_changes_unseen(session)) &&
                            px_lookups_bind(lookups, bind, &env, &out));
    px_names_prepare(session, bind->statement);
    if (changes)
        bind_change(session, lookups, bind, by_zone, &out);
    else if (!sure)
        bind_plain(session, statement, bind, &out);
    name_portal(session, bind->portal, sure ? lookups : NULL);
    px_state_note_bound(session, statement->passthrough.effects, bind->portal);
    send_message(session, PX_REPLY_BIND, sure ? lookups : NULL, &out);
    px_reads_count(session->worker, lookups->catalog, lookups->reads,
                   sure ? &lookups->conditions : NULL);
    return PX_STEP_DONE;
}

px_step px_lookup_bind_describe(px_session *session, const px_client_message *decoded,
                                px_lookups *lookups)
{
    px_step step = use_link(session);
    if (step != PX_STEP_DONE)
        return step;
    pgw_buf out = {0};
    pgw_slice name = decoded->as.target.name;
    px_names_prepare(session, name);
    pgw_buf_add_slice(&out, decoded->message);
    send_message(session, PX_REPLY_DESCRIBE, lookups, &out);
    return PX_STEP_DONE;
}

px_lookups *px_lookup_bind_bound(const px_session *session, pgw_slice message)
{
    pgw_slice portal = {message.ptr + PGW_HEADER, 0};
    portal.len = strnlen(portal.ptr, message.len - PGW_HEADER);
    const px_statement *bound =
        px_statements_find(&session->names.portals, pgw_name_significant(portal));
    return bound != NULL ? bound->lookups : NULL;
}

bool px_lookup_bind_is_bound(const px_session *session, pgw_slice message)
{
    pgw_slice rest = {message.ptr + PGW_HEADER, message.len - PGW_HEADER};
    size_t at = strnlen(rest.ptr, rest.len) + 1;
    if (!session->known.lookup_bind || at > rest.len)
        return session->known.lookup_bind;
    pgw_slice name = {rest.ptr + at, strnlen(rest.ptr + at, rest.len - at)};
    return px_lookup_bind_is(
        px_statements_find(&session->names.statements, pgw_name_significant(name)));
}
