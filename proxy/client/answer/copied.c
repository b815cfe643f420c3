#include "proxy/client/answer/copied.h"

#include "protocol/frontend.h"
#include "proxy/backend/base/greeting.h"
#include "proxy/base/loading.h"
#include "proxy/base/shared.h"
#include "proxy/client/core/session.h"
#include "proxy/client/core/settings.h"
#include "proxy/client/numbers/sequence_session.h"
#include "proxy/client/standing/changes.h"
#include "proxy/ingest/copy.h"
#include "proxy/ingest/lookups.h"
#include "rewrite/statement/copy/staged.h"

static const rw_copy *copy_of(const px_reply *reply)
{
    const px_text *text = reply->text;
    if (reply->kind == PX_REPLY_EXECUTE)
        return reply->lookups != NULL ? reply->lookups->copy : NULL;
    return text != NULL && reply->kind == PX_REPLY_QUERY && reply->at < text->script.count
               ? text->script.statements[reply->at].copy
               : NULL;
}

bool px_copied_is(const px_reply *reply)
{
    return reply != NULL && copy_of(reply) != NULL;
}

bool px_copied_is_owed(const px_session *session)
{
    const px_replies *replies = &session->pending.replies;
    /* The first reply may be that of a COPY under way. */
    for (size_t i = session->own.copy != NULL; i < replies->count; i++)
        if (copy_of(px_replies_at(replies, i)) != NULL)
            return true;
    return false;
}

/* --- in batches --- */

static const px_load *load_of(const px_session *session)
{
    return session->own.copy != NULL ? px_copy_loads(session->own.copy) : NULL;
}

bool px_copied_is_apart(const px_session *session)
{
    return load_of(session) != NULL;
}

bool px_copied_is_under_way(const px_session *session)
{
    const px_load *load = load_of(session);
    return load != NULL && (session->own.copy_in || !px_load_is_settled(load));
}

/* Goes on when a batch was answered: the client may send more, or is told that a batch has failed.
 */
static void on_moved(void *submitter)
{
    px_session *session = submitter;
    const px_load *load = load_of(session);
    if (px_load_is_settled(load) && px_load_error(load).len > 0)
        px_own_end_copy_in(&session->own);
    px_stream_resume(session->peer.stream);
    px_session_look(session);
}

static void on_notice(void *submitter, pgw_slice body)
{
    px_session *session = submitter;
    pgw_buf out = {0};
    size_t begun = pgw_begin(&out, 'N');
    px_copy_error(session->own.copy, body, false, &out);
    pgw_certainly(pgw_end(&out, begun));
    px_stream_put_buf(session->peer.stream, &out);
    pgw_buf_free(&out);
}

static const px_load_ops load_ops = {on_moved, on_notice};

static bool wants_load(const px_session *session, const rw_table *table)
{
    rw_own_word says = session->known.now.says[RW_OWN_COPY];
    return says == RW_SAYS_NOTHING ? table->copied_apart : says == RW_SAYS_PARTITION;
}

/* What becomes of rows that are there already: as the session or else the table has it. */
static rw_copy_conflict conflict_of(const px_session *session, const rw_table *table)
{
    rw_own_word says = session->known.now.says[RW_OWN_COPY_ON_CONFLICT];
    return says == RW_SAYS_NOTHING      ? table->copy_conflict
           : says == RW_SAYS_DO_NOTHING ? RW_COPY_CONFLICT_NOTHING
           : says == RW_SAYS_UPDATE     ? RW_COPY_CONFLICT_UPDATE
                                        : RW_COPY_CONFLICT_ERROR;
}

/* Whether its rows may be stored apart: as the session or else the table has it, where nothing else
 * hangs on them, and where other links do with them what the session's own would. */
static bool may_load(const px_session *session, const px_reply *reply)
{
    const rw_copy *copy = copy_of(reply);
    const rw_table *table = copy->table;
    return wants_load(session, table) && table->mergeable && !table->reads_settings &&
           reply->kind == PX_REPLY_QUERY && session->own.status == 'I' &&
           !session->who.is_private && copy->data.header != PGW_COPY_HEADER_MATCH;
}

