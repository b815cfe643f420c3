#include "proxy/client/message/failure.h"

#include "protocol/frontend.h"
#include "proxy/backend/base/classify.h"
#include "proxy/client/answer/copied.h"
#include "proxy/client/answer/errors.h"
#include "proxy/client/answer/split_query.h"
#include "proxy/client/core/riding.h"
#include "proxy/client/link/own_link.h"
#include "proxy/client/link/sync_state.h"
#include "proxy/client/numbers/keys.h"
#include "proxy/client/numbers/sequence_refill.h"
#include "proxy/client/prepared/forward.h"
#include "proxy/client/standing/changes.h"
#include "proxy/client/standing/describe.h"
#include "proxy/ingest/copy.h"

#include <stdlib.h>
#include <string.h>

/* Adds a field of an error; its position becomes one in the client's whole text. */
static void add_field(pgw_slice field, size_t before, pgw_buf *out)
{
    if (field.ptr[0] == 'P')
        pgw_buf_addf(out, "P%zu", strtoul(field.ptr + 1, NULL, 10) + before);
    else
        pgw_buf_add_slice(out, field);
    pgw_buf_add_byte(out, '\0');
}

/* Adds an error about a part of a Query that begins behind `before` characters. */
static void place(size_t before, const pgw_buf *body, pgw_buf *out)
{
    for (size_t at = 0; at < body->len && body->ptr[at] != '\0';) {
        pgw_slice field = {body->ptr + at, strnlen(body->ptr + at, body->len - at)};
        add_field(field, before, out);
        at += field.len + 1;
    }
    pgw_buf_add_byte(out, '\0');
}

static void put_body(px_session *session, char type, const pgw_buf *body)
{
    pgw_buf head = {0};
    pgw_buf_add_byte(&head, type);
    pgw_buf_add_i32(&head, (int32_t)(body->len + 4));
    px_stream_put_buf(session->peer.stream, &head);
    px_stream_put_buf(session->peer.stream, body);
    pgw_buf_free(&head);
}

void px_failure_put(px_session *session, char type, const pgw_buf *body)
{
    size_t before = px_split_query_before(session);
    pgw_buf placed = {0};
    if (before > 0 && (type == 'E' || type == 'N'))
        place(before, body, &placed);
    put_body(session, type, placed.len > 0 ? &placed : body);
    pgw_buf_free(&placed);
}

/* Whether the other rows of the statement are committed already (atomicity: partition). */
static bool is_rest(const px_reply *head)
{
    return (head->plan != NULL && head->plan->in_parts) ||
           (head->text != NULL && head->text->in_parts);
}

bool px_failure_is_of_ours(const px_reply *head)
{
    return head != NULL && head->text != NULL &&
           (head->text->script.inserts > 0 || head->text->script.changes || head->text->refused);
}

