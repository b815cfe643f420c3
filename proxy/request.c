#define _GNU_SOURCE
#include "proxy/session.h"

#include "protocol/backend.h"
#include "protocol/frontend.h"
#include "proxy/bind.h"
#include "proxy/log.h"

#include <stdlib.h>
#include <string.h>

/* ---- sending ---- */

void px_session_send(px_session *session, const pgw_buf *bytes)
{
    px_stream_put_buf(px_link_stream(session->link), bytes);
}

/* Passes the client's message on as it is; a body that has not come yet follows as it comes. */
static void pass(px_session *session, pgw_frame frame)
{
    size_t here = px_stream_input(session->stream).len;
    size_t part = here < frame.size ? here : frame.size;
    px_stream_pass(px_link_stream(session->link), session->stream, part);
    session->streaming = frame.size - part;
}

static bool stream_on(px_session *session)
{
    size_t here = px_stream_input(session->stream).len;
    size_t part = here < session->streaming ? here : session->streaming;
    if (part == 0)
        return false;
    if (session->skipping)
        px_stream_consume(session->stream, part);
    else
        px_stream_pass(px_link_stream(session->link), session->stream, part);
    session->streaming -= part;
    return true;
}

static void drop(px_session *session, pgw_frame frame)
{
    size_t here = px_stream_input(session->stream).len;
    size_t part = here < frame.size ? here : frame.size;
    px_stream_consume(session->stream, part);
    session->streaming = frame.size - part;
}

static void protocol_violation(px_session *session, const char *what, char type)
{
    pgw_error error;
    pgw_fail(&error, "08P01", "%s %d", what, (unsigned char)type);
    px_session_fatal(session, &error);
}

static void put_error(px_session *session, const pgw_error *error, bool ready)
{
    pgw_buf out = {0};
    pgw_error_write(error, "ERROR", &out);
    if (ready)
        pgw_write_ready('I', &out);
    px_stream_put_buf(session->stream, &out);
    pgw_buf_free(&out);
}

/* What cannot be parsed by any server: the error it must give is replaced by ours. */
#define UNPARSABLE "refused by keyspread"

void px_session_refuse(px_session *session, const pgw_error *error, bool extended)
{
    if (px_session_idle(session)) {
        put_error(session, error, !extended);
        session->skipping = extended;
        return;
    }
    /* The transaction, or the Sync group, lives on at the backend: it must fail there as well, or
     * COMMIT would commit the rest of it. A name is given lest the unnamed statement be lost. */
    pgw_buf out = {0};
    if (extended)
        pgw_write_parse(PGW_LITERAL("keyspread refusal"), PGW_LITERAL(UNPARSABLE), NULL, 0, &out);
    else
        pgw_write_query(PGW_LITERAL(UNPARSABLE), &out);
    px_reply *reply =
        px_replies_push(&session->replies, extended ? PX_REPLY_PARSE : PX_REPLY_QUERY);
    reply->refusal = pgw_alloc(sizeof *reply->refusal);
    *reply->refusal = *error;
    session->unsynced = session->unsynced || extended;
    px_session_send(session, &out);
    pgw_buf_free(&out);
}

void px_session_link_failed(px_session *session, const pgw_error *error)
{
    pgw_slice input = px_stream_input(session->stream);
    pgw_frame frame;
    bool whole = pgw_frame_next(input, &frame) == PGW_FRAME_OK;
    bool simple = whole && (frame.type == 'Q' || frame.type == 'F');
    bool sync = whole && frame.type == 'S';
    px_group_clear(session);
    session->rerouted = false;
    put_error(session, error, simple || sync);
    session->skipping = !simple && !sync;
    if (whole)
        drop(session, frame);
    px_session_wake(session, PX_WAIT_LINK);
}

void px_session_cancel_waiting(px_session *session)
{
    pgw_error error;
    pgw_fail(&error, "57014", "canceling statement due to user request");
    px_catalog_forget(session->worker, session);
    session->wait = PX_WAIT_LINK; /* what link_failed ends */
    px_session_link_failed(session, &error);
}

/* ---- the simple protocol ---- */