/* Has rows staged in a temporary table, where rows that are there already are no error. */
static void stage(px_session *session, const rw_copy *copy, pgw_slice sent, px_load *load)
{
    rw_staged staged;
    rw_copy_conflict conflict = conflict_of(session, copy->table);
    if (conflict == RW_COPY_CONFLICT_ERROR)
        return;
    rw_copy_stage(copy, sent, session->who.identity->env.conforming,
                  conflict == RW_COPY_CONFLICT_UPDATE, &staged);
    px_load_stage(load, pgw_slice_buf(&staged.create), pgw_slice_buf(&staged.statement));
    pgw_buf_free(&staged.create);
    pgw_buf_free(&staged.statement);
}

/* Begins a COPY in batches. The server's own COPY gets no row and ends at once, so that it holds no
 * locks. What it says is looked at when all batches are answered. */
static void begin_load(px_session *session, const px_reply *reply)
{
    static const char nothing[] = "PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0\0\377\377";
    pgw_buf out = {0};
    px_text_render(reply->text, NULL, &out);
    px_load *load = px_copy_load(session->own.copy, session->worker, session->who.identity,
                                 pgw_slice_buf(&out), &load_ops, session);
    stage(session, copy_of(reply), pgw_slice_buf(&out), load);
    pgw_buf_clear(&out);
    if (copy_of(reply)->data.format == PGW_COPY_BINARY) {
        size_t begun = pgw_begin(&out, 'd');
        pgw_buf_add(&out, nothing, sizeof nothing - 1);
        pgw_certainly(pgw_end(&out, begun));
    }
    size_t begun = pgw_begin(&out, 'c');
    pgw_certainly(pgw_end(&out, begun));
    px_session_send(session, &out);
    pgw_buf_free(&out);
}

/* Gives up a COPY because of its client: no more of it is stored. */
static void give_up(px_session *session, const char *what, pgw_slice reason)
{
    pgw_buf message = {0};
    pgw_buf_add_str(&message, what);
    pgw_buf_add(&message, reason.ptr, strnlen(reason.ptr, reason.len));
    pgw_buf_add_byte(&message, '\0');
    px_copy_refuse(session->own.copy, "57014", message.ptr);
    pgw_buf_free(&message);
}

bool px_copied_ends(px_session *session, const pgw_slice *reason)
{
    if (reason == NULL)
        px_copied_finish(session);
    else
        give_up(session, "COPY from stdin failed: ", *reason);
    if (!px_load_is_settled(load_of(session)))
        return false;
    px_own_end_copy_in(&session->own);
    px_session_look(session);
    return true;
}

bool px_copied_cancel(px_session *session)
{
    if (!px_copied_is_under_way(session))
        return false;
    give_up(session, "canceling statement due to user request", PGW_LITERAL(""));
    return true;
}

uint64_t px_copied_rows(const px_session *session)
{
    return px_load_committed(load_of(session));
}

pgw_slice px_copied_failure(const px_session *session)
{
    return px_load_error(load_of(session));
}

/* --- keys that are drawn, or there already --- */

/* Whether the COPY may meet rows that are there: where they are no error, the data has to say which
 * these are, and the server has to have temporary tables. */
static bool may_be_repeated(const px_session *session, const rw_copy *copy, pgw_error *error)
{
    bool stages = session->worker->config->backend.dialect != CFG_DIALECT_YDB;
    if (!wants_load(session, copy->table) ||
        conflict_of(session, copy->table) == RW_COPY_CONFLICT_ERROR ||
        (stages && copy->keyed && copy->data.marker.ptr == NULL))
        return true;
    pgw_fail(error, "0A000", "cannot COPY into table \"%s\" with copy_on_conflict: %s",
             copy->table->name,
             !stages       ? "YDB has no temporary tables"
             : copy->keyed ? "it has a DEFAULT string"
                           : "its columns are without one of the key");
    pgw_error_hint(error, "%sSET keyspread.copy_on_conflict TO error.",
                   !stages       ? ""
                   : copy->keyed ? "Leave out DEFAULT, or "
                                 : "List all columns of the primary key, or ");
    return false;
}

