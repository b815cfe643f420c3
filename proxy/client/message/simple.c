#define _GNU_SOURCE
#include "proxy/client/message/simple.h"

#include "protocol/frontend.h"
#include "protocol/replication.h"
#include "protocol/utf8.h"
#include "proxy/batch/register.h"
#include "proxy/client/answer/copied.h"
#include "proxy/client/answer/outcome.h"
#include "proxy/client/answer/split_query.h"
#include "proxy/client/answer/refuse.h"
#include "proxy/client/core/parsed.h"
#include "proxy/client/core/settings.h"
#include "proxy/client/link/glance.h"
#include "proxy/client/link/schema_probe.h"
#include "proxy/client/link/sync_state.h"
#include "proxy/client/message/lazy.h"
#include "proxy/client/numbers/keys.h"
#include "proxy/client/numbers/sequence_refill.h"
#include "proxy/client/prepared/sql_execute.h"
#include "proxy/client/prepared/forward.h"
#include "proxy/client/prepared/kept_key.h"
#include "proxy/client/standing/changes.h"
#include "proxy/client/standing/dirty.h"
#include "proxy/client/standing/names.h"
#include "proxy/client/standing/script.h"
#include "proxy/ingest/blockers.h"
#include "proxy/ingest/reads.h"
#include "proxy/ingest/submit.h"
#include "rewrite/insert/render.h"
#include "rewrite/statement/script/script.h"
#include "rewrite/statement/words/reach.h"

#include <stdlib.h>
#include <string.h>

/* Whether the tables of the INSERTs surely fit one write group: they are one, or the statements are
 * few.
 */
static bool has_few_tables(const rw_script *script)
{
    bool one = true;
    for (size_t i = 1; i < script->count; i++)
        one = one && script->statements[i].insert->table == script->statements[0].insert->table;
    return one || script->count <= PX_WRITE_GROUP_MOST;
}

/* Whether all statements are INSERTs that may share a transaction with others'. */
static bool script_is_batchable(const px_session *session, const px_text *text)
{
    const rw_script *script = &text->script;
    if (session->hand.parts != NULL || script->inserts == 0 || script->inserts != script->count ||
        !has_few_tables(script))
        return false;
    px_standing standing = px_session_standing(session);
    for (size_t i = 0; i < script->count; i++) {
        const rw_insert *insert = script->statements[i].insert;
        if (insert->blocker != RW_BATCHABLE ||
            px_blocker(&session->write_groups, &standing, session->who.identity, insert) !=
                PX_NO_BLOCKER)
            return false;
    }
    return true;
}

static bool begins_with(const px_text *text, const rw_statement *statement, const char *word)
{
    size_t len = strlen(word);
    return statement->end - statement->start >= len &&
           strncasecmp(text->text.ptr + statement->start, word, len) == 0;
}

/* Whether the text may commit rows of configured tables. In a transaction only its end does that.
 */
static bool may_commit(const px_session *session, const px_text *text)
{
    const rw_script *script = &text->script;
    if (script->inserts > 0 && session->own.status == 'I')
        return true;
    for (size_t i = 0; i < script->count; i++)
        if ((script->statements[i].effects & RW_EFFECT_TRANSACTION) &&
            (begins_with(text, &script->statements[i], "commit") ||
             begins_with(text, &script->statements[i], "end") ||
             begins_with(text, &script->statements[i], "prepare")))
            return true;
    return false;
}

/* Notes what a text that is sent may do to tables. */
static void note_changes(px_session *session, const px_text *text)
{
    pgw_slice made;
    const rw_script *script = &text->script;
    unsigned changes = px_script_changes(session, text->text, script);
    if (changes & RW_EFFECT_DDL && script->count == 1 &&
        rw_leaves_keys(text->text, session->who.identity->env.conforming, &made))
        px_changes_note_kept(session, changes, made);
    else
        px_changes_note_text(session, changes, script->count);
}