static void on_catalog(void *waiter, const pgw_error *error)
{
    px_session *session = waiter;
    if (error != NULL)
        px_session_link_failed(session, error);
    px_session_wake(session, PX_WAIT_CATALOG);
}

bool px_session_catalog(px_session *session, px_catalog **catalog, rw_catalog *view)
{
    px_catalog *now = px_catalog_now(session->worker, session->identity);
    if (now == NULL) {
        session->wait = PX_WAIT_CATALOG;
        px_catalog_load(session->worker, session->identity, on_catalog, session);
        return false;
    }
    *catalog = now;
    *view = (rw_catalog){.tables = (const rw_table *const *)now->tables,
                         .count = now->count,
                         .qualified_only = session->qualified_only};
    return true;
}

static px_text *parse_text(px_session *session, pgw_slice text, px_catalog *catalog,
                           const rw_catalog *view)
{
    pgw_arena arena = {0};
    px_text *parsed = pgw_arena_alloc(&arena, sizeof *parsed);
    *parsed = (px_text){.references = 1, .catalog = catalog};
    px_catalog_take(catalog);
    parsed->text = pgw_arena_copy(&arena, text);
    rw_script_parse(parsed->text, view, &session->identity->env, &arena, &parsed->script);
    parsed->arena = arena;
    return parsed;
}

static bool first_refusal(const px_text *text, pgw_error *error)
{
    for (size_t i = 0; i < text->script.count; i++)
        if (text->script.statements[i].kind == RW_STATEMENT_REFUSED) {
            *error = *text->script.statements[i].error;
            return true;
        }
    return false;
}

/* All INSERTs that may be merged, into one table. */
static bool script_is_batchable(const px_text *text)
{
    const rw_script *script = &text->script;
    if (script->inserts == 0 || script->inserts != script->count)
        return false;
    for (size_t i = 0; i < script->count; i++) {
        const rw_insert *insert = script->statements[i].insert;
        if (insert->obstacle != RW_BATCHABLE ||
            insert->table != script->statements[0].insert->table)
            return false;
    }
    return true;
}

static bool session_may_batch(const px_session *session)
{
    return !session->private_session && session->identity->env.utf8 &&
           session->identity->env.conforming && session->identity->replication == NULL &&
           !session->rerouted;
}

void px_session_prepare_recorded(px_session *session)
{
    pgw_buf out = {0};
    if (session->status == 'E')
        return; /* nothing can be prepared, and nothing run or dropped */
    for (size_t i = 0; i < session->statements.count; i++) {
        px_statement *statement = &session->statements.list[i];
        if (statement->on_link || (statement->plan == NULL && statement->parse.len == 0))
            continue;
        if (statement->plan == NULL)
            pgw_buf_add_slice(&out, pgw_slice_buf(&statement->parse));
        else
            pgw_write_parse(pgw_slice_str(statement->name), statement->plan->rewritten,
                            statement->plan->declared, statement->plan->declared_count, &out);
        px_reply *reply = px_replies_push(&session->replies, PX_REPLY_PARSE);
        reply->swallow = true;
        statement->on_link = true;
    }
    if (out.len > 0 && !session->unsynced) {
        pgw_write_sync(&out);
        px_replies_push(&session->replies, PX_REPLY_SYNC)->swallow = true;
    }
    if (out.len > 0)
        px_session_send(session, &out);
    pgw_buf_free(&out);
}

void px_session_prepare_again(px_session *session)
{
    for (size_t i = 0; i < session->statements.count; i++)
        if (session->statements.list[i].plan == NULL && !session->statements.list[i].on_link) {
            px_session_prepare_recorded(session);
            return;
        }
}

void px_session_close_on_link(px_session *session, pgw_slice name)
{
    pgw_buf out = {0};
    pgw_write_close('S', name, &out);
    pgw_write_sync(&out);
    px_replies_push(&session->replies, PX_REPLY_CLOSE)->swallow = true;
    px_replies_push(&session->replies, PX_REPLY_SYNC)->swallow = true;
    px_session_send(session, &out);
    pgw_buf_free(&out);
}

