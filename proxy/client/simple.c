#define _GNU_SOURCE
#include "proxy/client/session.h"

#include "protocol/backend.h"
#include "protocol/frontend.h"
#include "proxy/client/forward.h"
#include "proxy/ingest/bind.h"
#include "proxy/ingest/obstacles.h"
#include "rewrite/read/reach.h"
#include "rewrite/read/tree.h"

#include <stdlib.h>
#include <string.h>

static px_text *parse_text(px_session *session, pgw_slice text, px_catalog *catalog,
                           const rw_catalog *view)
{
    pgw_arena arena = {0};
    px_text *parsed = pgw_arena_alloc(&arena, sizeof *parsed);
    *parsed = (px_text){.references = 1, .catalog = catalog};
    px_catalog_take(catalog);
    parsed->text = pgw_arena_copy(&arena, text);
    rw_script_parse(parsed->text, view, &session->identity->env, &session->worker->plans->known,
                    &arena, &parsed->script);
    parsed->arena = arena;
    return parsed;
}

/* All INSERTs that may be merged, into one table. */
static bool script_is_batchable(const px_session *session, const px_text *text)
{
    const rw_script *script = &text->script;
    if (script->inserts == 0 || script->inserts != script->count)
        return false;
    for (size_t i = 0; i < script->count; i++) {
        const rw_insert *insert = script->statements[i].insert;
        if (insert->obstacle != RW_BATCHABLE ||
            insert->table != script->statements[0].insert->table ||
            px_session_obstacle(session, session->identity, insert) != PX_COUNTERS)
            return false;
    }
    return true;
}

unsigned px_change_effects(const px_session *session, pgw_slice text, const rw_script *script)
{
    const unsigned changing = RW_EFFECT_DDL | RW_EFFECT_SETTINGS | RW_EFFECT_TRANSACTION;
    unsigned effects = script->effects & ~(unsigned)RW_EFFECT_DDL;
    for (size_t i = 0; i < script->count; i++) {
        const rw_statement *statement = &script->statements[i];
        pgw_slice written = {text.ptr + statement->start, statement->end - statement->start};
        if (statement->effects & changing &&
            rw_reaches_tables(written, px_catalog_names(session->worker),
                              session->identity->env.conforming))
            effects |= RW_EFFECT_DDL;
    }
    return effects;
}

/* What the INSERTs of ours run on the own link: nothing of their own, unless the table has code. */
static unsigned effects_of(const rw_statement *statement)
{
    unsigned effects = statement->effects;
    if (statement->insert == NULL)
        return effects;
    const rw_table *table = statement->insert->table;
    bool defaults = false, sequences = false;
    for (size_t i = 0; i < table->column_count; i++) {
        sequences = sequences || table->columns[i].sequence;
        defaults = defaults || (table->columns[i].has_default && !table->columns[i].sequence &&
                                !table->columns[i].generated);
    }
    if (table->mergeable && !defaults)
        effects &= ~(unsigned)RW_EFFECT_RUNS;
    if (table->mergeable && !sequences)
        effects &= ~(unsigned)RW_EFFECT_WRITES;
    return effects;
}

void px_note_script(px_session *session, const rw_script *script, bool alone)
{
    unsigned effects = 0;
    for (size_t i = 0; i < script->count; i++)
        effects |= effects_of(&script->statements[i]);
    if (effects & RW_EFFECT_OUTPUT)
        session->output_changed = true;
    if (effects & RW_EFFECT_TRACKED && !(alone && script->statements[0].setting_simple))
        effects |= RW_EFFECT_NAMES; /* its value is to be asked for */
    session->zone_moving = session->zone_moving || px_moves_zone(effects);
    px_state_note(session, effects);
}

static size_t row_bytes(const rw_insert *insert, size_t row)
{
    return insert->rows[row].close - insert->rows[row].open;
}

/* What settings mean for values now: TimeZone is not known while a change of it is under way. */
static pgw_env env_now(const px_session *session)
{
    pgw_env env = session->identity->env;
    if (session->zone_moving)
        env.zone_known = env.utf8 = false;
    return env;
}

static void refuse_statement(px_text *text, size_t i, const pgw_error *error)
{
    if (text->refusals[i] == NULL)
        text->refusals[i] = error;
    text->refused = true;
}