/* Sends a text that was looked into to the own link, each INSERT rewritten in place. */
static void send_text(px_session *session, px_text *text)
{
    px_names_of_script(session, &text->script);
    px_pending_note_commit(&session->pending, may_commit(session, text));
    bool alone = text->script.count == 1 && session->own.status == 'I' &&
                 session->pending.replies.count == 0;
    note_changes(session, text);
    px_script_note(session, &text->script, alone);
    pgw_buf message = {0};
    size_t begun = pgw_begin(&message, 'Q');
    px_text_spell(text, &session->who.identity->env);
    px_text_render(text, NULL, &message);
    pgw_buf_add_byte(&message, '\0');
    pgw_certainly(pgw_end(&message, begun));
    px_outcome_send_waited(session);
    px_submitter_go_on(&session->write_groups);
    px_reply *reply = px_replies_push(&session->pending.replies, PX_REPLY_QUERY);
    px_reply_is_about(&session->pending.replies, reply, text);
    px_prepared_names_set_unnamed(&session->names, false);
    px_session_send(session, &message);
    pgw_buf_free(&message);
    for (size_t i = 0; i < text->script.count; i++)
        px_reads_count(session->worker, text->catalog, text->script.statements[i].reads,
                       &text->conditions[i]);
}

/* Tells a syntax error from other errors with 42601, which are found later. */
static bool is_syntax_error(const pgw_error *error)
{
    return pgw_error_is(error, "42601") && (strncmp(error->message, "syntax error", 12) == 0 ||
                                            strncmp(error->message, "trailing junk", 13) == 0);
}

/* Whether a refusal needs no server: PostgreSQL reads the whole text before it does any of it; and
 * before a lone statement there is nothing to be done, unless the server can find errors in it. */
static bool is_answered_here(px_session *session, const px_text *text)
{
    size_t i = px_text_first_refused(text);
    const rw_insert *insert = text->script.statements[i].insert;
    if (is_syntax_error(text->refusals[i]))
        return true;
    return text->script.count == 1 && px_session_idle(session) &&
           (insert == NULL || !rw_insert_may_fail(insert));
}

static px_step refuse(px_session *session, const pgw_error *error)
{
    px_step step = px_session_need_link_unless_idle(session);
    if (step != PX_STEP_DONE)
        return step;
    px_refuse(session, error, false);
    px_session_set_rechecked(session, false);
    return PX_STEP_DONE;
}

/* Whether the server is to read the whole refused text, as PostgreSQL does before it runs any of
 * it. */
static bool is_unread(const px_session *session, const px_text *text)
{
    return text->refused && text->filled == NULL &&
           px_refuse_hears(session, text->text, text->script.count);
}

/* Shows a refused text to the server, which tells it otherwise in a failed transaction; whether it
 * has failed is awaited. */
static px_step refuse_unread(px_session *session, const px_text *text)
{
    px_step step = px_session_need_link(session);
    if (step == PX_STEP_DONE && session->pending.replies.count > 0 && !session->own.unsynced)
        step = PX_WAIT_IDLE;
    if (step != PX_STEP_DONE)
        return step;
    px_refuse_unread(session, text->text, text->refusals[px_text_first_refused(text)], false);
    px_session_set_rechecked(session, false);
    return PX_STEP_DONE;
}

/* DONE: all is known, or free, that must be before the text can be sent. */
static px_step await_room(const px_session *session, const px_text *text, bool batchable)
{
    bool names = (text->script.effects & (RW_EFFECT_DEALLOCATE | RW_EFFECT_PREPARE)) != 0;
    if (names && session->pending.replies.moving.count > 0 && !session->own.unsynced)
        return PX_WAIT_IDLE; /* The server has yet to say which statements are there. */
    if (batchable && !session->own.unsynced && session->pending.replies.count > 0)
        return PX_WAIT_IDLE; /* Whether a transaction is open is known when all is answered. */
    bool full = batchable && px_session_idle(session) && !px_register_has_room(session->worker);
    return full ? PX_WAIT_TURN : PX_STEP_DONE;
}

