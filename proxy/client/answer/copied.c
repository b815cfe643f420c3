#include "proxy/client/answer/copied.h"

#include "protocol/frontend.h"
#include "proxy/client/core/session.h"
#include "proxy/client/core/settings.h"
#include "proxy/ingest/copy.h"
#include "proxy/ingest/lookups.h"

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
    for (size_t i = session->own.copy != NULL; i < replies->count;
         i++) /* The first may be under way. */
        if (copy_of(px_replies_at(replies, i)) != NULL)
            return true;
    return false;
}

/* --- in batches --- */

/* A batch was answered: the client may go on, or the server's own COPY, which has got no row, is to
 * fail. */
static void on_moved(void *owner)
{
    px_session *session = owner;
    const px_load *load = px_copy_loads(session->own.copy);
    if (session->own.copy_in && px_load_is_settled(load) && px_load_error(load).len > 0) {
        pgw_buf out = {0};
        pgw_write_copy_fail("a batch of its rows has failed", &out);
        px_session_send(session, &out);
        pgw_buf_free(&out);
        session->own.copy_in = false;
    }
    px_stream_resume(session->peer.stream);
    px_session_look(session);
}

static void on_notice(void *owner, pgw_slice body)
{
    px_session *session = owner;
    pgw_buf out = {0};
    size_t begun = pgw_begin(&out, 'N');
    px_copy_error(session->own.copy, body, false, &out);
    pgw_certainly(pgw_end(&out, begun));
    if (!px_session_relays_part(session))
        px_stream_put_buf(session->peer.stream, &out);
    pgw_buf_free(&out);
}

static const px_load_ops load_ops = {on_moved, on_notice};

/* Whether its rows may be stored apart: as the table has it, where nothing else hangs on them, and
 * where other links do with them what the session's own would. */
static bool may_load(const px_session *session, const px_reply *reply)
{
    const rw_table *table = copy_of(reply)->table;
    return table->copied_apart && table->mergeable && !table->reads_settings &&
           reply->kind == PX_REPLY_QUERY && session->own.status == 'I' && !session->who.is_private;
}

static void begin_load(px_session *session, const px_reply *reply)
{
    pgw_buf statement = {0};
    px_text_render(reply->text, NULL, &statement);
    px_copy_load(session->own.copy, session->worker, session->who.identity,
                 pgw_slice_buf(&statement), &load_ops, session);
    pgw_buf_free(&statement);
}

/* The server's own COPY has no row, but what it expects before the first. */
static void send_nothing(px_session *session, const px_load *load)
{
    pgw_buf out = {0};
    size_t begun = pgw_begin(&out, 'd');
    px_load_nothing(load, &out);
    pgw_certainly(pgw_end(&out, begun));
    px_session_send(session, &out);
    pgw_buf_free(&out);
}

bool px_copied_ends(px_session *session, bool whole)
{
    const px_load *load = px_copy_loads(session->own.copy);
    if (load == NULL)
        return true;
    if (whole)
        px_copied_finish(session);
    else
        px_copy_stop(session->own.copy);
    if (!px_load_is_settled(load))
        return false;
    if (whole && px_load_error(load).len == 0)
        send_nothing(session, load);
    return true;
}

bool px_copied_tag(const px_session *session, uint64_t *rows)
{
    const px_load *load = session->own.copy != NULL ? px_copy_loads(session->own.copy) : NULL;
    if (load != NULL)
        *rows = px_load_committed(load);
    return load != NULL;
}

pgw_slice px_copied_failure(const px_session *session, pgw_slice body)
{
    const px_load *load = session->own.copy != NULL ? px_copy_loads(session->own.copy) : NULL;
    return load != NULL && px_load_error(load).len > 0 ? px_load_error(load) : body;
}

/* --- as it comes --- */

void px_copied_begin(px_session *session, const px_reply *reply, pgw_slice body)
{
    px_catalog *catalog = reply->lookups != NULL ? reply->lookups->catalog : reply->text->catalog;
    pgw_buf out = {0};
    px_copied_over(session);
    session->own.copy = px_copy_new(copy_of(reply), catalog, px_settings_env(session));
    if (may_load(session, reply))
        begin_load(session, reply);
    px_copy_response(body, &out);
    px_stream_put_buf(session->peer.stream, &out);
    pgw_buf_free(&out);
    px_session_wake(session, PX_WAIT_IDLE);
}

void px_copied_feed(px_session *session, pgw_slice bytes)
{
    pgw_buf out = {0};
    px_block_begin(&out);
    px_copy_data(session->own.copy, bytes, &out);
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

void px_copied_over(px_session *session)
{
    if (session->own.copy != NULL)
        px_count(session->worker->metrics, PX_COPIED_ROWS, px_copy_rows(session->own.copy));
    px_copy_free(session->own.copy);
    session->own.copy = NULL;
}