/* The key of a row; if there is none, the row says so, and the statement is to fail. */
static void hash_row(px_session *session, px_text *text, size_t i, size_t r, const pgw_env *env)
{
    const rw_statement *statement = &text->script.statements[i];
    rw_insert *insert = statement->insert;
    rw_key *key = &text->keys[i][r];
    pgw_error error;
    bool good = rw_insert_key(insert, r, NULL, 0, env, &text->arena, key, &error) == PGW_KNOWN &&
                px_bind_limit(session->worker, insert->table, row_bytes(insert, r), key, &error);
    text->hashes[i][r] = key->hash;
    insert->rows[r].unhashed = insert->rows[r].unhashed || !good;
    if (good || text->refusals[i] != NULL)
        return;
    if (error.position > 0)
        error.position += rw_characters(text->text, statement->start, env);
    pgw_error *kept = pgw_arena_alloc(&text->arena, sizeof *kept);
    *kept = error;
    refuse_statement(text, i, kept);
}

static void hash_insert(px_session *session, px_text *text, size_t i, const pgw_env *env)
{
    rw_insert *insert = text->script.statements[i].insert;
    text->hashes[i] = pgw_arena_alloc(&text->arena, insert->row_count * sizeof *text->hashes[i]);
    text->keys[i] = pgw_arena_alloc(&text->arena, insert->row_count * sizeof *text->keys[i]);
    for (size_t r = 0; r < insert->row_count; r++)
        hash_row(session, text, i, r, env);
    if (text->refusals[i] == NULL)
        text->superseded[i] = rw_insert_supersede(insert, text->keys[i], &text->arena);
}

/* No function of the database's own changes a setting. */
static bool is_quiet(const px_text *text)
{
    return text->catalog->count == 0 || text->catalog->tables[0]->quiet;
}

/* What its columns are by then cannot be known before the text is sent. */
static void refuse_reshaped(const px_session *session, px_text *text, size_t i)
{
    const rw_table *table = text->script.statements[i].insert->table;
    for (size_t before = 0; before < i; before++) {
        const rw_statement *other = &text->script.statements[before];
        pgw_slice written = {text->text.ptr + other->start, other->end - other->start};
        if (!(other->effects & RW_EFFECT_DDL) ||
            !rw_moves_columns(written, table, session->identity->env.conforming))
            continue;
        pgw_error *error = pgw_arena_alloc(&text->arena, sizeof *error);
        pgw_fail(error, "0A000", "table %s may be changed earlier in the same Query", table->name);
        pgw_error_hint(error, "Send the INSERT in a Query of its own.");
        refuse_statement(text, i, error);
        for (size_t r = 0; r < text->script.statements[i].insert->row_count; r++)
            text->script.statements[i].insert->rows[r].unhashed = true;
        return;
    }
}

/* Fills hashes of every INSERT, and the refusals. */
static void hash_script(px_session *session, px_text *text)
{
    const rw_script *script = &text->script;
    pgw_env env = env_now(session);
    if (script->count > 1 &&
        (px_moves_zone(script->effects) || (!is_quiet(text) && script->effects & RW_EFFECT_CALLS)))
        env.zone_known = false; /* an earlier statement of the text may have changed it */
    text->hashes = pgw_arena_alloc(&text->arena, script->count * sizeof *text->hashes);
    text->keys = pgw_arena_alloc(&text->arena, script->count * sizeof *text->keys);
    text->superseded = pgw_arena_alloc(&text->arena, script->count * sizeof *text->superseded);
    text->refusals = pgw_arena_alloc(&text->arena, script->count * sizeof *text->refusals);
    for (size_t i = 0; i < script->count; i++) {
        const rw_statement *statement = &script->statements[i];
        if (statement->insert != NULL && script->effects & RW_EFFECT_DDL)
            refuse_reshaped(session, text, i);
        if (statement->kind == RW_STATEMENT_REFUSED)
            refuse_statement(text, i, statement->error);
        else if (statement->insert != NULL &&
                 statement->insert->obstacle != RW_OBSTACLE_UNCOMPUTABLE)
            hash_insert(session, text, i, &env);
    }
}

/* What is refused is sent as a statement that every server refuses, at the same time: it is parsed
 * with all the others, what comes before it is done, and what comes behind is not. */
#define REFUSED_STATEMENT "select \"" RW_REFUSAL "\""

static void render_statement(const px_text *text, size_t i, pgw_buf *out)
{
    const rw_insert *insert = text->script.statements[i].insert;
    if (text->refusals[i] != NULL && (insert == NULL || !rw_insert_may_fail(insert)))
        pgw_buf_add_str(out, REFUSED_STATEMENT);
    else
        rw_render_statement(insert, RW_HASH_CONSTANT, text->hashes[i], out);
}