/* DONE: what is known of the session is no guess, as far as this text needs it. */
static px_step verify(px_session *session, const px_text *text)
{
    const rw_script *script = &text->script;
    if (script->inserts > 0 || script->refused || script->changes)
        return px_sync_state_query(session, text->catalog, text->text);
    px_step step = script->escapes ? px_sync_state_escapes(session, text->catalog) : PX_STEP_DONE;
    return step == PX_STEP_DONE ? px_sync_state_kind(session, text->catalog) : step;
}

/* Whether the text is a COPY. Its rows are stored with hashes that nothing in the statement guards,
 * so that the tables are looked at first. */
static bool is_copy(const rw_script *script)
{
    return script->count == 1 && script->statements[0].copy != NULL;
}

/* Deals with a text that names a configured table or does something to the session. */
static px_step look_into(px_session *session, px_text *text)
{
    bool batchable = script_is_batchable(session, text);
    px_step step = verify(session, text);
    if (step == PX_STEP_DONE)
        step = await_room(session, text, batchable);
    if (step != PX_STEP_DONE)
        return step;
    px_text_hash(session->worker, text, px_settings_env(session));
    if (is_unread(session, text))
        return refuse_unread(session, text);
    if (text->refused || text->script.unseen || is_copy(&text->script))
        step = px_schema_probe_recheck(session, text->catalog);
    if (step != PX_STEP_DONE)
        return step;
    if (text->refused && is_answered_here(session, text))
        return refuse(session, text->refusals[px_text_first_refused(text)]);
    pgw_error error;
    if (!text->refused && is_copy(&text->script) &&
        !px_copied_may_begin(session, text->script.statements[0].copy, &error))
        return refuse(session, &error);
    if (batchable && !text->refused && px_session_idle(session)) {
        px_session_set_rechecked(session, false);
        px_standing standing = px_session_standing(session);
        px_submit_script(&session->write_groups, &standing, text);
        px_sequence_refill_ask(session);
        return PX_WAIT_WRITE_GROUP; /* the message is consumed when it is answered */
    }
    if (batchable && !text->refused && session->own.begun != NULL &&
        px_lazy_keeps_text(session, text)) {
        px_session_set_rechecked(session, false);
        return PX_STEP_DONE;
    }
    step = px_session_need_link(session);
    if (step != PX_STEP_DONE)
        return step;
    px_standing standing = px_session_standing(session);
    px_blocker_count_text(&session->write_groups, &standing, text);
    px_submitter_end_reroute(&session->write_groups);
    px_session_set_rechecked(session, false);
    send_text(session, text);
    return PX_STEP_DONE;
}

/* Asks for the keys of a text. NULL: `*step` is a wait, or DONE and there is the error. */
static const rw_answer *ask(px_session *session, const px_text *text, px_step *step,
                            pgw_error *error)
{
    size_t count = px_text_wants(text, NULL);
    const rw_insert **inserts = pgw_calloc(count, sizeof *inserts);
    px_text_wants(text, inserts);
    size_t before = count == 1 ? px_text_before(text, px_text_wanting(text, 0)) : 0;
    bool behind = count == 1 && px_text_wanting(text, 0) > 0;
    const px_keys_of of = {.inserts = inserts, .count = count, .before = before, .behind = behind};
    const rw_answer *answers = px_keys_ask(session, &of, step, error);
    free(inserts);
    return answers;
}

/* Whether keys were asked for in a schema in which no table of the text is found any more, though
 * the table of then is there. */
static bool is_elsewhere(const px_session *session, const px_text *text)
{
    const rw_script *script = &text->script;
    const char *schema = px_keys_schema(session);
    bool elsewhere = schema != NULL;
    for (size_t i = 0; i < script->count && elsewhere; i++) {
        const rw_insert *insert = script->statements[i].insert;
        elsewhere = insert == NULL || strcmp(insert->table->schema, schema) != 0;
    }
    return elsewhere && px_keys_are_of(session, text->catalog);
}

/* Refuses a text whose key's question has changed what names mean: the server would find another
 * table by now. */
static px_step refuse_elsewhere(px_session *session)
{
    pgw_error error;
    px_state_moved_by_key(&error);
    return refuse(session, &error);
}

