#include "proxy/client/message/reply.h"

#include "protocol/backend.h"
#include "proxy/backend/base/greeting.h"
#include "proxy/base/log.h"
#include "proxy/client/answer/copied.h"
#include "proxy/client/answer/split_query.h"
#include "proxy/client/core/kept.h"
#include "proxy/client/core/riding.h"
#include "proxy/client/core/session.h"
#include "proxy/client/core/settings.h"
#include "proxy/client/link/own_link.h"
#include "proxy/client/link/schema_probe.h"
#include "proxy/client/link/sync_state.h"
#include "proxy/client/message/failure.h"
#include "proxy/client/numbers/sequence_session.h"
#include "proxy/client/numbers/keys.h"
#include "proxy/client/numbers/sequence_refill.h"
#include "proxy/client/prepared/forward.h"
#include "proxy/client/standing/changes.h"
#include "proxy/client/standing/dirty.h"
#include "proxy/client/standing/names.h"
#include "proxy/ingest/submit.h"
#include "rewrite/statement/define/define_pattern.h"
#include "rewrite/statement/script/script.h"

#include <stdlib.h>
#include <string.h>

enum { READY = PGW_HEADER + 1 }; /* bytes of ReadyForQuery */

/* ---- what a statement did ---- */

static void discard_all(px_session *session)
{
    px_prepared_names_clear(&session->names);
    px_settings_judge(session, false);
    px_settings_output(session, false);
    px_own_discard_state(&session->own);
    px_state_discard(session);
    px_sequence_session_forget(session);
    for (size_t i = RW_REPORTED; i < RW_TRACKED; i++)
        px_settings_set(session, i, (pgw_slice){NULL, 0});
}

/* Warns the client, and the log, that a table that has the name of a pattern was made without its
 * hash, and why, by the number of rw_define_warning(). To be called between two messages of the
 * link. */
static void warn_unspread(px_session *session, unsigned number)
{
    const char *why = rw_define_warning(number);
    pgw_error warning;
    pgw_buf out = {0};
    pgw_fail(&warning, "01000", "this table is not spread, but made as an ordinary one: %s", why);
    pgw_error_hint(&warning, "It has the name of a pattern of keyspread's configuration.");
    pgw_notice_write(&warning, "WARNING", &out);
    px_session_put(session, &out);
    pgw_buf_free(&out);
    px_log(CFG_LOG_WARN, "table_made_ordinary", "reason=%s", why);
}

static void after_statement(px_session *session, const px_text *text, size_t i)
{
    const rw_statement *statement = &text->script.statements[i];
    if (statement->effects & RW_EFFECT_DISCARD_ALL)
        discard_all(session);
    if (statement->effects & RW_EFFECT_PREPARE)
        px_names_sql_execute(session, text, i);
    if ((statement->effects & RW_EFFECT_DEALLOCATE) && statement->name.len == 0)
        px_prepared_names_clear(&session->names);
    else if (statement->effects & RW_EFFECT_DEALLOCATE)
        px_statements_remove(&session->names.statements, statement->name);
    if (statement->warning > 0)
        warn_unspread(session, statement->warning);
    rw_tracked_setting setting = px_setting_of(statement->setting);
    if ((statement->effects & RW_EFFECT_TRACKED) && setting >= RW_REPORTED &&
        setting < RW_TRACKED && statement->setting_simple)
        px_settings_set(session, setting, statement->setting_value);
}

static size_t superseded(const px_reply *head)
{
    if (head == NULL || head->swallow)
        return 0;
    if (head->kind == PX_REPLY_EXECUTE && head->plan != NULL)
        return head->plan->left_out;
    bool counted =
        head->text != NULL && head->text->superseded != NULL && head->at < head->text->script.count;
    return counted ? head->text->superseded[head->at] : 0;
}

/* Writes an INSERT's tag that counts `more` rows as well, such as those that a later row of an
 * UPSERT replaced. */
static px_fate on_tag(px_session *session, size_t more, pgw_slice body)
{
    if (more == 0)
        return PX_SHOW;
    pgw_buf out = {0};
    pgw_write_insert_tag(pgw_tag_rows(body) + more, &out);
    px_stream_put_buf(session->peer.stream, &out);
    pgw_buf_free(&out);
    return PX_INSTEAD;
}

static bool is_tag(pgw_slice body, const char *tag)
{
    return pgw_slice_eq_str((pgw_slice){body.ptr, body.len > 0 ? body.len - 1 : 0}, tag);
}

