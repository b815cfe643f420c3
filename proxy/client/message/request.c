#include "proxy/client/message/request.h"

#include "protocol/backend.h"
#include "protocol/frontend.h"
#include "proxy/client/answer/copied.h"
#include "proxy/client/answer/outcome.h"
#include "proxy/client/answer/refuse.h"
#include "proxy/client/answer/relay.h"
#include "proxy/client/answer/input_budget.h"
#include "proxy/client/core/ask.h"
#include "proxy/client/core/terminate.h"
#include "proxy/client/core/riding.h"
#include "proxy/client/core/session.h"
#include "proxy/client/link/leaving.h"
#include "proxy/client/link/sync_state.h"
#include "proxy/client/message/begin.h"
#include "proxy/client/message/extended.h"
#include "proxy/client/message/inert.h"
#include "proxy/client/message/lazy.h"
#include "proxy/client/message/simple.h"
#include "proxy/client/numbers/sequence_session.h"
#include "proxy/client/numbers/sequence_refill.h"
#include "proxy/client/prepared/lookup_bind.h"
#include "proxy/client/prepared/forward.h"
#include "proxy/client/prepared/prepare.h"
#include "proxy/client/standing/changes.h"
#include "proxy/client/standing/describe.h"
#include "proxy/client/standing/dirty.h"
#include "proxy/client/standing/names.h"
#include "proxy/client/standing/passthrough_writes.h"
#include "rewrite/ddl/admin.h"

#include <assert.h>
#include <string.h>

static void protocol_violation(px_session *session, const char *what, char type)
{
    pgw_error error;
    pgw_fail(&error, "08P01", "%s %d", what, (unsigned char)type);
    px_session_fatal(session, &error);
}

/* Holds a message until its rest has come. DONE: it is given up, as there could never be room. */
static px_step hold(px_session *session, pgw_frame frame)
{
    pgw_error error;
    uint64_t most = session->worker->config->limits.incomplete_bytes;
    if (frame.size <= most) {
        px_stream_expect(session->peer.stream, frame.size);
        return PX_STEP_MORE;
    }
    pgw_fail(&error, "53200", "a message of %zu bytes is larger than limits.incomplete_bytes",
             frame.size);
    pgw_error_hint(&error, "Send fewer rows a statement.");
    px_refuse_message(session, &error);
    return PX_STEP_DONE;
}

/* Sends what goes on in the place of the message at hand, which is dropped (sequence_session.h). */
static void send_rewritten(px_session *session, pgw_frame frame)
{
    px_session_send(session, &session->hand.rewritten);
    px_relay_drop(session, frame);
}

/* Whether the message must wait until it is known what the link is about to draw for others. */
static bool must_wait_for_refill(const px_session *session, pgw_slice message)
{
    return px_sequence_refill_is_asked(session) && px_sequence_session_is_asked(message);
}

/* Passes a Query on to the own link, as it is or `rewritten`. */
static px_step pass_query(px_session *session, pgw_frame frame, bool rewritten)
{
    px_step step = px_session_need_link(session);
    if (step != PX_STEP_DONE)
        return step;
    px_replies_push(&session->pending.replies, PX_REPLY_QUERY);
    if (rewritten)
        send_rewritten(session, frame);
    else
        px_relay(session, frame);
    px_prepared_names_set_unnamed(&session->names, false);
    return PX_STEP_DONE;
}

static px_step handle_query(px_session *session, pgw_frame frame, pgw_slice message)
{
    pgw_frame whole = frame;
    if (must_wait_for_refill(session, message))
        return PX_WAIT_TURN;
    bool rewritten = px_sequence_session_rewrite(session, 'Q', &message);
    whole.size = message.len;
    px_step step = px_simple(session, whole, message);
    if (step == PX_STEP_PASS)
        step = pass_query(session, frame, rewritten);
    else if (step == PX_STEP_DONE)
        px_relay_drop(session, frame);
    /* A simple Query destroys the unnamed statement. */
    if (step == PX_STEP_DONE)
        px_statements_remove(&session->names.statements, PGW_LITERAL(""));
    return step;
}

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

static void note_execute(px_session *session, px_reply *reply, px_lookups *lookups)
{
    px_state_note_execute(session);
    if (lookups != NULL)
        px_lookups_take(reply->lookups = lookups);
}