/* Asks for values of the keys, and goes on as if the client had written them. */
static px_step fill(px_session *session, px_text *text, const rw_catalog *view)
{
    size_t failed;
    pgw_error error = PGW_ERROR_NONE;
    px_step step = verify(session, text);
    if (step != PX_STEP_DONE)
        return step;
    const rw_answer *in_part = px_keys_in_part(session, &failed);
    const rw_answer *answers = in_part != NULL ? in_part : ask(session, text, &step, &error);
    if (step == PX_STEP_DONE && (answers == NULL || in_part != NULL))
        step = px_schema_probe_recheck_keys(session);
    if (step != PX_STEP_DONE)
        return step;
    px_text *filled = answers == NULL ? NULL
                                      : px_text_fill(session->worker, text, answers, view,
                                                     &session->who.identity->env, &error);
    if (filled == NULL)
        return refuse(session, &error);
    if (in_part != NULL)
        px_text_unanswered(filled, px_text_wanting(text, failed), px_keys_failure(session));
    step = is_elsewhere(session, filled) ? refuse_elsewhere(session) : look_into(session, filled);
    px_text_drop(filled);
    return step;
}

/* Sends what is left of a statement whose other rows are committed. */
static px_step send_rest(px_session *session)
{
    px_step step = px_session_need_link(session);
    if (step != PX_STEP_DONE)
        return step;
    send_text(session, session->write_groups.text);
    px_submitter_end_reroute(&session->write_groups);
    px_submitter_drop_statement(&session->write_groups);
    return PX_STEP_DONE;
}

/* Refuses a text for whose key the question has failed. */
static px_step refuse_unanswered(px_session *session)
{
    px_step step = px_schema_probe_recheck_keys(session);
    if (step != PX_STEP_DONE)
        return step;
    px_refuse(session, px_keys_failure(session), false);
    px_session_set_rechecked(session, false);
    return PX_STEP_DONE;
}

static px_step pass(px_session *session, unsigned effects)
{
    px_state_note(session, effects);
    px_changes_note(session, effects);
    return PX_STEP_PASS;
}

/* Whether nothing is under way, or kept, by which the next text would be read otherwise. */
static bool is_undisturbed(const px_session *session)
{
    const px_hand *hand = &session->hand;
    return (px_session_idle(session) || px_lazy_may(session)) && hand->parsed == NULL &&
           !px_changes_unseen(session) && px_register_has_room(session->worker);
}

/* Whether rows like the template's may be batched; of those that are asked for this is told when
 * they are filled. */
static bool may_be_alike(const px_session *session, const px_template *it)
{
    px_standing standing = px_session_standing(session);
    return px_template_asks(it) ||
           px_blocker(&session->write_groups, &standing, session->who.identity,
                      px_template_insert(it)) == PX_NO_BLOCKER;
}

/* Whether what the template says holds now. DONE: it does. PASS: the text is to be looked into. */
static px_step check_template(px_session *session, pgw_slice text, const px_template *it)
{
    px_catalog *catalog;
    px_step step = px_schema_probe_now(session, &catalog);
    bool same = catalog == px_template_catalog(it);
    if (step == PX_STEP_DONE && same)
        step = px_sync_state_query(session, catalog, text);
    if (step != PX_STEP_DONE)
        return step;
    /* Unqualified names mean what the file says. */
    bool usual = same && px_state_is_usual(session, catalog);
    /* Links of batches take texts for UTF-8. */
    bool read = session->who.identity->env.utf8 || pgw_is_ascii(text);
    return usual && read && may_be_alike(session, it) ? PX_STEP_DONE : PX_STEP_PASS;
}

/* Submits a text like the template's. `asked`: what was filled to get the text; NULL: its client
 * has sent it so. */
static px_step submit_like(px_session *session, px_likeness *of, const px_alike_asked *asked)
{
    px_standing standing = px_session_standing(session);
    pgw_env env = px_settings_env(session);
    if (!(standing.in_transaction
              ? px_lazy_keeps_alike(session, of)
              : px_submit_alike(&session->write_groups, &standing, of, asked, &env)))
        return PX_STEP_PASS;
    px_session_set_rechecked(session, false);
    if (standing.in_transaction)
        return PX_STEP_DONE;
    px_sequence_refill_ask(session);
    return PX_WAIT_WRITE_GROUP;
}

