#include "proxy/client/session.h"

#include "proxy/backend/classify.h"
#include "proxy/client/errors.h"
#include "proxy/client/forward.h"

#include "protocol/backend.h"
#include "proxy/backend/greeting.h"
#include "proxy/base/log.h"
#include "proxy/ingest/submit.h"
#include "rewrite/read/script.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum fate {
    SHOW,   /* the client gets it as it is */
    HIDE,   /* the client never sent what this answers */
    INSTEAD /* something was written in its place */
} fate;

/* ---- errors ---- */

static void put_body(px_session *session, char type, const pgw_buf *body)
{
    pgw_buf head = {0};
    pgw_buf_add_byte(&head, type);
    pgw_buf_add_i32(&head, (int32_t)(body->len + 4));
    px_stream_put_buf(session->stream, &head);
    px_stream_put_buf(session->stream, body);
    pgw_buf_free(&head);
}

/* The rows that the statement is without are committed (atomicity: partition). */
static bool is_rest(const px_reply *head)
{
    return (head->plan != NULL && head->plan->in_parts) ||
           (head->text != NULL && head->text->in_parts);
}

/* A text that was sent with something of ours in it. */
static bool is_of_ours(const px_reply *head)
{
    return head != NULL && head->text != NULL &&
           (head->text->script.inserts > 0 || head->text->refused);
}

static void put_error(px_session *session, const px_reply *head, pgw_buf *body)
{
    px_error_explain(session->worker->config, body);
    if (!is_rest(head) || session->fatal) {
        put_body(session, 'E', body);
        return;
    }
    const rw_insert *insert =
        head->plan != NULL ? head->plan->insert : head->text->script.statements[0].insert;
    size_t committed = head->plan != NULL ? head->plan->left_out : head->text->superseded[0];
    pgw_buf out = {0};
    pgw_error error;
    pgw_error_read(pgw_slice_buf(body), &error);
    px_error_count_rows(&error, committed, insert->row_count);
    pgw_error_write(&error, "ERROR", &out);
    px_stream_put_buf(session->stream, &out);
    pgw_buf_free(&out);
}

/* Writes the error as the client may see it. */
static fate show_error(px_session *session, const px_reply *head, pgw_slice body)
{
    pgw_buf out = {0};
    fate what = INSTEAD;
    const pgw_error *refusal = px_error_refusal(head, body);
    px_count_error(session->worker->metrics,
                   refusal != NULL ? pgw_slice_str(refusal->sqlstate) : pgw_error_field(body, 'C'));
    if (refusal != NULL) {
        pgw_error_write(refusal, "ERROR", &out);
        px_stream_put_buf(session->stream, &out);
    } else if (head != NULL && head->plan != NULL) {
        px_error_of_plan(head->plan, body, &out);
        put_error(session, head, &out);
    } else if (is_of_ours(head)) {
        px_error_of_text(head->text, head->at, body, &out);
        put_error(session, head, &out);
    } else {
        pgw_buf_add_slice(&out, body);
        if (px_error_explain(session->worker->config, &out))
            put_body(session, 'E', &out);
        else
            what = SHOW;
    }
    pgw_buf_free(&out);
    return what;
}

/* Notices, too, have positions and contexts. */
static fate on_notice(px_session *session, const px_reply *head, pgw_slice body)
{
    pgw_buf out = {0};
    if (head != NULL && head->plan != NULL)
        px_error_of_plan(head->plan, body, &out);
    else if (is_of_ours(head))
        px_error_of_text(head->text, head->at, body, &out);
    else
        return SHOW;
    put_body(session, 'N', &out);
    pgw_buf_free(&out);
    return INSTEAD;
}

/* Our picture of the schema is wrong: look again before the next statement. */
static bool notice_stale(px_session *session, const px_reply *head, pgw_slice body)
{
    if (head == NULL || (head->plan == NULL && head->text == NULL) ||
        px_error_refusal(head, body) != NULL) /* asked for, with a column that nobody has */
        return false;
    bool stale = px_classify(body) == PX_ERROR_STALE;
    if (stale)
        px_catalog_stale(session->worker, session->identity->database);
    return stale;
}