static px_step pass_extended(px_session *session, pgw_frame frame, pgw_slice message)
{
    px_step step = px_forward_group(session);
    if (step == PX_STEP_DONE && !px_lazy_asks(session))
        step = px_session_need_link(session);
    if (step != PX_STEP_DONE)
        return step;
    if (session->pending.skipping) { /* the held messages failed just now */
        px_relay_drop(session, frame);
        return PX_STEP_DONE;
    }
    px_lookups *executed =
        frame.type == 'E' && !session->own.copy_in ? px_lookup_bind_bound(session, message) : NULL;
    /* The server reads the data of a COPY as the session has it now, which Bind could not know. */
    if (executed != NULL && executed->copy != NULL) {
        step = px_sync_state_now(session);
        if (step != PX_STEP_DONE)
            return step;
    }
    if (executed != NULL)
        px_ask_between(session, executed->before);
    if (!session->own.copy_in) {
        px_reply *reply =
            px_replies_push(&session->pending.replies, reply_kind(frame.type, message));
        if (reply->kind == PX_REPLY_EXECUTE && session->pending.commits)
            px_pending_note_commit(&session->pending, true);
        pgw_slice name = {message.ptr + PGW_HEADER, 0};
        if (frame.type == 'P') {
            name.len = strnlen(name.ptr, message.len - PGW_HEADER);
            px_names_passthrough(session, reply, pgw_name_significant(name), message);
            px_state_note_draws(session, session->known.parsed.effects);
        } else if (reply->kind == PX_REPLY_CLOSE && session->names.statements.names.count > 0 &&
                   message.ptr[PGW_HEADER] == 'S' && message.len == frame.size) {
            name.ptr++;
            name.len = strnlen(name.ptr, message.len - PGW_HEADER - 1);
            px_reply_renames(&session->pending.replies, reply, &session->names.statements,
                             pgw_name_significant(name));
        }
        if (frame.type == 'B')
            px_state_note_bind(session, message);
        else if (frame.type == 'E')
            note_execute(session, reply, executed);
        px_own_open_group(&session->own);
    }
    if (frame.type == 'P' && frame.size > PX_HOLD_BYTES) {
        px_relay_text(session, frame);
    } else if (frame.type == 'P' && session->hand.rewritten.len > 0) {
        px_sequence_session_keep(session,
                                 pgw_name_significant(pgw_slice_str(message.ptr + PGW_HEADER)));
        send_rewritten(session, frame);
    } else {
        px_relay(session, frame);
    }
    if (executed != NULL)
        px_ask_between(session, executed->behind);
    return PX_STEP_DONE;
}

static px_step handle_extended(px_session *session, pgw_frame frame, pgw_slice message)
{
    bool ours_possible =
        session->group.count > 0 || session->names.statements.ours > 0 || frame.type == 'P' ||
        px_statements_away(&session->names.statements) != NULL ||
        (frame.type == 'C' && session->names.statements.names.count > 0) ||
        session->pending.replies.moving.count > 0 || session->known.moving ||
        session->known.keyed || session->known.lookup_bind || px_passthrough_writes_may(session);
    if (!ours_possible || frame.size > PX_HOLD_BYTES)
        return pass_extended(session, frame, message);
    if (message.len < frame.size)
        return hold(session, frame);
    message.len = frame.size;
    if (frame.type == 'E' && session->group.count == 0 && session->names.portals.ours == 0)
        return pass_extended(session, frame, message);
    pgw_slice decoded = message;
    if (frame.type == 'P' && must_wait_for_refill(session, message))
        return PX_WAIT_TURN;
    if (frame.type == 'P')
        (void)px_sequence_session_rewrite(session, 'P', &decoded);
    px_step step = px_extended(session, frame.type, decoded);
    if (step == PX_STEP_PASS)
        return pass_extended(session, frame, message);
    if (step == PX_STEP_DONE)
        px_relay_drop(session, frame);
    return step;
}

/* Sync or Flush with a body: an error that the server is to word. */
static px_step handle_malformed(px_session *session, pgw_frame frame)
{
    px_step step = px_prepare_link(session);
    if (step != PX_STEP_DONE)
        return step;
    bool sync = frame.type == 'S';
    px_replies_push(&session->pending.replies, sync ? PX_REPLY_SYNC : PX_REPLY_CLOSE);
    if (sync) {
        px_own_close_group(&session->own);
        px_pending_skip(&session->pending, false);
    } else {
        px_own_open_group(&session->own);
    }
    px_relay(session, frame);
    return PX_STEP_DONE;
}