/* PREPARE, DEALLOCATE and DISCARD ALL that came as Parse and Execute: known by their tags. */
static void on_name_changed(px_session *session, pgw_slice body)
{
    if (session->names.prepares != NULL && is_tag(body, "PREPARE")) {
        px_names_prepared(session);
        return;
    }
    if (session->names.deallocates == NULL)
        return;
    if (is_tag(body, "DISCARD ALL"))
        discard_all(session);
    else if (is_tag(body, "DEALLOCATE ALL"))
        px_prepared_names_clear(&session->names);
    else if (is_tag(body, "DEALLOCATE"))
        px_statements_remove(&session->names.statements, pgw_slice_str(session->names.deallocates));
    else
        return;
    px_prepared_names_end_deallocate(&session->names);
}

/* Takes CommandComplete. False: it is of a command of keyspread's own, run with a statement of its
 * client's. */
static bool on_command_complete(px_session *session, px_reply *head)
{
    size_t own = 0;
    if (head == NULL || head->text == NULL || head->at >= head->text->script.count)
        return true;
    size_t commands = px_text_commands(head->text, head->at, &own);
    bool is_own = head->command++ == own;
    if (is_own)
        after_statement(session, head->text, head->at);
    if (head->command < commands)
        return is_own;
    head->command = 0;
    head->at++;
    return is_own;
}

/* ---- one message of the link ---- */

static px_fate pop(px_session *session)
{
    const px_reply *head = px_replies_head(&session->pending.replies);
    bool swallow = head->swallow || head->part;
    px_own_heard_end(&session->own, head->kind == PX_REPLY_EXECUTE);
    px_replies_pop(&session->pending.replies);
    return swallow ? PX_HIDE : PX_SHOW;
}

static px_fate on_setting(px_session *session, pgw_slice body)
{
    pgw_slice name, value;
    if (!pgw_parameter_status_decode(body, &name, &value))
        return PX_SHOW;
    bool kept = px_split_query_report(session, name, value);
    rw_tracked_setting setting = px_setting_of(name);
    if (setting < RW_TRACKED)
        px_settings_set(session, setting, value);
    return kept ? PX_HIDE : PX_SHOW;
}

static px_fate on_ready(px_session *session, pgw_slice body)
{
    px_own_heard_ready(&session->own, body);
    if (session->own.copy != NULL)
        px_copied_over(session);
    px_settings_reported(session);
    if (session->own.status == 'I' && session->names.portals.names.count > 0)
        px_statements_clear(&session->names.portals);
    if (session->own.status == 'I' && px_own_take_alters(&session->own))
        px_greeting_renew(session->worker);
    if (session->own.status == 'I')
        px_changes_end(session);
    px_state_ended(session);
    if (session->own.status != 'T')
        px_riding_is_ordinary(session);
    if (session->own.status == 'I')
        px_riding_tell(session);
    px_reply *head = px_replies_head(&session->pending.replies);
    if (head == NULL)
        return PX_SHOW;
    if (head->unseen == PX_UNSEEN_BEGUN && !px_failure_begun_again(session))
        return PX_HIDE;
    bool asked = head->asks && head->asks != PX_ASKS_AHEAD;
    bool described = head->describe_plan && session->wait == PX_WAIT_DESCRIBE;
    px_fate what = pop(session);
    if (session->pending.replies.count == 0) { /* A Query ends a group as a Sync does. */
        px_pending_decide(&session->pending);
        px_own_close_group(&session->own);
    }
    if (asked && px_sync_state_ready(session))
        return PX_SHOW;
    if (described) {
        px_session_end_wait(session, PX_WAIT_DESCRIBE);
        if (session->group.failure != NULL)
            px_forward_failing(session);
    }
    return what;
}

static px_fate on_query_complete(px_session *session, px_reply *head, pgw_slice body)
{
    size_t more = superseded(head);
    return on_command_complete(session, head) ? on_tag(session, more, body) : PX_HIDE;
}

/* A question of keyspread's was answered. */
static void on_answered(px_session *session, px_asks asks)
{
    if (asks == PX_ASKS_KEYS)
        px_keys_answered(session);
    if (asks == PX_ASKS_AHEAD)
        px_sequence_refill_end(session, true);
    else if (asks)
        px_sync_state_answered(session);
}