static void put_error(px_session *session, const px_reply *head, pgw_buf *body)
{
    px_error_explain(session->worker, session->who.identity, px_changes_for_errors(session),
                     head->plan != NULL || px_failure_is_of_ours(head), body);
    if (!is_rest(head) || session->own.fatal) {
        px_failure_put(session, 'E', body);
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
    px_stream_put_buf(session->peer.stream, &out);
    pgw_buf_free(&out);
}

/* Whether a column that was written out for a star has gone since its statement was prepared. */
static bool lost_a_column(const px_reply *head, pgw_slice body)
{
    /* An error without a position comes from a function that ran. */
    return head->kind != PX_REPLY_PARSE && px_lookups_show(head->lookups) &&
           pgw_slice_eq_str(pgw_error_field(body, 'C'), "42703") &&
           pgw_error_field(body, 'P').len > 0;
}

static void error_by_key(px_session *session, const px_reply *head, pgw_slice body, pgw_buf *out)
{
    if (lost_a_column(head, body)) {
        px_error_cached_plan(out); /* the server says this of a star that it read itself */
        return;
    }
    pgw_buf placed = {0};
    px_error_of_lookups(head->lookups, body, &placed);
    px_error_of_others(px_changes_for_errors(session), pgw_slice_buf(&placed), out);
    pgw_buf_free(&placed);
}

static void put_refusal(px_session *session, const pgw_error *refusal)
{
    pgw_buf out = {0};
    pgw_error told = *refusal;
    if (told.position > 0)
        told.position += px_split_query_before(session);
    pgw_error_write(&told, "ERROR", &out);
    px_stream_put_buf(session->peer.stream, &out);
    pgw_buf_free(&out);
}

/* Writes the error as the client may see it. */
static px_fate show_error(px_session *session, const px_reply *head, pgw_slice body)
{
    pgw_buf out = {0};
    px_fate what = PX_INSTEAD;
    const pgw_error *refusal = px_error_refusal(head, body);
    px_count_error(session->worker->metrics,
                   refusal != NULL ? pgw_slice_str(refusal->sqlstate) : pgw_error_field(body, 'C'));
    if (refusal != NULL) {
        put_refusal(session, refusal);
    } else if (head != NULL && head->plan != NULL) {
        px_error_of_plan(head->plan, body, &out);
        put_error(session, head, &out);
    } else if (px_failure_is_of_ours(head)) {
        px_error_of_text(head->text, head->at, body, &out);
        put_error(session, head, &out);
    } else if (head != NULL && head->lookups != NULL) {
        error_by_key(session, head, body, &out);
        put_error(session, head, &out);
    } else {
        px_error_of_others(px_changes_for_errors(session), body, &out);
        px_error_explain(session->worker, session->who.identity, px_changes_for_errors(session),
                         false, &out);
        if (pgw_slice_eq(pgw_slice_buf(&out), body) && px_split_query_before(session) == 0)
            what = PX_SHOW;
        else
            px_failure_put(session, 'E', &out);
    }
    pgw_buf_free(&out);
    return what;
}

/* Whether a notice is one of log_statement and its like, shown by client_min_messages. */
static bool is_log(pgw_slice body)
{
    pgw_slice severity = pgw_error_field(body, 'V');
    return pgw_slice_eq_str(severity, "LOG") || pgw_slice_eq_str(severity, "DEBUG");
}

/* Writes a notice as the client may see it: notices, too, have positions and contexts. */
static px_fate on_notice(px_session *session, const px_reply *head, pgw_slice body)
{
    pgw_buf out = {0};
    if (head != NULL && head->swallow && is_log(body))
        return PX_HIDE; /* the client never sent the statement */
    if (head != NULL && head->plan != NULL)
        px_error_of_plan(head->plan, body, &out);
    else if (px_failure_is_of_ours(head))
        px_error_of_text(head->text, head->at, body, &out);
    else if (head != NULL && head->lookups != NULL)
        error_by_key(session, head, body, &out);
    else
        return PX_SHOW;
    px_failure_put(session, 'N', &out);
    pgw_buf_free(&out);
    return PX_INSTEAD;
}

/* Whether the picture of the catalog is wrong: it is looked at again before the next statement. */
static bool notice_stale(px_session *session, const px_reply *head, pgw_slice body)
{
    /* A refusal is an error that keyspread made, by a column that no table has. */
    if (head == NULL || (head->plan == NULL && head->text == NULL && head->lookups == NULL) ||
        px_error_refusal(head, body) != NULL)
        return false;
    bool lookup_bind = head->lookups != NULL || (head->text != NULL && head->text->script.changes);
    bool denied = lookup_bind && pgw_slice_eq_str(pgw_error_field(body, 'C'), "42501");
    bool stale = denied || px_classify(body) == PX_ERROR_STALE;
    if (stale)
        px_changes_stale(session);
    return stale;
}

/* Whether a held group is described once more, with the schema as it is now, for the backend did
 * not know what it was to describe: not in a transaction, which the error has failed. */
static bool describe_again(px_session *session)
{
    px_group *group = &session->group;
    if (session->own.status != 'I' || session->own.unsynced || session->write_groups.repeated ||
        group->count == 0 || px_group_is_answered(group))
        return false;
    size_t asked = PX_GROUP_NONE;
    for (size_t i = 0; i < group->count; i++) {
        if (group->held[i].on_link && asked != PX_GROUP_NONE)
            return false; /* two statements are on the link, and one would clash with itself */
        if (group->held[i].on_link)
            asked = i;
    }
    px_group_set_on_link(group, asked, false);
    px_submitter_repeat(&session->write_groups);
    return true;
}

/* The server skips everything up to Sync: a statement that was not prepared is not on the link. */
static void not_on_link(px_session *session, pgw_slice name)
{
    px_statement *statement = px_statements_find(&session->names.statements, name);
    if (statement != NULL)
        px_statements_move(&session->names.statements, statement, false);
}

/* Whether the error skips what is described for the session, and is not of a group or Query before
 * that. */
static bool skips_describing(px_session *session)
{
    for (size_t i = 0; i < session->pending.replies.count; i++) {
        const px_reply *reply = px_replies_at(&session->pending.replies, i);
        if (reply->describe_plan)
            return true;
        if (reply->kind == PX_REPLY_SYNC || reply->kind == PX_REPLY_QUERY)
            return false;
    }
    return false;
}

/* The next reply, from number `from` on, that changes the meaning of the same name. */
static px_reply *next_of_name(px_session *session, size_t from, const px_reply *reply)
{
    if (reply->name->entries < 2)
        return NULL;
    for (size_t i = from; i < session->pending.replies.count; i++)
        if (px_replies_at(&session->pending.replies, i)->name == reply->name)
            return px_replies_at(&session->pending.replies, i);
    return NULL;
}

/* Whether a Query from number `from` on destroys the unnamed statement before `next` (NULL:
 * whatever comes) changes it. */
static bool is_destroyed(px_session *session, size_t from, const px_reply *next)
{
    for (size_t i = from; i < session->pending.replies.count; i++) {
        const px_reply *reply = px_replies_at(&session->pending.replies, i);
        if (reply == next || (reply->kind == PX_REPLY_QUERY && !reply->group))
            return reply != next;
    }
    return false;
}

/* Takes back what was skipped: names mean what they did, the latest change first. A change behind
 * the Sync, at `sync`, has that before it. A Parse that fails has destroyed the unnamed statement.
 */
static void take_back(px_session *session, px_reply *reply, bool failed, size_t sync)
{
    if (reply->recorded != NULL)
        not_on_link(session, reply->recorded->entry.name);
    if (reply->name == NULL)
        return;
    px_reply *next = next_of_name(session, sync, reply);
    bool dropped = reply->name->name[0] == '\0' &&
                   ((failed && reply->kind == PX_REPLY_PARSE) || is_destroyed(session, sync, next));
    if (next != NULL) {
        px_statement_free(next->before);
        next->before = dropped ? NULL : reply->before;
    } else if (dropped) {
        px_statements_remove(&session->names.statements, pgw_slice_str(""));
    } else {
        px_statements_restore(&session->names.statements, reply->name->entry.name, reply->before);
    }
    if (!dropped)
        reply->before = NULL;
}

static bool ends_with_query(const px_replies *replies)
{
    return px_replies_at(replies, replies->count - 1)->kind == PX_REPLY_QUERY;
}

/* Sends a Sync where what the server skips ends with a Query, behind which no client sends one. */
static void sync_behind_query(px_session *session)
{
    pgw_buf out = {0};
    pgw_write_sync(&out);
    px_replies_push(&session->pending.replies, PX_REPLY_SYNC);
    px_session_send(session, &out);
    pgw_buf_free(&out);
    px_own_close_group(&session->own);
    px_pending_skip(&session->pending, false);
}

static void skip_to_sync(px_session *session)
{
    px_replies *replies = &session->pending.replies;
    /* The error may be that of a question of keyspread's in front of a Query. */
    bool alone = !session->own.unsynced && ends_with_query(replies);
    size_t count = 0;
    while (count < session->pending.replies.count &&
           !px_reply_ends_group(px_replies_at(&session->pending.replies, count)))
        count++;
    for (size_t i = count; i-- > 0;)
        take_back(session, px_replies_at(&session->pending.replies, i), i == 0, count);
    while (count-- > 0)
        px_replies_pop(&session->pending.replies);
    if (replies->count == 0 && alone) {
        sync_behind_query(session);
    } else if (replies->count == 0 && session->own.unsynced) {
        px_pending_skip(&session->pending, true);
        px_sync_state_skipped(session);
    }
}

/* Shows the error of a question, whose position is one in the question. */
static px_fate put_placed(px_session *session, pgw_slice body)
{
    pgw_error error;
    pgw_buf out = {0};
    const pgw_error *placed = px_keys_failure(session);
    pgw_error_read(body, &error);
    error.position = 0;
    pgw_error_write(placed != NULL ? placed : &error, "ERROR", &out);
    px_stream_put_buf(session->peer.stream, &out);
    pgw_buf_free(&out);
    return PX_INSTEAD;
}

/* Answers an error of a question: the client's own statement has not failed, but the client has to
 * know why it is not run. */
static px_fate on_question_failed(px_session *session, pgw_slice body)
{
    px_asks asks = px_replies_head(&session->pending.replies)->asks;
    bool ours = asks == PX_ASKS_AHEAD, keys = asks == PX_ASKS_KEYS;
    bool shown = session->own.fatal || (session->own.unsynced && !ours);
    px_fate what = shown ? PX_SHOW : PX_HIDE;
    if (ours)
        px_sequence_refill_end(session, true);
    else if (!session->own.fatal && keys)
        px_keys_failed(session, body);
    else if (!session->own.fatal)
        px_sync_state_failed(session, body);
    if (what == PX_SHOW && !session->own.fatal)
        px_count_error(session->worker->metrics, pgw_error_field(body, 'C'));
    if (px_replies_head(&session->pending.replies)->kind != PX_REPLY_QUERY)
        skip_to_sync(session);
    return what == PX_SHOW && keys && !session->own.fatal ? put_placed(session, body) : what;
}

/* Ends the session by this error, when the backend has seen that nothing more comes. */
static void end_by(px_session *session, const pgw_error *error)
{
    pgw_buf out = {0};
    pgw_error_write(error, "FATAL", &out);
    px_stream_put_buf(session->peer.stream, &out);
    pgw_buf_free(&out);
    px_count_error(session->worker->metrics, pgw_slice_str(error->sqlstate));
    px_own_heard_error(&session->own, true);
    px_link_finish(session->own.link);
}

/* Whether all that the error skips is the client's own, and no question of keyspread's. */
static bool is_followed_by_the_client(const px_session *session)
{
    const px_replies *replies = &session->pending.replies;
    bool waits = session->wait != PX_WAIT_NOTHING && session->wait != PX_WAIT_IDLE;
    if (session->own.begun->alone || session->own.begun->kept != NULL || waits)
        return false;
    for (size_t i = 0; i < replies->count; i++) {
        const px_reply *reply = px_replies_at(replies, i);
        if (reply->asks || reply->unseen || reply->describe_plan)
            return false;
    }
    return true;
}

/* Fails a transaction whose BEGIN the client takes for done, but was refused (a cancel has hit it).
 * What stands behind it was not run, and gets the error. */
static px_fate on_begun_failed(px_session *session, pgw_slice body)
{
    px_replies *replies = &session->pending.replies;
    if (!is_followed_by_the_client(session)) {
        pgw_error error;
        pgw_error_read(body, &error);
        end_by(session, &error);
        return PX_HIDE;
    }
    bool query = ends_with_query(replies), unsynced = session->own.unsynced;
    session->own.begun->state = PX_BEGUN_FAILED;
    px_fate what = show_error(session, NULL, body);
    skip_to_sync(session);
    if (query && unsynced)
        sync_behind_query(session);
    if (replies->count > 0) { /* the client's Sync has come already */
        px_replies_head(replies)->swallow = true;
        px_riding_fail_there(session);
    }
    return what;
}

/* Keeps the error of a kept statement: its client hears of it by the answer to what it sends next.
 */
static px_fate on_kept_failed(px_session *session, pgw_slice body)
{
    px_begun *begun = session->own.begun;
    size_t number = px_replies_head(&session->pending.replies)->kept;
    if (number == PX_KEPT_NONE) {
        pgw_buf_add_slice(&begun->failure, body);
    } else {
        const px_kept_statement *failed = &begun->kept->all[number - 1];
        if (failed->text != NULL)
            px_text_read(session->worker, failed->text, &session->who.identity->env);
        px_error_of_kept(failed, number, body, &begun->failure);
    }
    px_error_explain(session->worker, session->who.identity, px_changes_for_errors(session), true,
                     &begun->failure);
    begun->state = PX_BEGUN_THERE;
    px_riding_is_ordinary(session);
    skip_to_sync(session);
    return PX_HIDE;
}

bool px_failure_begun_again(px_session *session)
{
    pgw_error error;
    bool failed = session->own.status == 'E';
    if (failed)
        px_riding_arrived(session);
    else
        pgw_fail(&error, "08006", "a transaction that was to fail could not be begun");
    if (!failed)
        end_by(session, &error);
    return failed;
}

static px_fate on_failure(px_session *session, pgw_slice body)
{
    px_reply *head = px_replies_head(&session->pending.replies);
    px_own_heard_error(&session->own, px_error_is_fatal(body));
    if (head != NULL && head->begins && !session->own.fatal)
        return on_begun_failed(session, body);
    if (head != NULL && head->kept > 0 && !session->own.fatal)
        return on_kept_failed(session, body);
    if (session->own.fatal && px_own_link_is_replaceable(session)) {
        px_own_heard_error(&session->own, false);
        return PX_HIDE; /* the session goes on with another link */
    }
    if (head != NULL && head->asks)
        return on_question_failed(session, body);
    /* The error that ends the session is shown though the reply is silent. */
    if (session->own.fatal && head != NULL && head->silent)
        return show_error(session, NULL, body);
    bool describing = skips_describing(session);
    bool again = notice_stale(session, head, body) && describing && describe_again(session);
    bool described = describing && !again;
    bool later = described && px_forward_fails(session, body);
    bool hidden = again || later || (head != NULL && head->silent);
    px_split_query_fail(session);
    px_fate what = hidden ? PX_HIDE : show_error(session, head, body);
    px_own_end_copy_in(&session->own);
    if (described && !later)
        px_describe_refused(session);
    if (head != NULL && head->kind != PX_REPLY_QUERY && head->kind != PX_REPLY_SYNC)
        skip_to_sync(session);
    return what;
}

px_fate px_failure_notice(px_session *session, const px_reply *head, pgw_slice body)
{
    pgw_buf told = {0};
    if (session->own.copy == NULL)
        return on_notice(session, head, body);
    px_copy_error(session->own.copy, body, false, &told);
    px_fate what = on_notice(session, head, pgw_slice_buf(&told));
    pgw_buf_free(&told);
    return what;
}

px_fate px_failure(px_session *session, pgw_slice body)
{
    pgw_buf told = {0};
    if (session->own.copy == NULL)
        return on_failure(session, body);
    px_copy_error(session->own.copy, body, true, &told);
    px_copied_over(session);
    px_fate what = on_failure(session, pgw_slice_buf(&told));
    if (what == PX_SHOW) {
        px_failure_put(session, 'E', &told);
        what = PX_INSTEAD;
    }
    pgw_buf_free(&told);
    return what;
}