bool px_copied_may_begin(const px_session *session, const rw_copy *copy, pgw_error *error)
{
    static const rw_own_setting settings[] = {RW_OWN_COPY, RW_OWN_COPY_ON_CONFLICT};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (session->known.now.says[settings[i]] == RW_SAYS_WRONG)
            return rw_own_refuse(settings[i], (pgw_slice){NULL, 0}, error);
    if (!may_be_repeated(session, copy, error))
        return false;
    if (copy->drawn == NULL || (!session->who.is_private && px_changes_own(session) == NULL))
        return true;
    pgw_fail(error, "0A000", "cannot draw values of column \"%s\" for a COPY: %s",
             copy->drawn->name,
             session->who.is_private ? "the session has another role or other settings"
                                     : "its transaction has changed tables");
    pgw_error_hint(error, "List the column, and write its values into the data; or use INSERT.");
    return false;
}

/* Goes on when numbers have come, or none will. */
static void on_numbers(void *submitter)
{
    px_session *session = submitter;
    px_copied_feed(session, PGW_LITERAL(""));
    if (px_copy_lacks_numbers(session->own.copy) && !px_copied_is_apart(session) &&
        session->own.copy_in) {
        pgw_buf out = {0};
        pgw_write_copy_fail("keys cannot be drawn", &out);
        px_own_end_copy_in(&session->own);
        px_session_send(session, &out);
        pgw_buf_free(&out);
    }
    px_stream_resume(session->peer.stream);
    px_session_look(session);
}

/* --- as it comes --- */

void px_copied_begin(px_session *session, const px_reply *reply, pgw_slice body)
{
    px_catalog *catalog = reply->lookups != NULL ? reply->lookups->catalog : reply->text->catalog;
    pgw_buf out = {0};
    px_copied_over(session);
    const char *server = px_greeting_value(session->who.greeting, "server_encoding");
    session->own.copy = px_copy_new(copy_of(reply), catalog, px_settings_env(session),
                                    session->who.written.encoding, server != NULL ? server : "");
    px_count(session->worker->metrics, PX_COPIES_BEGUN, 1);
    if (copy_of(reply)->drawn != NULL)
        px_copy_draw(session->own.copy, session->worker, session->who.identity, on_numbers,
                     session);
    if (may_load(session, reply))
        begin_load(session, reply);
    session->own.loading = px_loading_begin(
        session->worker->server->loading, session->peer.pid, session->who.identity->database,
        copy_of(reply)->table->name, px_copied_is_apart(session) ? "partition" : "atomic");
    px_copy_response(session->own.copy, body, &out);
    px_stream_put_buf(session->peer.stream, &out);
    pgw_buf_free(&out);
    px_session_wake(session, PX_WAIT_IDLE);
}

/* Counts bytes and rows while they come, so that a COPY is seen to go on. */
static void count(px_session *session, uint64_t bytes)
{
    uint64_t rows = px_copy_rows_since(session->own.copy);
    px_count(session->worker->metrics, PX_COPIED_BYTES, bytes);
    px_count(session->worker->metrics, PX_COPIED_ROWS, rows);
    px_loading_more(session->own.loading, bytes, rows);
}

void px_copied_feed(px_session *session, pgw_slice bytes)
{
    pgw_buf out = {0};
    px_block_begin(&out);
    px_copy_data(session->own.copy, bytes, &out);
    count(session, bytes.len);
    px_session_send_begun(session);
    px_link_give(session->own.link, &out);
}

void px_copied_finish(px_session *session)
{
    pgw_buf out = {0};
    px_copy_end(session->own.copy, &out);
    px_session_send(session, &out);
    pgw_buf_free(&out);
}

/* Notes the last number that the COPY has drawn, which lastval() tells from now on. */
static void note_drawn(px_session *session)
{
    uint32_t sequence = 0;
    int64_t number = 0;
    bool drawn = px_copy_drawn(session->own.copy, &sequence, &number);
    if (drawn)
        px_sequence_session_ahead(session, sequence, number);
}

void px_copied_over(px_session *session)
{
    if (session->own.copy == NULL)
        return;
    note_drawn(session);
    count(session, 0);
    px_count(session->worker->metrics, PX_COPIES_ENDED, 1);
    px_loading_end(session->worker->server->loading, session->own.loading);
    session->own.loading = NULL;
    px_copy_free(session->own.copy);
    session->own.copy = NULL;
}
