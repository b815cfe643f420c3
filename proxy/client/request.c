#include "proxy/client/session.h"

#include "protocol/backend.h"
#include "protocol/frontend.h"
#include "proxy/client/forward.h"
#include "proxy/client/goodbye.h"
#include "proxy/client/leaving.h"
#include "proxy/client/outcome.h"
#include "proxy/client/relay.h"
#include "proxy/ingest/submit.h"

#include <stdlib.h>
#include <string.h>

/* ---- sending ---- */

void px_session_send(px_session *session, const pgw_buf *bytes)
{
    px_link_send_buf(session->link, bytes);
}

void px_session_drop_message(px_session *session)
{
    pgw_frame frame;
    if (pgw_frame_next(px_stream_input(session->stream), &frame) == PGW_FRAME_OK)
        px_relay_drop(session, frame);
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
    px_count_error(session->worker->metrics, pgw_slice_str(error->sqlstate));
}

/* What any server must refuse, whose error is replaced by ours. In an aborted transaction, where
 * all that is well-formed has an error of the server's own, that one is told. */
#define FAILS "select \"refused by keyspread\""
/* Parameters are counted there all the same. */
#define FAILS_EVEN_THERE "refused by keyspread"

void px_session_refuse(px_session *session, const pgw_error *error, bool extended)
{
    session->units.repeated = false;
    if (px_session_idle(session)) {
        put_error(session, error, !extended);
        session->skipping = extended;
        if (!extended)
            px_forward_drop_unnamed(session); /* any simple Query destroys it */
        return;
    }
    /* The transaction, or the Sync group, lives on at the backend: it must fail there as well, or
     * COMMIT would commit the rest of it. A name is given lest the unnamed statement be lost. */
    pgw_buf out = {0};
    pgw_slice text =
        pgw_error_is(error, "08P01") ? PGW_LITERAL(FAILS_EVEN_THERE) : PGW_LITERAL(FAILS);
    if (extended)
        pgw_certainly(pgw_write_parse(PGW_LITERAL("keyspread refusal"), text, NULL, 0, &out));
    else
        pgw_certainly(pgw_write_query(text, &out));
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
    pgw_error told = *error;
    if (px_outcome_has_rest(session))
        px_outcome_give_up(session, &told);
    px_group_clear(session);
    session->units.rerouted = session->units.repeated = false;
    put_error(session, &told, simple || sync);
    session->skipping = !simple && !sync;
    if (whole)
        px_relay_drop(session, frame);
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

void px_session_give_up_message(px_session *session, const pgw_error *error)
{
    pgw_frame frame;
    bool begun = pgw_frame_next(px_stream_input(session->stream), &frame) == PGW_FRAME_OK;
    bool simple = begun && (frame.type == 'Q' || frame.type == 'F');
    px_group_clear(session);
    px_session_refuse(session, error, !simple);
    if (begun)
        px_relay_drop(session, frame);
}

/* The rest of the message must come first; true if it is given up: there could never be room. */
static bool hold(px_session *session, pgw_frame frame)
{
    pgw_error error;
    uint64_t most = session->worker->config->limits.incomplete_bytes;
    if (frame.size <= most) {
        px_stream_expect(session->stream, frame.size);
        return false;
    }
    pgw_fail(&error, "53200", "a message of %zu bytes is larger than limits.incomplete_bytes",
             frame.size);
    pgw_error_hint(&error, "Send fewer rows a statement.");
    px_session_give_up_message(session, &error);
    return true;
}

/* ---- the simple protocol ---- */

static bool handle_query(px_session *session, pgw_frame frame, pgw_slice message)
{
    switch (px_simple(session, frame, message)) {
    case PX_STEP_LATER:
        return false;
    case PX_STEP_PASS:
        if (!px_session_need_link(session))
            return false;
        px_replies_push(&session->replies, PX_REPLY_QUERY);
        px_relay(session, frame);
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
    bool known = px_statements_find(&session->statements, name) != NULL;
    if (name.len == 0) {
        if (known)
            px_reply_renames(&session->replies, reply, &session->statements, name);
        session->unnamed_on_link = true;
        session->own.unnamed = session->own.parsed;
    } else if (!known) {
        px_reply_renames(&session->replies, reply, &session->statements, name);
        px_statement *statement = px_statements_put(&session->statements, name, NULL, true);
        if (message.len <= PX_KEPT_PARSE)
            px_statements_keep(&session->statements, statement, message);
        statement->foreign = session->own.parsed;
    }
}

static bool pass_extended(px_session *session, pgw_frame frame, pgw_slice message)
{
    if (session->group.count > 0 && !px_group_release(session))
        return false;
    if (!px_session_need_link(session))
        return false;
    if (session->skipping) { /* what was held failed just now */
        px_relay_drop(session, frame);
        return true;
    }
    if (!session->copy_in) {
        px_reply *reply = px_replies_push(&session->replies, reply_kind(frame.type, message));
        if (reply->kind == PX_REPLY_EXECUTE && session->commits)
            session->undecided = true;
        pgw_slice name = {message.ptr + PGW_HEADER, 0};
        if (frame.type == 'P') {
            name.len = strnlen(name.ptr, message.len - PGW_HEADER);
            note_foreign(session, reply, name, message);
        } else if (reply->kind == PX_REPLY_CLOSE && session->statements.names.count > 0 &&
                   message.ptr[PGW_HEADER] == 'S' && message.len == frame.size) {
            name.ptr++;
            name.len = strnlen(name.ptr, message.len - PGW_HEADER - 1);
            px_reply_renames(&session->replies, reply, &session->statements, name);
        }
        if (frame.type == 'B')
            px_state_note_bind(session, message);
        else if (frame.type == 'E')
            px_state_note_execute(session);
        session->unsynced = true;
    }
    if (frame.type == 'P' && frame.size > PX_HOLD_BYTES)
        px_relay_text(session, frame);
    else
        px_relay(session, frame);
    return true;
}

static bool handle_extended(px_session *session, pgw_frame frame, pgw_slice message)
{
    bool ours_possible = session->group.count > 0 || session->statements.ours > 0 ||
                         frame.type == 'P' || px_statements_away(&session->statements) != NULL ||
                         (frame.type == 'C' && session->statements.names.count > 0) ||
                         session->replies.moving.count > 0 || session->own.moving;
    if (session->copy_in || !ours_possible || frame.size > PX_HOLD_BYTES)
        return pass_extended(session, frame, message);
    if (message.len < frame.size)
        return hold(session, frame);
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
    px_relay(session, frame);
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
        session->unsynced = session->ddl_unsynced = false;
    }
    px_relay(session, frame);
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
        px_relay(session, frame);
    else
        px_stream_consume(session->stream, frame.size);
    return true;
}

static bool handle_copy(px_session *session, pgw_frame frame)
{
    if (!session->link_ready) {
        px_relay_drop(session, frame); /* outside of COPY the server ignores them, too */
        return true;
    }
    if (frame.type != 'd')
        session->copy_in = false;
    px_relay(session, frame);
    return true;
}

/* A text too large to hold is passed on as it comes, as long as it names none of ours. What it does
 * to the session is not known. */
static bool handle_oversized(px_session *session, pgw_frame frame, pgw_slice message)
{
    if (session->group.count > 0 && !px_group_release(session))
        return false;
    session->own.parsed = (px_foreign){.effects = PX_UNREAD};
    if (frame.type != 'Q')
        return pass_extended(session, frame, message);
    if (!px_session_need_link(session))
        return false;
    px_state_note(session, PX_UNREAD);
    px_replies_push(&session->replies, PX_REPLY_QUERY);
    px_relay_text(session, frame);
    return true;
}

static bool may_be_too_large_for_ours(const px_session *session, pgw_frame frame)
{
    return frame.type == 'B' && frame.size > PX_HOLD_BYTES &&
           (session->statements.ours > 0 || session->group.count > 0);
}

static bool handle_terminate(px_session *session, pgw_frame frame, pgw_slice message)
{
    if (message.len < frame.size)
        return false;
    if (px_goodbye_has_to_wait(session))
        px_relay(session, frame);
    px_goodbye(session);
    return false;
}

/* Its text, if it is looked at here. False: the session waits. */
static bool leaves_databases(px_session *session, pgw_frame frame, pgw_slice message)
{
    pgw_slice body = pgw_frame_body(message, frame), text;
    pgw_parse parse;
    if (frame.type == 'Q')
        return !pgw_query_decode(body, &text) || px_leaving_first(session, text);
    return !pgw_parse_decode(body, &parse) || px_leaving_first(session, parse.query);
}

static bool handle(px_session *session, pgw_frame frame, pgw_slice message)
{
    if (session->skipping && frame.type != 'S' && frame.type != 'X') {
        px_relay_drop(session, frame);
        return true;
    }
    if (may_be_too_large_for_ours(session, frame)) {
        px_refuse_large(session);
        return false;
    }
    switch (frame.type) {
    case 'Q':
    case 'P':
        if (frame.size > PX_HOLD_BYTES)
            return handle_oversized(session, frame, message);
        if (message.len < frame.size)
            return hold(session, frame);
        message.len = frame.size;
        if (!leaves_databases(session, frame, message))
            return false;
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
        px_state_note(session, RW_EFFECT_CALLS | RW_EFFECT_STATE);
        px_replies_push(&session->replies, PX_REPLY_QUERY);
        px_relay(session, frame);
        return true;
    case 'X':
        return handle_terminate(session, frame, message);
    default:
        return handle_copy(session, frame);
    }
}

static bool step(px_session *session)
{
    if (session->link_ready && px_link_cancelling(session->link))
        return false;
    if (session->streaming > 0)
        return px_relay_on(session);
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

/* Whoever does not read what it is owed is not read on: its answers would fill the memory. */
static bool is_owed_much(const px_session *session)
{
    return px_stream_pending(session->stream) >= PX_STREAM_HIGH ||
           session->replies.count >= PX_REPLIES_MOST ||
           session->replies.text_bytes >= PX_REPLIES_BYTES;
}

static bool must_not_read(const px_session *session)
{
    if (session->wait != PX_WAIT_NOTHING || session->leaving || session->fatal ||
        is_owed_much(session))
        return true;
    return session->link_ready &&
           (px_link_cancelling(session->link) || px_link_pending(session->link) >= PX_STREAM_HIGH);
}

bool px_session_is_read(const px_session *session)
{
    return !must_not_read(session);
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
    if (!must_not_read(session) && px_stream_ended(session->stream))
        px_goodbye(session);
    if (must_not_read(session))
        px_room_settle(session);
    else if (!px_room_take(session))
        session->wait = PX_WAIT_ROOM;
    if (must_not_read(session))
        px_stream_pause(session->stream);
    else
        px_stream_resume(session->stream);
}

/* What the own link said while a unit was under way comes before the client's next message. */
static void run_woken(px_worker *worker, px_message *message)
{
    (void)worker;
    px_session *session = (px_session *)((char *)message - offsetof(px_session, woken));
    session->is_woken = false;
    if (session->state == PX_READY && session->wait == PX_WAIT_UNIT && !px_submitted(&session->units)) {
        px_session_catch_up(session);
        session->wait = PX_WAIT_NOTHING;
    }
    px_session_process(session);
}

void px_session_look(px_session *session)
{
    if (session->is_woken || session->state == PX_CLOSING)
        return;
    session->is_woken = true;
    session->woken.run = run_woken;
    px_worker_send(session->worker, &session->woken);
}

void px_session_wake(px_session *session, px_wait wait)
{
    if (session->wait == wait && wait != PX_WAIT_UNIT)
        session->wait = PX_WAIT_NOTHING;
    px_session_look(session);
}