void px_text_render(const px_text *text, size_t *sent_at, pgw_buf *out)
{
    const rw_script *script = &text->script;
    size_t from = 0;
    for (size_t i = 0; i < script->count; i++) {
        const rw_statement *statement = &script->statements[i];
        pgw_buf_add(out, text->text.ptr + from, statement->start - from);
        if (sent_at != NULL)
            sent_at[i] = out->len;
        from = statement->start;
        if (statement->kind == RW_STATEMENT_FORWARD && text->refusals[i] == NULL)
            continue;
        render_statement(text, i, out);
        from = statement->end;
    }
    pgw_buf_add(out, text->text.ptr + from, text->text.len - from);
}

static bool begins_with(const px_text *text, const rw_statement *statement, const char *word)
{
    size_t len = strlen(word);
    return statement->end - statement->start >= len &&
           strncasecmp(text->text.ptr + statement->start, word, len) == 0;
}

/* Whether rows of ours may be committed by it. In a transaction only its end does that. */
static bool may_commit(const px_session *session, const px_text *text)
{
    const rw_script *script = &text->script;
    if (script->inserts > 0 && session->status == 'I')
        return true;
    for (size_t i = 0; i < script->count; i++)
        if ((script->statements[i].effects & RW_EFFECT_TRANSACTION) &&
            (begins_with(text, &script->statements[i], "commit") ||
             begins_with(text, &script->statements[i], "end") ||
             begins_with(text, &script->statements[i], "prepare")))
            return true;
    return false;
}

/* A looked-into text goes to the own link, each INSERT rewritten in place. */
static void send_text(px_session *session, px_text *text)
{
    px_forward_script(session, &text->script);
    session->undecided = session->undecided || may_commit(session, text);
    bool alone = text->script.count == 1 && session->status == 'I' && session->replies.count == 0;
    px_session_note_change(session, px_change_effects(session, text->text, &text->script));
    px_note_script(session, &text->script, alone);
    if (text->script.effects & RW_EFFECT_PREPARE)
        px_state_note_prepare(session, text->text, text->catalog);
    pgw_buf rendered = {0}, message = {0};
    px_text_render(text, NULL, &rendered);
    pgw_certainly(pgw_write_query(pgw_slice_buf(&rendered), &message));
    px_reply *reply = px_replies_push(&session->replies, PX_REPLY_QUERY);
    px_reply_is_about(&session->replies, reply, text);
    session->unnamed_on_link = session->repeated = false;
    px_session_send(session, &message);
    pgw_buf_free(&rendered);
    pgw_buf_free(&message);
}

/* The first statement that is refused. */
static size_t first_refusal(const px_text *text)
{
    size_t i = 0;
    while (text->refusals[i] == NULL)
        i++;
    return i;
}

/* Other errors are 42601 as well, but found later. */
static bool is_syntax_error(const pgw_error *error)
{
    return pgw_error_is(error, "42601") && (strncmp(error->message, "syntax error", 12) == 0 ||
                                            strncmp(error->message, "trailing junk", 13) == 0);
}

/* A refusal that needs no server: PostgreSQL reads the whole text before it does any of it; and
 * before a lone statement there is nothing to be done, unless the server can find errors in it. */
static bool is_answered_here(px_session *session, const px_text *text)
{
    size_t i = first_refusal(text);
    const rw_insert *insert = text->script.statements[i].insert;
    if (is_syntax_error(text->refusals[i]))
        return true;
    return text->script.count == 1 && px_session_idle(session) &&
           (insert == NULL || !rw_insert_may_fail(insert));
}

static px_step answer_refusal(px_session *session, const px_text *text)
{
    if (!px_session_idle(session) && !px_session_need_link(session))
        return PX_STEP_LATER;
    px_session_refuse(session, text->refusals[first_refusal(text)], false);
    session->doubted = false;
    return PX_STEP_DONE;
}

/* Something must be known, or free, before the text can be sent. */
static bool must_wait(px_session *session, const px_text *text, bool batchable)
{
    bool names = (text->script.effects & (RW_EFFECT_DEALLOCATE | RW_EFFECT_PREPARE)) != 0;
    if (names && session->replies.moving.count > 0 && !session->unsynced)
        session->wait = PX_WAIT_IDLE; /* what is there to be dropped, the server has yet to say */
    else if (batchable && !session->unsynced && session->replies.count > 0)
        session->wait = PX_WAIT_IDLE; /* only then it is known whether a transaction is open */
    else if (batchable && px_session_idle(session) && !px_batcher_has_room(session->worker))
        session->wait = PX_WAIT_TURN;
    return session->wait != PX_WAIT_NOTHING;
}