/* Submits a filled text if it is like one of before, too. */
static px_step submit_filled(px_session *session, const px_alike_asked *asked)
{
    px_likeness of;
    pgw_slice text = asked->filled->text;
    if (!px_template_find(session->worker, session->who.identity, text, &of) ||
        px_template_asks(of.like))
        return PX_STEP_PASS;
    px_step step = check_template(session, text, of.like);
    return step == PX_STEP_DONE ? submit_like(session, &of, asked) : step;
}

/* Asks for the key of a text like the template's. PASS: what is told is kept until the text is
 * looked into. */
static px_step fill_alike(px_session *session, const px_likeness *of)
{
    px_step step;
    pgw_error error;
    px_alike_asked asked;
    const rw_insert *insert = px_template_insert(of->like);
    const px_keys_of keys = {
        .inserts = &insert, .count = 1, .question = px_template_question(of->like)};
    const rw_answer *answers = px_keys_ask(session, &keys, &step, &error);
    if (answers == NULL)
        return step == PX_STEP_DONE ? PX_STEP_PASS : step;
    const char *schema = px_keys_schema(session);
    if ((schema != NULL && strcmp(schema, insert->table->schema) != 0) ||
        !px_alike_fill(of, answers, &asked))
        return PX_STEP_PASS;
    step = submit_filled(session, &asked);
    px_text_drop(asked.text);
    return step;
}

/* Whether nothing but questions of keyspread's own is under way. A text like one of before is not
 * parsed in order to wait for their answers. */
static bool is_asking(const px_session *session)
{
    return session->pending.replies.count > 0 && px_session_is_quiet(session) &&
           session->own.begun == NULL && session->hand.parsed == NULL;
}

/* Submits, without looking into it, an INSERT that differs from one of before in constants alone.
 * PASS: it is to be looked into. */
static px_step submit_alike(px_session *session, pgw_slice text)
{
    px_likeness of;
    if (!px_template_find(session->worker, session->who.identity, text, &of))
        return PX_STEP_PASS;
    if (is_asking(session))
        return PX_WAIT_IDLE;
    if (!is_undisturbed(session))
        return PX_STEP_PASS;
    px_step step = check_template(session, text, of.like);
    if (step != PX_STEP_DONE)
        return step;
    if (px_template_asks(of.like))
        return session->own.status == 'I' ? fill_alike(session, &of) : PX_STEP_PASS;
    return submit_like(session, &of, NULL);
}

static px_step look(px_session *session, pgw_slice text);

/* Looks at the first part alone: what stands behind it cannot be understood before that has run. */
static px_step look_until(px_session *session, const px_text *text, size_t cut)
{
    pgw_slice first = {text->text.ptr, text->script.statements[cut].start};
    px_step step = px_split_query_begin(session, text, cut);
    return step == PX_STEP_DONE ? look(session, first) : step;
}

static px_step look(px_session *session, pgw_slice text)
{
    rw_catalog view;
    px_catalog *catalog;
    px_step step = px_schema_probe_script(session, text, &catalog);
    /* A text that was parsed before is looked at by what is sure, as then. */
    if (step == PX_STEP_DONE && px_parsed_is_of(session, text, catalog))
        step = px_sync_state_query(session, catalog, text);
    if (step != PX_STEP_DONE)
        return step;
    px_state_view(session, catalog, &view);
    px_text *parsed = px_parsed(session, text, catalog, &view);
    parsed->altered = px_changes_unseen(session);
    parsed->remembered = px_statements_have_room(&session->names.statements, text.len);
    parsed->executes =
        px_names_may_execute(session, text) && px_sql_execute_is_executed(session, text);
    parsed->moved = view.moved;
    size_t cut = px_split_query_cut(session, parsed);
    bool wants = cut == 0 && px_text_wants(parsed, NULL) > 0 && !parsed->altered;
    bool elsewhere = cut == 0 && is_elsewhere(session, parsed);
    step = cut > 0     ? look_until(session, parsed, cut)
           : elsewhere ? refuse_elsewhere(session)
           : wants     ? fill(session, parsed, &view)
                       : look_into(session, parsed);
    if (wants && px_step_waits(step))
        px_parsed_keep(session, parsed, &view);
    px_text_drop(parsed);
    return step;
}