static void note_effects(px_session *session, const px_text *text)
{
    const rw_script *script = &text->script;
    unsigned effects = script->effects;
    bool alone = script->count == 1 && session->status == 'I' && session->replies.count == 0;
    if (effects & (RW_EFFECT_PRIVATE | RW_EFFECT_TEMPORARY))
        session->private_session = true;
    if (effects & RW_EFFECT_TEMPORARY)
        session->qualified_only = true;
    if (effects & RW_EFFECT_STATE)
        session->link_state = true;
    if (effects & RW_EFFECT_DDL)
        session->ddl_seen = true;
    if ((effects & RW_EFFECT_TRACKED) && !(alone && script->statements[0].setting_simple)) {
        size_t setting = px_session_setting(script->statements[0].setting);
        if (script->count > 1 || setting >= 5) /* the first five are reported by the server */
            session->private_session = true;
    }
    for (size_t i = 0; i < script->count; i++)
        if (script->statements[i].effects & RW_EFFECT_PREPARE)
            px_statements_put(&session->statements, script->statements[i].name, NULL, true)->sql =
                true;
}

static size_t row_bytes(const rw_insert *insert, size_t row)
{
    return insert->rows[row].close - insert->rows[row].open;
}

/* Fills hashes of every INSERT; false: the error. */
static bool hash_script(px_session *session, px_text *text, pgw_error *error)
{
    const rw_script *script = &text->script;
    text->hashes = pgw_arena_alloc(&text->arena, script->count * sizeof *text->hashes);
    text->keys = pgw_arena_alloc(&text->arena, script->count * sizeof *text->keys);
    text->superseded = pgw_arena_alloc(&text->arena, script->count * sizeof *text->superseded);
    for (size_t i = 0; i < script->count; i++) {
        rw_insert *insert = script->statements[i].insert;
        if (insert == NULL || insert->obstacle == RW_OBSTACLE_UNCOMPUTABLE)
            continue;
        text->hashes[i] =
            pgw_arena_alloc(&text->arena, insert->row_count * sizeof *text->hashes[i]);
        text->keys[i] = pgw_arena_alloc(&text->arena, insert->row_count * sizeof *text->keys[i]);
        for (size_t r = 0; r < insert->row_count; r++) {
            if (rw_insert_key(insert, r, NULL, 0, &session->identity->env, &text->arena,
                              &text->keys[i][r], error) != PGW_KNOWN ||
                !px_bind_limit(session->worker->config, insert->table, row_bytes(insert, r),
                               &text->keys[i][r], error))
                return false;
            text->hashes[i][r] = text->keys[i][r].hash;
        }
        text->superseded[i] = rw_insert_supersede(insert, text->keys[i], &text->arena);
    }
    return true;
}

void px_text_render(px_text *text, pgw_buf *out)
{
    const rw_script *script = &text->script;
    text->sent_at = pgw_arena_alloc(&text->arena, (script->count + 1) * sizeof *text->sent_at);
    size_t from = 0;
    for (size_t i = 0; i < script->count; i++) {
        const rw_statement *statement = &script->statements[i];
        pgw_buf_add(out, text->text.ptr + from, statement->start - from);
        text->sent_at[i] = out->len;
        from = statement->start;
        if (statement->insert == NULL)
            continue;
        rw_render_statement(statement->insert, RW_HASH_CONSTANT, text->hashes[i], out);
        from = statement->end;
    }
    pgw_buf_add(out, text->text.ptr + from, text->text.len - from);
}

/* A looked-into text goes to the own link, each INSERT rewritten in place. */
static void send_text(px_session *session, px_text *text)
{
    if (text->script.effects & (RW_EFFECT_DEALLOCATE | RW_EFFECT_PREPARE))
        px_session_prepare_recorded(session);
    note_effects(session, text);
    pgw_buf rendered = {0}, message = {0};
    px_text_render(text, &rendered);
    pgw_write_query(pgw_slice_buf(&rendered), &message);
    px_text_take(text);
    px_replies_push(&session->replies, PX_REPLY_QUERY)->text = text;
    session->unnamed_on_link = false;
    px_session_send(session, &message);
    pgw_buf_free(&rendered);
    pgw_buf_free(&message);
}