/* Whether what is known of the session is no guess, as far as this text needs it. */
static bool is_sure(px_session *session, const px_text *text)
{
    const rw_script *script = &text->script;
    bool resumes = (script->effects & RW_EFFECT_RESUMES) && session->own.by_sql.moving;
    if (script->inserts > 0 || script->refused || resumes)
        return px_settle(session, text->catalog);
    return px_settle_kind(session, text->catalog);
}

/* EXECUTE of what would be a write of ours by now. */
static void refuse_moved(px_session *session, px_text *text)
{
    pgw_error error;
    for (size_t i = 0; i < text->script.count; i++) {
        if (!(text->script.statements[i].effects & RW_EFFECT_RESUMES) ||
            !px_state_has_moved(session, &session->own.by_sql, &error))
            continue;
        pgw_error *kept = pgw_arena_alloc(&text->arena, sizeof *kept);
        *kept = error;
        refuse_statement(text, i, kept);
    }
}

/* A text that names a configured table or does something to the session. */
static px_step look_into(px_session *session, px_text *text)
{
    bool batchable = script_is_batchable(session, text);
    if (!is_sure(session, text) || must_wait(session, text, batchable))
        return PX_STEP_LATER;
    hash_script(session, text);
    refuse_moved(session, text);
    if (text->refused && px_session_doubts(session, text->catalog))
        return PX_STEP_LATER;
    if (text->refused && is_answered_here(session, text))
        return answer_refusal(session, text);
    if (batchable && !text->refused && px_session_idle(session)) {
        session->doubted = false;
        px_submit_script(session, text);
        return PX_STEP_LATER; /* the message is consumed when it is answered */
    }
    if (!px_session_need_link(session))
        return PX_STEP_LATER;
    px_count_unbatched_text(session, text);
    session->rerouted = session->doubted = false;
    send_text(session, text);
    return PX_STEP_DONE;
}

bool px_moves_zone(unsigned effects)
{
    return (effects & (RW_EFFECT_TRACKED | RW_EFFECT_SETTINGS | RW_EFFECT_DISCARD_ALL |
                       RW_EFFECT_TRANSACTION)) != 0;
}

bool px_refuse_opaque(px_session *session, pgw_slice text, pgw_error *error)
{
    if (!rw_catalog_mentioned(px_catalog_names(session->worker), text))
        return false;
    pgw_fail(error, "0A000", "a configured table cannot be named in this client_encoding");
    pgw_error_hint(error, "SET client_encoding TO 'UTF8'.");
    return true;
}

/* What is left of a statement whose other rows are committed. */
static px_step send_rest(px_session *session)
{
    if (!px_session_need_link(session))
        return PX_STEP_LATER;
    send_text(session, session->unit_text);
    session->rerouted = false;
    px_submit_drop_statement(session);
    return PX_STEP_DONE;
}

px_step px_simple(px_session *session, pgw_frame frame, pgw_slice message)
{
    if (px_split_has_rest(session))
        return send_rest(session);
    pgw_slice text;
    bool readable = pgw_query_decode(pgw_frame_body(message, frame), &text);
    if (session->group.count > 0 && !px_group_release(session))
        return PX_STEP_LATER;
    rw_catalog names = *px_catalog_names(session->worker);
    if (readable && px_forward_may_execute(session, text)) {
        if (!px_session_need_link(session))
            return PX_STEP_LATER;
        px_forward_executed(session, text);
    }
    unsigned effects = PX_UNREAD;
    if (!readable || session->identity->replication != NULL ||
        rw_text_passes(text, &names, &effects)) {
        px_state_note(session, effects);
        px_session_note_change(session, effects);
        return PX_STEP_PASS;
    }
    pgw_error error;
    if (session->opaque && px_refuse_opaque(session, text, &error)) {
        if (!px_session_idle(session) && !px_session_need_link(session))
            return PX_STEP_LATER;
        px_session_refuse(session, &error, false);
        return PX_STEP_DONE;
    }
    px_catalog *catalog;
    rw_catalog view;
    if (!px_session_catalog(session, text, &catalog, &view))
        return PX_STEP_LATER;
    px_text *parsed = parse_text(session, text, catalog, &view);
    px_step step = look_into(session, parsed);
    px_text_drop(parsed);
    return step;
}
