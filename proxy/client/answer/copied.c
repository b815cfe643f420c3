#include "proxy/client/answer/copied.h"

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

void px_copied_begin(px_session *session, const px_reply *reply, pgw_slice body)
{
    px_catalog *catalog = reply->lookups != NULL ? reply->lookups->catalog : reply->text->catalog;
    pgw_buf out = {0};
    px_copied_over(session);
    session->own.copy = px_copy_new(copy_of(reply), catalog, px_settings_env(session));
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