/* Renews what EXECUTE names in the text. DONE: all is as it has to be. */
static px_step renew_executed(px_session *session, pgw_slice text)
{
    if (!px_names_may_execute(session, text))
        return PX_STEP_DONE;
    px_step step = px_session_need_link(session);
    if (step == PX_STEP_DONE)
        step = px_sql_execute_renew(session, text);
    if (step == PX_STEP_DONE)
        px_names_of_execute(session, text);
    return step;
}

static px_step look_at_next(px_session *session)
{
    pgw_error error;
    pgw_slice part = px_split_query_at_hand(session);
    if (!px_split_query_are_readable(session, &error)) {
        px_refuse(session, &error, false);
        return PX_STEP_DONE;
    }
    px_step step = renew_executed(session, part);
    return step == PX_STEP_DONE ? look(session, part) : step;
}

/* Goes on from part to part of the text, as far as nothing is to be waited for. */
static px_step go_on(px_session *session, px_step step)
{
    while (session->hand.parts != NULL && step == PX_STEP_DONE) {
        step = px_split_query_sent(session);
        if (step == PX_STEP_DONE && px_split_query_are_over(session))
            return px_split_query_end(session);
        if (step == PX_STEP_DONE)
            step = look_at_next(session);
    }
    return step;
}

static px_step look_at_part(px_session *session)
{
    if (session->pending.replies.count > 0)
        return PX_WAIT_IDLE;
    if (px_split_query_are_over(session))
        return px_split_query_end(session);
    size_t failed;
    px_step step = px_keys_failure(session) != NULL && px_keys_in_part(session, &failed) == NULL
                       ? refuse_unanswered(session)
                       : look_at_next(session);
    return go_on(session, step);
}

/* Whether a walsender's text is a command that is no SQL, or what the server will not run. */
static bool is_replication(const px_session *session, pgw_slice text)
{
    return !pgw_replication_takes_sql(session->who.identity->replication) ||
           pgw_replication_is_command(text);
}

px_step px_simple(px_session *session, pgw_frame frame, pgw_slice message)
{
    if (px_outcome_has_rest(session))
        return send_rest(session);
    size_t failed;
    pgw_slice text;
    bool readable = pgw_query_decode(pgw_frame_body(message, frame), &text);
    if (session->hand.parts != NULL)
        return look_at_part(session);
    if (px_keys_failure(session) != NULL && px_keys_in_part(session, &failed) == NULL)
        return refuse_unanswered(session);
    px_step step = px_forward_group(session);
    if (step == PX_STEP_DONE && readable)
        step = renew_executed(session, text);
    if (step != PX_STEP_DONE)
        return step;
    pgw_error error;
    if (readable && px_kept_key_is_executed(session, text, &error))
        return refuse(session, &error);
    if (!readable)
        return pass(session, PX_UNREAD);
    if (session->who.identity->replication != NULL && is_replication(session, text))
        return pass(session, 0);
    bool inserts = text.len > 0 && ((*text.ptr | 32) == 'i' || (unsigned char)*text.ptr <= ' ');
    step = inserts ? submit_alike(session, text) : PX_STEP_PASS;
    if (step != PX_STEP_PASS)
        return step;
    unsigned effects;
    switch (px_glance_at(session, text, &effects, &step, &error)) {
    case PX_GLANCE_WAITS:
        return step;
    case PX_GLANCE_REFUSED:
        return refuse(session, &error);
    case PX_GLANCE_PASSES:
        return pass(session, effects);
    case PX_GLANCE_LOOK:
        break;
    }
    return go_on(session, look(session, text));
}