/* Ends the session, and so its transaction: the client was told otherwise before. */
static px_fate fail_kept(px_session *session)
{
    pgw_error error;
    px_kept_fail_count(&error);
    px_session_fatal(session, &error);
    return PX_HIDE;
}

/* Checks what a kept statement has stored: its client was told before what rows these are. */
static px_fate on_kept_executed(px_session *session, const px_reply *head, pgw_slice body)
{
    if (head->kept == PX_KEPT_NONE)
        return pop(session);
    const px_kept_statement *kept = &session->own.begun->kept->all[head->kept - 1];
    bool told = pgw_tag_rows(body) == kept->promised.rows && kept->seen == kept->promised.shown.len;
    return told ? pop(session) : fail_kept(session);
}

static px_fate on_kept_row(px_session *session, const px_reply *head, pgw_slice body)
{
    if (head->kept == PX_KEPT_NONE)
        return PX_HIDE;
    px_kept_statement *kept = &session->own.begun->kept->all[head->kept - 1];
    return px_kept_is_shown(kept, body) ? PX_HIDE : fail_kept(session);
}

/* CloseComplete: the last that the server says of what was kept, if something else comes next. */
static px_fate on_closed(px_session *session, const px_reply *head)
{
    bool kept = head->kept > 0;
    px_fate what = pop(session);
    const px_reply *next = px_replies_head(&session->pending.replies);
    if (kept && (next == NULL || next->kept == 0)) {
        px_riding_arrived(session);
        px_riding_is_ordinary(session);
    }
    return what;
}

static px_fate on_executed(px_session *session, px_reply *head, pgw_slice body)
{
    px_fate what = on_tag(session, superseded(head), body);
    if (head != NULL && head->kept > 0)
        return on_kept_executed(session, head, body);
    if (head != NULL && head->begins) {
        if (!px_kept_is_sent(session->own.begun->kept))
            px_riding_arrived(session);
        px_replies_pop(&session->pending.replies);
        return PX_HIDE;
    }
    if (head != NULL && head->asks)
        on_answered(session, head->asks);
    else
        on_name_changed(session, body);
    if (session->own.ordinary > 0 && is_tag(body, "CREATE TABLE")) {
        warn_unspread(session, session->own.ordinary);
        px_own_set_ordinary(&session->own, 0);
    }
    px_fate popped = pop(session);
    return what == PX_INSTEAD ? PX_INSTEAD : popped;
}

static px_fate on_complete(px_session *session, px_reply *head, pgw_slice body)
{
    bool query = head == NULL || head->kind == PX_REPLY_QUERY;
    return query ? on_query_complete(session, head, body) : on_executed(session, head, body);
}

/* A COPY of a configured table is complete. What has become of rows in batches the link does not
 * know. */
static px_fate on_copied(px_session *session, px_reply *head, pgw_slice body)
{
    if (px_copied_is_apart(session) && px_copied_failure(session).len > 0)
        return px_failure(session, px_copied_failure(session));
    pgw_buf out = {0};
    if (px_copied_is_apart(session)) {
        char tag[40];
        snprintf(tag, sizeof tag, "COPY %llu", (unsigned long long)px_copied_rows(session));
        pgw_write_tag(tag, &out);
    }
    px_copied_over(session);
    px_fate what = on_complete(session, head, body);
    if (what == PX_SHOW && out.len > 0) {
        px_stream_put_buf(session->peer.stream, &out);
        what = PX_INSTEAD;
    }
    pgw_buf_free(&out);
    return what;
}

/* Has the tables looked at again: the table, or what else types are inferred of, was changed. */
static void described_otherwise(px_session *session, const px_reply *head)
{
    px_changes_stale(session);
    if (!head->describe_plan)
        return;
    px_submitter_repeat(&session->write_groups);
    px_group_lose_link(&session->group);
}

/* Passes ParameterDescription without the parameters of the hashes. */
static px_fate on_own_parameters(px_session *session, px_reply *head, pgw_slice body)
{
    size_t count;
    pgw_slice types;
    px_lookups *lookups = head->lookups;
    if (!pgw_parameter_description_decode(body, &count, &types) || count < lookups->own)
        return head->swallow ? PX_HIDE : PX_SHOW;
    uint32_t *list = pgw_calloc(lookups->own + 1, sizeof *list);
    for (size_t i = 0; i < lookups->own; i++)
        list[i] = pgw_type_at(types, i);
    px_lookups_learn(lookups, list);
    pgw_buf out = {0};
    pgw_certainly(pgw_write_parameter_description(list, lookups->own, &out));
    if (!head->swallow)
        px_stream_put_buf(session->peer.stream, &out);
    pgw_buf_free(&out);
    free(list);
    return PX_INSTEAD;
}