/* The backend did not know what it was to describe for a held group: once more, with the schema as
 * it is now. */
static bool describe_again(px_session *session)
{
    px_group *group = &session->group;
    if (session->wait != PX_WAIT_DESCRIBE || session->unsynced || session->units.repeated ||
        group->count == 0 || px_group_is_answered(group))
        return false;
    px_held *asked = NULL;
    for (size_t i = 0; i < group->count; i++) {
        if (group->held[i].on_link && asked != NULL)
            return false; /* another one is there, and would clash with itself */
        if (group->held[i].on_link)
            asked = &group->held[i];
    }
    asked->on_link = false;
    session->units.repeated = true;
    return true;
}

/* The server drops everything up to Sync: so do the entries. Names that were not prepared are free.
 */
static void not_on_link(px_session *session, pgw_slice name)
{
    px_statement *statement = px_statements_find(&session->statements, name);
    if (statement != NULL)
        px_statements_move(&session->statements, statement, false);
}

static px_reply *reply_at(px_session *session, size_t i)
{
    px_replies *replies = &session->replies;
    return &replies->ring[(replies->head + i) & (replies->cap - 1)];
}

/* The next reply, from number `from` on, that changes the meaning of the same name. */
static px_reply *next_of_name(px_session *session, size_t from, const px_reply *reply)
{
    if (reply->name->entries < 2)
        return NULL;
    for (size_t i = from; i < session->replies.count; i++)
        if (reply_at(session, i)->name == reply->name)
            return reply_at(session, i);
    return NULL;
}

/* What was skipped did not happen: names mean what they did, the latest change taken back first. A
 * change behind the Sync, at `sync`, has that before it. */
static void take_back(px_session *session, px_reply *reply, bool failed, size_t sync)
{
    if (reply->recorded != NULL)
        not_on_link(session, reply->recorded->entry.name);
    if (reply->name == NULL)
        return;
    bool dropped = failed && reply->kind == PX_REPLY_PARSE && reply->name->name[0] == '\0';
    px_reply *next = next_of_name(session, sync, reply);
    if (next != NULL) {
        px_statement_free(next->before);
        next->before = dropped ? NULL : reply->before;
    } else if (dropped) { /* a Parse that fails has destroyed the unnamed statement */
        px_statements_remove(&session->statements, pgw_slice_str(""));
    } else {
        px_statements_restore(&session->statements, reply->name->entry.name, reply->before);
    }
    if (!dropped)
        reply->before = NULL;
}

static void skip_to_sync(px_session *session)
{
    size_t count = 0;
    while (count < session->replies.count && reply_at(session, count)->kind != PX_REPLY_SYNC)
        count++;
    for (size_t i = count; i-- > 0;)
        take_back(session, reply_at(session, i), i == 0, count);
    while (count-- > 0)
        px_replies_pop(&session->replies);
    if (session->replies.count == 0 && session->unsynced)
        session->skipping = true;
    px_settle_skipped(session);
}

/* It is not the client's statement that failed, but the client has to know why its own is not run.
 */
static fate on_question_failed(px_session *session, pgw_slice body)
{
    fate what = session->fatal || session->unsynced ? SHOW : HIDE;
    if (!session->fatal)
        px_settle_failed(session, body);
    if (what == SHOW && !session->fatal)
        px_count_error(session->worker->metrics, pgw_error_field(body, 'C'));
    skip_to_sync(session);
    return what;
}

static fate on_error(px_session *session, pgw_slice body)
{
    px_reply *head = px_replies_head(&session->replies);
    session->fatal = px_error_is_fatal(body);
    if (session->fatal && px_session_replaceable(session)) {
        session->fatal = false;
        return HIDE; /* the session goes on with another link */
    }
    if (head != NULL && head->asks)
        return on_question_failed(session, body);
    bool again = notice_stale(session, head, body) && describe_again(session);
    bool described = session->wait == PX_WAIT_DESCRIBE && !again;
    bool later = described && px_forward_fails(session, body);
    bool hidden = again || later || (head != NULL && head->silent);
    fate what = hidden ? HIDE : show_error(session, head, body);
    session->copy_in = false;
    if (described && !later)
        px_forward_refused(session);
    if (head != NULL && head->kind != PX_REPLY_QUERY && head->kind != PX_REPLY_SYNC)
        skip_to_sync(session);
    return what;
}