static px_step handle_sync(px_session *session, pgw_frame frame)
{
    if (session->group.count > 0) {
        px_step step = px_extended(session, 'S', px_stream_input(session->peer.stream));
        if (step == PX_STEP_DONE)
            px_relay_drop(session, frame);
        if (step != PX_STEP_PASS)
            return step;
    }
    if (session->own.copy_in && px_copied_is_apart(session)) {
        px_relay_drop(session, frame); /* a Sync in the middle of COPY is ignored */
        return PX_STEP_DONE;
    }
    if (!session->own.ready || (session->pending.skipping && !session->own.unsynced)) {
        px_step step = session->own.link != NULL && !session->pending.skipping
                           ? px_session_need_link(session)
                           : PX_STEP_DONE;
        if (step != PX_STEP_DONE)
            return step;
        px_pending_skip(&session->pending, false);
        pgw_buf out = {0};
        pgw_write_ready(session->own.status, &out);
        px_stream_put_buf(session->peer.stream, &out);
        pgw_buf_free(&out);
        px_relay_drop(session, frame);
        return PX_STEP_DONE;
    }
    px_pending_skip(&session->pending, false);
    bool refused = session->own.begun != NULL && session->own.begun->state == PX_BEGUN_FAILED;
    if (!session->own.copy_in) {
        px_replies_push(&session->pending.replies, PX_REPLY_SYNC)->swallow = refused;
        px_own_close_group(&session->own);
        px_changes_synced(session);
    }
    px_relay(session, frame);
    if (refused)
        px_riding_fail_there(session);
    return PX_STEP_DONE;
}

static px_step handle_flush(px_session *session, pgw_frame frame)
{
    px_step step = PX_STEP_PASS;
    if (session->group.count > 0)
        step = px_extended(session, 'H', px_stream_input(session->peer.stream));
    if (px_step_waits(step))
        return step;
    /* The server has got nothing that it could answer. */
    bool nothing = px_begun_is_here(session->own.begun);
    if (step == PX_STEP_PASS && session->own.ready && !nothing)
        px_relay(session, frame);
    else
        px_relay_drop(session, frame);
    return PX_STEP_DONE;
}

/* The end of data that is stored in batches, which the server knows nothing of. */
static px_step end_apart(px_session *session, pgw_frame frame)
{
    enum { REASON = 1024 }; /* bytes of CopyFail that are looked at */
    pgw_slice message = px_stream_input(session->peer.stream);
    size_t wanted = frame.size < REASON ? frame.size : REASON;
    if (message.len < wanted)
        return PX_STEP_MORE;
    pgw_slice reason = {message.ptr + PGW_HEADER, wanted - PGW_HEADER};
    if (!px_copied_ends(session, frame.type == 'f' ? &reason : NULL))
        return PX_STEP_MORE;
    px_relay_drop(session, frame);
    return PX_STEP_DONE;
}

static px_step handle_copy(px_session *session, pgw_frame frame)
{
    if (!session->own.ready || px_begun_is_here(session->own.begun)) {
        px_relay_drop(session, frame); /* the server ignores these messages outside of COPY, too */
        return PX_STEP_DONE;
    }
    if (!session->own.copy_in && px_copied_is_owed(session))
        return PX_WAIT_IDLE;
    bool ours = session->own.copy != NULL && session->own.copy_in;
    if (ours && frame.type != 'd' && px_copied_is_apart(session))
        return end_apart(session, frame);
    if (ours && frame.type == 'd') {
        px_relay_copied(session, frame);
        return PX_STEP_DONE;
    }
    if (ours && frame.type == 'c')
        px_copied_finish(session);
    if (frame.type != 'd' && !session->own.copy_in)
        px_replies_end_copy(&session->pending.replies);
    if (frame.type != 'd')
        px_own_end_copy_in(&session->own);
    px_relay(session, frame);
    return PX_STEP_DONE;
}

/* Refuses a message that is too large, whose rest is read away. */
static px_step refuse_large(px_session *session)
{
    px_step step = px_session_need_link_unless_idle(session);
    if (step != PX_STEP_DONE)
        return step;
    pgw_error error;
    px_relay_fail_large(&error);
    px_refuse_message(session, &error);
    return PX_STEP_DONE;
}

/* Bytes of a text too large to hold that are there before any of it goes on. */
enum { LOOKED_INTO = 4096 };

/* Passes on a text too large to hold as it comes, as long as it names no configured table. What it
 * does to the session is not known. */