/* ParameterDescription: the plan learns from it; the client is not told of our parameters. */
static px_fate on_parameters(px_session *session, px_reply *head, pgw_slice body)
{
    size_t count;
    pgw_slice types;
    if (head != NULL && head->lookups != NULL)
        return on_own_parameters(session, head, body);
    if (head == NULL || head->plan == NULL ||
        !pgw_parameter_description_decode(body, &count, &types))
        return head != NULL && head->swallow ? PX_HIDE : PX_SHOW;
    size_t own = head->plan->insert->param_count < count ? head->plan->insert->param_count : count;
    size_t told = px_plan_client_parameters(head->plan);
    uint32_t *list = pgw_calloc(own + 1, sizeof *list);
    for (size_t i = 0; i < own; i++)
        list[i] = pgw_type_at(types, i);
    if (!px_plan_describe(head->plan, list, own))
        described_otherwise(session, head);
    pgw_buf out = {0};
    if (!head->swallow) {
        pgw_certainly(pgw_write_parameter_description(list, told < own ? told : own, &out));
        px_stream_put_buf(session->peer.stream, &out);
    }
    pgw_buf_free(&out);
    free(list);
    return PX_INSTEAD;
}

/* RowDescription or NoData (then `body` is empty): what the last Describe is about. */
static px_fate on_columns(px_session *session, const px_reply *head, pgw_slice body)
{
    bool of_statement = head != NULL && head->kind == PX_REPLY_DESCRIBE;
    if (!of_statement && (head == NULL || head->kind != PX_REPLY_DESCRIBE_PORTAL))
        return PX_SHOW;
    if (of_statement && head->plan != NULL && !px_plan_describe_rows(head->plan, body))
        described_otherwise(session, head);
    bool flushed =
        head->describe_plan && session->wait == PX_WAIT_DESCRIBE && session->own.unsynced;
    px_fate what = pop(session);
    if (flushed)
        px_session_end_wait(session, PX_WAIT_DESCRIBE);
    return what;
}

/* Whether the session itself has notified; `told` then comes from the pid that its client was told.
 */
static bool is_own_notification(px_session *session, pgw_slice body, pgw_buf *told)
{
    enum { PID = 4 };
    pgw_buf own = {0};
    pgw_buf_add_i32(&own, (int32_t)px_link_pid(session->own.link));
    bool is_own = body.len >= PID && memcmp(body.ptr, own.ptr, PID) == 0;
    if (is_own) {
        pgw_buf_add_i32(told, (int32_t)session->peer.pid);
        pgw_buf_add(told, body.ptr + PID, body.len - PID);
    }
    pgw_buf_free(&own);
    return is_own;
}

/* Passes a notification, or keeps it inside a transaction, where clients hear of none. */
static px_fate on_notification(px_session *session, pgw_slice body)
{
    pgw_buf told = {0};
    bool is_own = !session->peer.pid_reported && is_own_notification(session, body, &told);
    bool kept = px_riding_hears(session, is_own ? pgw_slice_buf(&told) : body);
    if (is_own && !kept)
        px_failure_put(session, 'A', &told);
    pgw_buf_free(&told);
    return kept ? PX_HIDE : is_own ? PX_INSTEAD : PX_SHOW;
}

/* Notes that the last Sync was eaten: whoever waits for answers behind it has to ask for them. */
static void miss_sync(px_session *session)
{
    pgw_buf out = {0};
    pgw_write_flush(&out);
    px_own_open_group(&session->own);
    if (session->wait == PX_WAIT_IDLE)
        px_session_send(session, &out);
    pgw_buf_free(&out);
}

static void on_copy_in(px_session *session, const px_reply *head)
{
    if (head == NULL)
        return;
    bool executed = head->kind == PX_REPLY_EXECUTE, tail;
    px_own_heard_copy_in(&session->own, !px_replies_begin_copy(&session->pending.replies, &tail));
    if (executed && tail)
        miss_sync(session);
}

/* Whether nothing else is to be done about a message of what is not the client's. */
static bool takes_unseen(px_session *session, const px_reply *head, char type, pgw_slice body)
{
    if (head->unseen == PX_UNSEEN_LOOK)
        return px_schema_probe_take(session, type, body);
    if (type == 'C')
        on_answered(session, head->asks);
    return type == 'C' || type == 'T';
}