/* ---- what a statement did ---- */

static void discard_all(px_session *session)
{
    px_statements_clear(&session->statements);
    session->private_session = session->link_state = session->output_changed = false;
    px_state_discard(session);
    for (size_t i = PX_REPORTED; i < PX_TRACKED; i++)
        px_session_set(session, i, (pgw_slice){NULL, 0});
}

static void after_statement(px_session *session, const rw_statement *statement)
{
    if (statement->effects & RW_EFFECT_DISCARD_ALL)
        discard_all(session);
    if (statement->effects & RW_EFFECT_PREPARE)
        px_statements_put(&session->statements, statement->name, NULL, true);
    if ((statement->effects & RW_EFFECT_DEALLOCATE) && statement->name.len == 0)
        px_statements_clear(&session->statements);
    else if (statement->effects & RW_EFFECT_DEALLOCATE)
        px_statements_remove(&session->statements, statement->name);
    size_t setting = px_session_setting(statement->setting);
    if ((statement->effects & RW_EFFECT_TRACKED) && setting >= PX_REPORTED &&
        setting < PX_TRACKED && statement->setting_simple)
        px_session_set(session, setting, statement->setting_value);
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

/* An UPSERT's tag counts the rows that a later row of it replaced. */
static fate on_tag(px_session *session, const px_reply *head, pgw_slice body)
{
    size_t more = superseded(head);
    if (more == 0)
        return SHOW;
    pgw_buf out = {0};
    char tag[40];
    snprintf(tag, sizeof tag, "INSERT 0 %llu", (unsigned long long)(pgw_tag_rows(body) + more));
    pgw_write_tag(tag, &out);
    px_stream_put_buf(session->stream, &out);
    pgw_buf_free(&out);
    return INSTEAD;
}

/* PREPARE, DEALLOCATE and DISCARD ALL that came as Parse and Execute: known by their tags. */
static void on_name_changed(px_session *session, pgw_slice body)
{
    pgw_slice tag = {body.ptr, body.len > 0 ? body.len - 1 : 0};
    if (session->prepares != NULL && pgw_slice_eq_str(tag, "PREPARE")) {
        px_statements_put(&session->statements, pgw_slice_str(session->prepares), NULL, true);
        free(session->prepares);
        session->prepares = NULL;
        return;
    }
    if (session->deallocates == NULL)
        return;
    if (pgw_slice_eq_str(tag, "DISCARD ALL"))
        discard_all(session);
    else if (pgw_slice_eq_str(tag, "DEALLOCATE ALL"))
        px_statements_clear(&session->statements);
    else if (pgw_slice_eq_str(tag, "DEALLOCATE"))
        px_statements_remove(&session->statements, pgw_slice_str(session->deallocates));
    else
        return;
    free(session->deallocates);
    session->deallocates = NULL;
}

static void on_command_complete(px_session *session, px_reply *head)
{
    if (head == NULL || head->text == NULL)
        return;
    const rw_script *script = &head->text->script;
    if (head->at < script->count)
        after_statement(session, &script->statements[head->at]);
    head->at++;
}

/* ---- one message of the link ---- */

static fate pop(px_session *session)
{
    bool swallow = px_replies_head(&session->replies)->swallow;
    px_replies_pop(&session->replies);
    return swallow ? HIDE : SHOW;
}

static void on_setting(px_session *session, pgw_slice body)
{
    pgw_slice name, value;
    if (!pgw_parameter_status_decode(body, &name, &value))
        return;
    size_t setting = px_session_setting(name);
    if (setting < PX_TRACKED)
        px_session_set(session, setting, value);
}

static fate on_ready(px_session *session, pgw_slice body)
{
    session->status = body.len > 0 ? body.ptr[0] : 'I';
    session->copy_in = false;
    if (session->status == 'I' && session->portals.names.count > 0)
        px_statements_clear(&session->portals);
    if (session->alters && session->status == 'I') {
        session->alters = false;
        px_greeting_renew(session->worker);
    }
    if (session->status == 'I')
        px_session_mark_catalog(session);
    px_state_ended(session);
    px_reply *head = px_replies_head(&session->replies);
    if (head == NULL)
        return SHOW;
    bool asked = head->asks;
    fate what = pop(session);
    session->undecided = session->undecided && session->replies.count > 0;
    if (asked && px_settle_ready(session))
        return SHOW;
    if (what == HIDE && session->wait == PX_WAIT_DESCRIBE) {
        session->wait = PX_WAIT_NOTHING;
        if (session->group.failure != NULL)
            px_forward_failing(session);
    }
    return what;
}

static fate on_query_complete(px_session *session, px_reply *head, pgw_slice body)
{
    fate what = on_tag(session, head, body);
    on_command_complete(session, head);
    return what;
}

static fate on_executed(px_session *session, px_reply *head, pgw_slice body)
{
    fate what = on_tag(session, head, body);
    if (head != NULL && head->asks)
        px_settle_answered(session);
    else
        on_name_changed(session, body);
    fate popped = pop(session);
    return what == INSTEAD ? INSTEAD : popped;
}

/* ParameterDescription: the plan learns from it; the client is not told of our parameters. */
static fate on_parameters(px_session *session, px_reply *head, pgw_slice body)
{
    size_t count;
    pgw_slice types;
    if (head == NULL || head->plan == NULL ||
        !pgw_parameter_description_decode(body, &count, &types))
        return head != NULL && head->swallow ? HIDE : SHOW;
    size_t own = head->plan->insert->param_count < count ? head->plan->insert->param_count : count;
    uint32_t *list = pgw_calloc(own + 1, sizeof *list);
    for (size_t i = 0; i < own; i++)
        list[i] = pgw_type_at(types, i);
    px_plan_describe(head->plan, list, own);
    pgw_buf out = {0};
    if (!head->swallow) {
        pgw_certainly(pgw_write_parameter_description(list, own, &out));
        px_stream_put_buf(session->stream, &out);
    }
    pgw_buf_free(&out);
    free(list);
    return INSTEAD;
}

/* What the session itself notified comes from the pid that its client was told. */
static fate on_notification(px_session *session, pgw_slice body)
{
    enum { PID = 4 };
    pgw_buf own = {0}, told = {0};
    pgw_buf_add_i32(&own, (int32_t)px_link_pid(session->link));
    bool is_own = body.len >= PID && memcmp(body.ptr, own.ptr, PID) == 0;
    if (is_own) {
        pgw_buf_add_i32(&told, (int32_t)session->pid);
        pgw_buf_add(&told, body.ptr + PID, body.len - PID);
        put_body(session, 'A', &told);
    }
    pgw_buf_free(&own);
    pgw_buf_free(&told);
    return is_own ? INSTEAD : SHOW;
}

/* COPY through Execute: a Sync that was already sent was eaten by the copy, and answers nothing. */
static void on_copy_in(px_session *session, px_reply *head)
{
    session->copy_in = true;
    if (head == NULL || head->kind != PX_REPLY_EXECUTE)
        return;
    while (session->replies.count > 1)
        px_replies_unpush(&session->replies);
    session->unsynced = true;
}

static fate on_message(px_session *session, char type, pgw_slice body)
{
    px_reply *head = px_replies_head(&session->replies);
    bool query = head == NULL || head->kind == PX_REPLY_QUERY;
    if (head != NULL && head->own_look && px_own_look_take(session, type, body))
        return HIDE;
    switch (type) {
    case 'S':
        on_setting(session, body);
        return SHOW;
    case 'D':
        if (head == NULL || !head->asks)
            return SHOW;
        px_settle_row(session, body);
        return HIDE;
    case 'E':
        return on_error(session, body);
    case 'A':
        return session->told ? SHOW : on_notification(session, body);
    case 'N':
        return on_notice(session, head, body);
    case 'Z':
        return on_ready(session, body);
    case '1':
    case '2':
    case '3':
        return head != NULL ? pop(session) : SHOW;
    case 't':
        return on_parameters(session, head, body);
    case 'T':
    case 'n':
        if (head != NULL &&
            (head->kind == PX_REPLY_DESCRIBE || head->kind == PX_REPLY_DESCRIBE_PORTAL)) {
            bool flushed =
                head->describe_plan && session->wait == PX_WAIT_DESCRIBE && session->unsynced;
            fate what = pop(session);
            if (flushed)
                session->wait = PX_WAIT_NOTHING;
            return what;
        }
        return SHOW;
    case 'C':
        return query ? on_query_complete(session, head, body) : on_executed(session, head, body);
    case 'I':
    case 's':
        return query ? SHOW : pop(session);
    case 'G':
        on_copy_in(session, head);
        return SHOW;
    default:
        return SHOW;
    }
}

/* What comes unasked is passed on whole: a unit's answer may come at any time, and must not stand
 * in its middle. */
static bool needs_body(const px_session *session, char type, const px_reply *head)
{
    return strchr("SEZt", type) != NULL || (type == 'D' && head != NULL && head->asks) ||
           (head == NULL && strchr("NA", type) != NULL) || (type == 'A' && !session->told) ||
           (head != NULL && head->own_look) ||
           (type == 'N' && head != NULL && (head->plan != NULL || is_of_ours(head))) ||
           (type == 'C' &&
            (superseded(head) > 0 || session->deallocates != NULL || session->prepares != NULL));
}

/* Passes, or drops, as much of the link's message as is here; true if that was all of it. */
static bool move(px_session *session, px_link *link)
{
    size_t here = px_link_input(link).len;
    size_t part = here < session->reply_left ? here : session->reply_left;
    if (session->reply_dropped)
        px_link_consume(link, part);
    else
        px_link_pass_on(link, session->stream, part);
    session->reply_left -= part;
    return session->reply_left == 0;
}

/* One message; false if more of it must come first. */
static bool take_message(px_session *session, px_link *link)
{
    pgw_slice input = px_link_input(link);
    pgw_frame frame;
    switch (pgw_frame_next(input, &frame)) {
    case PGW_FRAME_MORE:
        return false;
    case PGW_FRAME_BAD:
        px_session_lose_link(session, "the backend sent an impossible length");
        return false;
    case PGW_FRAME_OK:
        break;
    }
    if (!pgw_frame_is_backend(frame.type)) {
        px_session_lose_link(session, "the backend sent an unknown message");
        return false;
    }
    bool whole = needs_body(session, frame.type, px_replies_head(&session->replies));
    if (whole && input.len < frame.size) {
        px_link_expect(link, frame.size);
        return false;
    }
    pgw_slice body = whole ? pgw_frame_body(input, frame) : (pgw_slice){NULL, 0};
    fate what = on_message(session, frame.type, body);
    session->reply_left = frame.size;
    session->reply_dropped = what != SHOW;
    return move(session, link);
}

bool px_session_relays_part(const px_session *session)
{
    return session->reply_left > 0 && !session->reply_dropped;
}

void px_session_on_link_input(px_session *session)
{
    if (!session->link_ready || session->state == PX_CLOSING)
        return;
    if (px_submitted(&session->units)) { /* an end of the session would hide the unit's outcome */
        if (px_link_input(session->link).len >= PX_STREAM_HIGH)
            px_link_pause(session->link);
        return;
    }
    px_link *link = session->link;
    bool more = true;
    while (more && session->state == PX_READY && session->link == link &&
           px_stream_pending(session->stream) < PX_STREAM_HIGH) {
        if (session->reply_left > 0)
            more = move(session, link);
        else
            more = px_link_input(link).len > 0 && take_message(session, link);
    }
    if (session->state != PX_READY || session->link != link)
        return;
    if (px_stream_pending(session->stream) >= PX_STREAM_HIGH)
        px_link_pause(link);
    if (session->replies.count == 0 && !session->unsynced) /* settings are reported before it */
        session->zone_moving = false;
    if (session->replies.count == 0)
        px_session_wake(session, PX_WAIT_IDLE);
    else
        px_session_look(session);
}