static px_step handle_oversized(px_session *session, pgw_frame frame, pgw_slice message)
{
    if (message.len < LOOKED_INTO)
        return PX_STEP_MORE;
    if (px_relay_names_ours(session, message))
        return refuse_large(session);
    px_step step = px_forward_group(session);
    if (step != PX_STEP_DONE)
        return step;
    px_state_parse(session, PX_UNREAD);
    if (frame.type != 'Q')
        return pass_extended(session, frame, message);
    step = px_session_need_link(session);
    if (step != PX_STEP_DONE)
        return step;
    px_state_note(session, PX_UNREAD);
    px_replies_push(&session->pending.replies, PX_REPLY_QUERY);
    px_relay_text(session, frame);
    return PX_STEP_DONE;
}

static bool may_be_too_large_for_ours(const px_session *session, pgw_frame frame, pgw_slice message)
{
    bool held = frame.size <= PX_HOLD_BYTES &&
                frame.size <= session->worker->config->limits.incomplete_bytes;
    return frame.type == 'B' && !held &&
           (session->names.statements.ours > 0 || session->group.count > 0 ||
            session->known.keyed || px_lookup_bind_is_bound(session, message));
}

static px_step handle_terminate(px_session *session, pgw_frame frame, pgw_slice message)
{
    if (message.len < frame.size)
        return PX_STEP_MORE;
    if (px_terminate_has_to_wait(session))
        px_relay(session, frame);
    px_terminate(session);
    return PX_STEP_MORE;
}

/* DONE: keyspread has left the databases that must be free for the text, if it is looked at here.
 */
static px_step leave_databases(px_session *session, pgw_frame frame, pgw_slice message)
{
    pgw_slice body = pgw_frame_body(message, frame), text;
    pgw_parse parse;
    if (frame.type == 'Q')
        return rw_admin_may_say(body) && pgw_query_decode(body, &text)
                   ? px_leaving_first(session, text)
                   : PX_STEP_DONE;
    return pgw_parse_decode(body, &parse) && rw_admin_may_say(parse.query)
               ? px_leaving_first(session, parse.query)
               : PX_STEP_DONE;
}

/* Whether the message may be of a BEGIN that a driver has prepared by a name, where transactions
 * may be kept. */
static bool may_begin_by_name(const px_session *session, char type)
{
    return (type == 'P' || type == 'B') && session->own.status == 'I' &&
           session->group.count == 0 && px_lazy_is_wanted(session);
}

/* Deals with a message that comes while a BEGIN is on its way. DONE: it was dealt with. */
static px_step behind_begin(px_session *session, pgw_frame frame, pgw_slice message)
{
    px_step step = px_begin_meet(session, frame, message);
    if (step != PX_STEP_DONE)
        return step;
    if (px_lazy_tells(session, frame))
        return PX_STEP_DONE;
    return px_begin_ends(session, frame, message);
}

/* Deals with a message that is a BEGIN, or comes while one is on its way. DONE: it was dealt with.
 */
static px_step at_begin(px_session *session, pgw_frame frame, pgw_slice message)
{
    if (session->own.begun != NULL)
        return behind_begin(session, frame, message);
    return px_begin_is_likely(frame.type, message) || may_begin_by_name(session, frame.type)
               ? px_begin_begins(session, frame, message)
               : PX_STEP_PASS;
}

/* Relays a Bind that is too large to be held, if its keys are known by its beginning. PASS: it is
 * of another statement, and no larger than a message may be. */
static px_step handle_large_bind(px_session *session, pgw_frame frame, pgw_slice message)
{
    bool relays = session->worker->config->backend.dialect != CFG_DIALECT_YDB;
    px_step step =
        session->own.begun != NULL ? behind_begin(session, frame, message) : PX_STEP_PASS;
    if (step == PX_STEP_PASS && relays)
        step = px_extended_large_bind(session, frame, message);
    if (step == PX_STEP_PASS && frame.size > PX_HOLD_BYTES)
        step = refuse_large(session);
    return step;
}