static px_fate on_message(px_session *session, char type, pgw_slice body)
{
    px_reply *head = px_replies_head(&session->pending.replies);
    bool query = head == NULL || head->kind == PX_REPLY_QUERY;
    if (head != NULL && head->unseen && takes_unseen(session, head, type, body))
        return PX_HIDE;
    switch (type) {
    case 'S':
        return on_setting(session, body);
    case 'D':
        if (head != NULL && head->kept > 0)
            return on_kept_row(session, head, body);
        if (head == NULL || !head->asks)
            return PX_SHOW;
        if (head->asks == PX_ASKS_KEYS)
            px_keys_row(session, body);
        else if (head->asks == PX_ASKS_AHEAD)
            px_sequence_refill_row(session, body);
        else
            px_sync_state_row(session, body);
        return PX_HIDE;
    case 'E':
        return px_failure(session, body);
    case 'A':
        return on_notification(session, body);
    case 'N':
        return px_failure_notice(session, head, body);
    case 'Z':
        return on_ready(session, body);
    case '1':
    case '2':
        return query ? PX_SHOW : pop(session);
    case '3':
        return query ? PX_SHOW : on_closed(session, head);
    case 't':
        return on_parameters(session, head, body);
    case 'T':
    case 'n':
        return on_columns(session, head, body);
    case 'C':
        return session->own.copy != NULL ? on_copied(session, head, body)
                                         : on_complete(session, head, body);
    case 'I':
    case 's':
        return query ? PX_SHOW : pop(session);
    case 'G':
        on_copy_in(session, head);
        if (!px_copied_is(head))
            return PX_SHOW;
        px_copied_begin(session, head, body);
        return PX_INSTEAD;
    default:
        return PX_SHOW;
    }
}

/* Whether a message must be whole. One that comes unasked is passed on whole: a write group's
 * answer may come at any time, and must not stand in its middle. */
static bool needs_body(const px_session *session, char type, const px_reply *head)
{
    if (head != NULL && head->unseen)
        return true;
    switch (type) {
    case 'S':
    case 'E':
    case 'Z':
    case 't':
        return true;
    case 'A':
        return head == NULL || !session->peer.pid_reported || session->own.begun != NULL;
    case 'N':
        return head == NULL || head->swallow || head->plan != NULL || head->lookups != NULL ||
               px_failure_is_of_ours(head);
    case 'D':
        return head != NULL && (head->asks || head->kept > 0);
    case 'G':
        return px_copied_is(head);
    case 'T':
        return head != NULL && head->kind == PX_REPLY_DESCRIBE && head->plan != NULL;
    case 'C':
        return superseded(head) > 0 || (head != NULL && head->kept > 0) ||
               session->own.copy != NULL || session->names.deallocates != NULL ||
               session->names.prepares != NULL || session->own.ordinary > 0;
    default:
        return false;
    }
}

/* Passes, or drops, as much of the link's message as is here; true if that was all of it. */
static bool move(px_session *session, px_link *link, size_t here)
{
    size_t part = here < session->own.left ? here : session->own.left;
    if (session->own.dropped)
        px_link_consume(link, part);
    else
        px_link_pass_on(link, session->peer.stream, part);
    px_own_passed_on(&session->own, part);
    return session->own.left == 0;
}

/* Whether nothing is done about the answers at hand, of a Query that was relayed as it came or a
 * group (inert.h), but to pass them on. */
static bool passes_answers(const px_session *session)
{
    const px_reply *head = px_replies_head(&session->pending.replies);
    return head != NULL && head->kind == PX_REPLY_QUERY && head->text == NULL && !head->swallow &&
           !head->silent && head->asks == PX_ASKS_NOTHING && head->unseen == PX_UNSEEN_NOTHING &&
           session->names.deallocates == NULL && session->names.prepares == NULL &&
           session->own.ordinary == 0 && session->own.copy == NULL;
}

/* Rows, what describes them, and ends of commands. */
static bool is_passed(char type)
{
    static const bool passed[256] = {['2'] = true, ['T'] = true, ['D'] = true, ['d'] = true,
                                     ['C'] = true, ['n'] = true, ['I'] = true, ['s'] = true};
    return passed[(unsigned char)type];
}