/* A text that names a configured table or does something to the session. */
static px_step look_into(px_session *session, px_text *text)
{
    pgw_error error;
    if (first_refusal(text, &error)) {
        if (!px_session_idle(session) && !px_session_need_link(session))
            return PX_STEP_LATER;
        px_session_refuse(session, &error, false);
        return PX_STEP_DONE;
    }
    bool batchable = script_is_batchable(text) && session_may_batch(session);
    if (batchable && !session->unsynced && session->replies.count > 0) {
        session->wait = PX_WAIT_IDLE; /* only then it is known whether a transaction is open */
        return PX_STEP_LATER;
    }
    bool alone = batchable && px_session_idle(session);
    if (alone && !px_batcher_has_room(session->worker)) {
        session->wait = PX_WAIT_TURN;
        return PX_STEP_LATER;
    }
    if (!alone && !px_session_need_link(session))
        return PX_STEP_LATER;
    if (!hash_script(session, text, &error)) {
        px_session_refuse(session, &error, false);
        return PX_STEP_DONE;
    }
    if (alone) {
        px_submit_script(session, text);
        return PX_STEP_LATER; /* the message is consumed when it is answered */
    }
    session->rerouted = false;
    send_text(session, text);
    return PX_STEP_DONE;
}

static px_step on_query(px_session *session, pgw_frame frame, pgw_slice message)
{
    pgw_slice text;
    bool readable = pgw_query_decode(pgw_frame_body(message, frame), &text);
    if (session->group.count > 0 && !px_group_release(session))
        return PX_STEP_LATER;
    rw_catalog names = *px_catalog_names(session->worker);
    if (readable && session->statements.ours > 0 && strcasestr(text.ptr, "execute") != NULL) {
        if (!px_session_need_link(session))
            return PX_STEP_LATER;
        px_session_prepare_recorded(session);
    }
    if (!readable || session->identity->replication != NULL || rw_text_passes(text, &names))
        return PX_STEP_PASS;
    px_catalog *catalog;
    rw_catalog view;
    if (!px_session_catalog(session, &catalog, &view))
        return PX_STEP_LATER;
    px_text *parsed = parse_text(session, text, catalog, &view);
    px_step step = look_into(session, parsed);
    px_text_drop(parsed);
    return step;
}

static bool handle_query(px_session *session, pgw_frame frame, pgw_slice message)
{
    switch (on_query(session, frame, message)) {
    case PX_STEP_LATER:
        return false;
    case PX_STEP_PASS:
        if (!px_session_need_link(session))
            return false;
        px_replies_push(&session->replies, PX_REPLY_QUERY);
        pass(session, frame);
        session->unnamed_on_link = false;
        break;
    case PX_STEP_DONE:
        px_stream_consume(session->stream, frame.size);
        break;
    }
    px_statements_remove(&session->statements, PGW_LITERAL("")); /* a simple Query destroys it */
    return true;
}

/* ---- the extended protocol ---- */

static px_reply_kind reply_kind(char type, pgw_slice message)
{
    switch (type) {
    case 'P':
        return PX_REPLY_PARSE;
    case 'B':
        return PX_REPLY_BIND;
    case 'E':
        return PX_REPLY_EXECUTE;
    case 'C':
        return PX_REPLY_CLOSE;
    default:
        return message.len > PGW_HEADER && message.ptr[PGW_HEADER] == 'S'
                   ? PX_REPLY_DESCRIBE
                   : PX_REPLY_DESCRIBE_PORTAL;
    }
}

/* A statement that is none of ours, remembered by its name alone, for names clash. */
static void note_foreign(px_session *session, px_reply *reply, pgw_slice name, pgw_slice message)
{
    if (name.len == 0) {
        px_statements_remove(&session->statements, name);
        session->unnamed_on_link = true;
    } else if (px_statements_find(&session->statements, name) == NULL) {
        reply->name = pgw_strndup(name.ptr, name.len);
        px_statement *statement = px_statements_put(&session->statements, name, NULL, true);
        if (message.len <= PX_KEPT_PARSE)
            pgw_buf_add_slice(&statement->parse, message);
    }
}