static px_step handle(px_session *session, pgw_frame frame, pgw_slice message)
{
    if (session->pending.skipping && frame.type != 'S' && frame.type != 'X') {
        px_relay_drop(session, frame);
        return PX_STEP_DONE;
    }
    /* The server's own COPY has ended: it would take the message for the next statement. */
    if (session->own.copy_in && px_copied_is_apart(session) &&
        strchr("dcfSHX", frame.type) == NULL) {
        protocol_violation(session, "COPY from stdin got another message than data", frame.type);
        return PX_STEP_MORE;
    }
    px_step step = may_be_too_large_for_ours(session, frame, message)
                       ? handle_large_bind(session, frame, message)
                       : PX_STEP_PASS;
    if (step == PX_STEP_PASS)
        step = at_begin(session, frame, message);
    if (step != PX_STEP_PASS)
        return step;
    switch (frame.type) {
    case 'Q':
    case 'P':
        if (frame.size > PX_HOLD_BYTES)
            return handle_oversized(session, frame, message);
        if (message.len < frame.size)
            return hold(session, frame);
        message.len = frame.size;
        step = leave_databases(session, frame, message);
        if (step != PX_STEP_DONE)
            return step;
        return frame.type == 'Q' ? handle_query(session, frame, message)
                                 : handle_extended(session, frame, message);
    case 'B':
    case 'D':
    case 'E':
    case 'C':
        return handle_extended(session, frame, message);
    case 'S':
    case 'H':
        if (frame.size != PGW_HEADER && !session->own.copy_in)
            return handle_malformed(session, frame);
        return frame.type == 'S' ? handle_sync(session, frame) : handle_flush(session, frame);
    case 'F':
        step = px_prepare_link(session);
        if (step != PX_STEP_DONE)
            return step;
        px_state_note(session, RW_EFFECT_CALLS | RW_EFFECT_STATE);
        px_replies_push(&session->pending.replies, PX_REPLY_QUERY);
        px_relay(session, frame);
        return PX_STEP_DONE;
    case 'X':
        return handle_terminate(session, frame, message);
    default:
        return handle_copy(session, frame);
    }
}

/* The header of the message that comes next; one that waits was read already. */
static bool read_header(px_session *session, pgw_slice message)
{
    pgw_frame *frame = &session->hand.frame;
    if (frame->size > 0)
        return true;
    pgw_frame_result result = pgw_frame_next(message, frame);
    if (message.len > 0 && !pgw_frame_is_frontend(message.ptr[0]))
        protocol_violation(session, "invalid frontend message type", message.ptr[0]);
    else if (result == PGW_FRAME_BAD ||
             (result == PGW_FRAME_OK && frame->size - PGW_HEADER > pgw_frame_limit(frame->type)))
        protocol_violation(session, "invalid message length for message type", frame->type);
    else if (result == PGW_FRAME_OK)
        return true;
    frame->size = 0;
    return false;
}

static px_step take_step(px_session *session)
{
    if (session->own.ready && px_link_cancelling(session->own.link))
        return PX_STEP_MORE;
    if (session->hand.streaming > 0)
        return px_relay_on(session) ? PX_STEP_DONE : PX_STEP_MORE;
    if (px_inert_relay(session))
        return PX_STEP_DONE;
    pgw_slice message = px_stream_input(session->peer.stream);
    return read_header(session, message) ? handle(session, session->hand.frame, message)
                                         : PX_STEP_MORE;
}

/* Ends the COPY of a client that sends, in the middle of COPY FROM STDIN, what waits for the
 * answers before it: it has no more data, and the server would never answer. Outside of COPY the
 * server ignores this. */
static void fail_copy(px_session *session)
{
    pgw_buf out = {0};
    pgw_write_copy_fail("another statement came instead of the data's end", &out);
    px_own_end_copy_in(&session->own);
    px_session_send(session, &out);
    pgw_buf_free(&out);
}

void px_request_process(px_session *session)
{
    if (session->processing)
        return;
    session->processing = true;
    px_step step = PX_STEP_DONE;
    while (session->state == PX_READY && px_stream_input(session->peer.stream).len > 0 &&
           px_session_is_read(session) && (step = take_step(session)) == PX_STEP_DONE)
        ;
    session->processing = false;
    assert(px_session_is_sound(session));
    if (session->state != PX_READY)
        return;
    if (px_step_waits(step))
        px_session_set_wait(session, step);
    if (session->own.copy_in && session->wait == PX_WAIT_IDLE)
        fail_copy(session);
    if (session->names.describing != NULL && session->wait != PX_WAIT_DESCRIBE &&
        session->wait != PX_WAIT_LINK)
        px_describe_give_up(session);
    bool reads = px_session_is_read(session);
    if (reads && px_stream_ended(session->peer.stream)) {
        px_terminate(session);
        reads = false;
    }
    if (!reads) {
        px_input_budget_settle(session);
    } else if (!px_input_budget_take(session)) {
        px_session_set_wait(session, PX_WAIT_ROOM);
        reads = false;
    }
    if (reads)
        px_stream_resume(session->peer.stream);
    else
        px_stream_pause(session->peer.stream);
}