/* The bytes of the whole messages that the input begins with and that are passed on as they are. */
static size_t count_passed(pgw_slice input)
{
    pgw_frame frame;
    size_t passed = 0;
    while (input.len > passed && is_passed(input.ptr[passed])) {
        pgw_slice rest = {input.ptr + passed, input.len - passed};
        if (pgw_frame_next(rest, &frame) != PGW_FRAME_OK || frame.size > rest.len)
            break;
        passed += frame.size;
    }
    return passed;
}

/* Whether ReadyForQuery stands there, whole, and nothing is told its client before it. */
static bool is_ready_at(const px_session *session, pgw_slice input, size_t at)
{
    return input.len - at >= READY && memcmp(input.ptr + at, "Z\0\0\0\5", PGW_HEADER) == 0 &&
           session->own.begun == NULL;
}

/* The first `passed` bytes of the input, and ReadyForQuery, if it follows them. */
static void pass_answers(px_session *session, px_link *link, pgw_slice input, size_t passed)
{
    bool ready = is_ready_at(session, input, passed), shown = false;
    if (ready)
        shown = on_ready(session, (pgw_slice){input.ptr + passed + PGW_HEADER, 1}) == PX_SHOW;
    px_link_pass_on(link, session->peer.stream, passed + (shown ? READY : 0));
    if (ready && !shown)
        px_link_consume(link, READY);
}

/* The message that the input begins with; false if more of it must come first. */
static bool take_message(px_session *session, px_link *link, pgw_slice input)
{
    pgw_frame frame;
    size_t passed = passes_answers(session) ? count_passed(input) : 0;
    if (passed > 0) {
        pass_answers(session, link, input, passed);
        return true;
    }
    switch (pgw_frame_next(input, &frame)) {
    case PGW_FRAME_MORE:
        return false;
    case PGW_FRAME_BAD:
        px_own_link_lose(session, "the backend sent an impossible length");
        return false;
    case PGW_FRAME_OK:
        break;
    }
    if (!pgw_frame_is_backend(frame.type)) {
        px_own_link_lose(session, "the backend sent an unknown message");
        return false;
    }
    bool whole = needs_body(session, frame.type, px_replies_head(&session->pending.replies));
    if (whole && input.len < frame.size) {
        px_link_expect(link, frame.size);
        return false;
    }
    pgw_slice body = whole ? pgw_frame_body(input, frame) : (pgw_slice){NULL, 0};
    px_fate what = on_message(session, frame.type, body);
    px_own_pass_on(&session->own, frame.size, what != PX_SHOW);
    return move(session, link, input.len);
}

/* Whether nothing of the client's waits and it is read on, so that a look would be in vain. */
static bool has_nothing_to_do(const px_session *session)
{
    const px_stream *stream = session->peer.stream;
    return session->wait == PX_WAIT_NOTHING && px_stream_input(stream).len == 0 &&
           !px_stream_is_paused(stream) && !px_stream_ended(stream) &&
           session->names.describing == NULL && session->group.count == 0 &&
           session->room.taken == 0 && !session->room.waits && px_session_is_read(session);
}

void px_reply_input(px_session *session)
{
    if (!session->own.ready || session->state == PX_CLOSING)
        return;
    if (px_submitted(&session->write_groups)) { /* an end of the session would hide the write
                                                   group's outcome */
        if (px_link_input(session->own.link).len >= PX_STREAM_HIGH)
            px_link_pause(session->own.link);
        return;
    }
    px_link *link = session->own.link;
    bool more = true;
    while (more && session->state == PX_READY && session->own.link == link &&
           !px_stream_is_full(session->peer.stream) &&
           (session->own.copy == NULL || !px_copied_is_under_way(session))) {
        pgw_slice input = px_link_input(link);
        if (session->own.left > 0)
            more = move(session, link, input.len);
        else
            more = input.len > 0 && take_message(session, link, input);
    }
    if (session->state != PX_READY || session->own.link != link)
        return;
    if (px_stream_is_full(session->peer.stream))
        px_link_pause(link);
    if (session->pending.replies.count == 0 &&
        !session->own.unsynced) /* all settings were reported before this ReadyForQuery */
        px_pending_know_zone(&session->pending);
    if (session->pending.replies.count == 0) {
        px_sequence_refill_ask(session);
        if (px_link_is_borrowed(link))
            px_own_link_leave(session);
    }
    if (has_nothing_to_do(session))
        return;
    if (session->pending.replies.count == 0)
        px_session_wake(session, PX_WAIT_IDLE);
    else
        px_session_look(session);
}