static bool pass_extended(px_session *session, pgw_frame frame, pgw_slice message)
{
    if (session->group.count > 0 && !px_group_release(session))
        return false;
    if (!px_session_need_link(session))
        return false;
    if (!session->copy_in) {
        px_reply *reply = px_replies_push(&session->replies, reply_kind(frame.type, message));
        pgw_slice name = {message.ptr + PGW_HEADER, 0};
        if (frame.type == 'P') {
            name.len = strnlen(name.ptr, message.len - PGW_HEADER);
            note_foreign(session, reply, name, message);
        }
        session->unsynced = true;
    }
    pass(session, frame);
    return true;
}

static bool handle_extended(px_session *session, pgw_frame frame, pgw_slice message)
{
    bool ours_possible =
        session->group.count > 0 || session->statements.ours > 0 || frame.type == 'P';
    if (session->copy_in || !ours_possible)
        return pass_extended(session, frame, message);
    if (message.len < frame.size) {
        px_stream_expect(session->stream, frame.size);
        return false;
    }
    message.len = frame.size;
    switch (px_extended(session, frame.type, message)) {
    case PX_STEP_LATER:
        return false;
    case PX_STEP_PASS:
        return pass_extended(session, frame, message);
    case PX_STEP_DONE:
        px_stream_consume(session->stream, frame.size);
        return true;
    }
    return false;
}

/* Sync or Flush with a body: an error that the server is to word. */
static bool handle_malformed(px_session *session, pgw_frame frame)
{
    if (session->group.count > 0 && !px_group_release(session))
        return false;
    if (!px_session_need_link(session))
        return false;
    bool sync = frame.type == 'S';
    px_replies_push(&session->replies, sync ? PX_REPLY_SYNC : PX_REPLY_CLOSE);
    session->unsynced = !sync;
    session->skipping = session->skipping && !sync;
    pass(session, frame);
    return true;
}

static bool handle_sync(px_session *session, pgw_frame frame)
{
    if (session->group.count > 0) {
        px_step step = px_extended(session, 'S', px_stream_input(session->stream));
        if (step == PX_STEP_DONE)
            px_stream_consume(session->stream, frame.size);
        if (step != PX_STEP_PASS)
            return step == PX_STEP_DONE;
    }
    if (!session->link_ready || (session->skipping && !session->unsynced)) {
        if (session->link != NULL && !session->skipping && !px_session_need_link(session))
            return false;
        session->skipping = false;
        pgw_buf out = {0};
        pgw_write_ready(session->status, &out);
        px_stream_put_buf(session->stream, &out);
        pgw_buf_free(&out);
        px_stream_consume(session->stream, frame.size);
        return true;
    }
    session->skipping = false;
    if (!session->copy_in) {
        px_replies_push(&session->replies, PX_REPLY_SYNC);
        session->unsynced = false;
    }
    pass(session, frame);
    return true;
}

static bool handle_flush(px_session *session, pgw_frame frame)
{
    px_step step = PX_STEP_PASS;
    if (session->group.count > 0)
        step = px_extended(session, 'H', px_stream_input(session->stream));
    if (step == PX_STEP_LATER)
        return false;
    if (step == PX_STEP_PASS && session->link_ready)
        pass(session, frame);
    else
        px_stream_consume(session->stream, frame.size);
    return true;
}

static bool handle_copy(px_session *session, pgw_frame frame)
{
    if (!session->link_ready) {
        drop(session, frame); /* outside of COPY the server ignores them, too */
        return true;
    }
    if (frame.type != 'd')
        session->copy_in = false;
    pass(session, frame);
    return true;
}

/* A text too large to hold is passed on as it comes, if it names none of ours. */
static bool handle_oversized(px_session *session, pgw_frame frame, pgw_slice message)
{
    if (session->group.count > 0 && !px_group_release(session))
        return false;
    if (frame.type != 'Q')
        return pass_extended(session, frame, message);
    if (!px_session_need_link(session))
        return false;
    px_replies_push(&session->replies, PX_REPLY_QUERY);
    pass(session, frame);
    return true;
}

static bool too_large_for_ours(px_session *session, pgw_frame frame, pgw_slice message)
{
    if (frame.size <= PX_HOLD_BYTES ||
        (frame.type != 'Q' && frame.type != 'P' && frame.type != 'B'))
        return false;
    if (frame.type == 'B')
        return session->statements.ours > 0 || session->group.count > 0;
    return rw_catalog_mentioned(px_catalog_names(session->worker), message);
}

static bool refuse_large(px_session *session)
{
    pgw_error error;
    pgw_fail(&error, "54000", "a statement for a configured table is larger than %d bytes",
             (int)PX_HOLD_BYTES);
    pgw_error_hint(&error, "Send fewer rows a statement.");
    px_session_fatal(session, &error);
    return false;
}

static bool handle(px_session *session, pgw_frame frame, pgw_slice message)
{
    if (session->skipping && frame.type != 'S' && frame.type != 'X') {
        drop(session, frame);
        return true;
    }
    if (too_large_for_ours(session, frame, message))
        return refuse_large(session);
    switch (frame.type) {
    case 'Q':
    case 'P':
        if (frame.size > PX_HOLD_BYTES)
            return handle_oversized(session, frame, message);
        if (message.len < frame.size) {
            px_stream_expect(session->stream, frame.size);
            return false;
        }
        message.len = frame.size;
        return frame.type == 'Q' ? handle_query(session, frame, message)
                                 : handle_extended(session, frame, message);
    case 'B':
    case 'D':
    case 'E':
    case 'C':
        return handle_extended(session, frame, message);
    case 'S':
    case 'H':
        if (frame.size != PGW_HEADER && !session->copy_in)
            return handle_malformed(session, frame);
        return frame.type == 'S' ? handle_sync(session, frame) : handle_flush(session, frame);
    case 'F':
        if (session->group.count > 0 && !px_group_release(session))
            return false;
        if (!px_session_need_link(session))
            return false;
        px_replies_push(&session->replies, PX_REPLY_QUERY);
        pass(session, frame);
        return true;
    case 'X':
        px_session_close(session, "terminate");
        return false;
    default:
        return handle_copy(session, frame);
    }
}

static bool step(px_session *session)
{
    if (session->link_ready && px_link_cancelling(session->link))
        return false;
    if (session->streaming > 0)
        return stream_on(session);
    pgw_slice message = px_stream_input(session->stream);
    pgw_frame frame;
    pgw_frame_result result = pgw_frame_next(message, &frame);
    if (message.len > 0 && !pgw_frame_is_frontend(message.ptr[0])) {
        protocol_violation(session, "invalid frontend message type", message.ptr[0]);
        return false;
    }
    if (result == PGW_FRAME_MORE)
        return false;
    if (result == PGW_FRAME_BAD || frame.size - PGW_HEADER > pgw_frame_limit(frame.type)) {
        protocol_violation(session, "invalid message length for message type", frame.type);
        return false;
    }
    return handle(session, frame, message);
}

static bool must_not_read(const px_session *session)
{
    if (session->wait != PX_WAIT_NOTHING)
        return true;
    return session->link_ready &&
           (px_link_cancelling(session->link) ||
            px_stream_pending(px_link_stream(session->link)) >= PX_STREAM_HIGH);
}

void px_session_process(px_session *session)
{
    if (session->processing)
        return;
    session->processing = true;
    while (session->state == PX_READY && !must_not_read(session) && step(session))
        ;
    session->processing = false;
    if (session->state != PX_READY)
        return;
    if (session->describing != NULL && session->wait != PX_WAIT_DESCRIBE &&
        session->wait != PX_WAIT_LINK)
        px_session_give_up_claim(session);
    if (must_not_read(session))
        px_stream_pause(session->stream);
    else
        px_stream_resume(session->stream);
}

void px_session_wake(px_session *session, px_wait wait)
{
    if (session->wait == wait)
        session->wait = PX_WAIT_NOTHING;
    px_session_process(session);
}
