#include "proxy/client/core/ask.h"

#include "protocol/frontend.h"

static px_reply *push(px_session *session, px_reply_kind kind, px_asks asks)
{
    px_reply *reply = px_replies_push(&session->pending.replies, kind);
    reply->swallow = true;
    reply->asks = asks;
    reply->silent = asks == PX_ASKS_AHEAD;
    return reply;
}

/* A walsender takes no extended protocol. */
static bool asks_by_query(const px_session *session)
{
    return session->who.identity->replication != NULL;
}

void px_ask(px_session *session, pgw_slice sql, px_asks asks, pgw_buf *out)
{
    px_ask_with(session, sql, NULL, asks, out);
}

void px_ask_with(px_session *session, pgw_slice sql, const px_unseen_values *values, px_asks asks,
                 pgw_buf *out)
{
    static const px_reply_kind kinds[] = {PX_REPLY_CLOSE,   PX_REPLY_PARSE, PX_REPLY_BIND,
                                          PX_REPLY_EXECUTE, PX_REPLY_CLOSE, PX_REPLY_CLOSE};
    if (asks_by_query(session)) {
        pgw_certainly(pgw_write_query(sql, out));
        push(session, PX_REPLY_QUERY, asks)->unseen = PX_UNSEEN_QUESTION;
    } else {
        pgw_certainly(px_unseen_write(PX_ASK_NAME, sql, values, out));
        for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
            push(session, kinds[i], asks);
    }
    session->known.asking += asks == PX_ASKS_STATE || asks == PX_ASKS_KEYS;
}

void px_ask_heard(px_session *session)
{
    session->known.asking--;
}

void px_ask_nothing(px_session *session)
{
    session->known.asking = 0;
}

void px_ask_send(px_session *session, px_asks asks, pgw_buf *out)
{
    if (session->own.unsynced) {
        pgw_write_flush(out);
    } else if (!asks_by_query(session)) {
        pgw_write_sync(out);
        push(session, PX_REPLY_SYNC, asks);
    }
    px_session_send(session, out);
    pgw_buf_free(out);
}

px_reply *px_ask_silently(px_session *session, const char *const *statements, size_t count)
{
    px_replies *replies = &session->pending.replies;
    size_t first = replies->count;
    pgw_buf out = {0};
    for (size_t i = 0; i < count; i++)
        px_ask(session, pgw_slice_str(statements[i]), PX_ASKS_NOTHING, &out);
    pgw_write_sync(&out);
    push(session, PX_REPLY_SYNC, PX_ASKS_NOTHING);
    for (size_t i = first; i < replies->count; i++)
        px_replies_at(replies, i)->silent = true;
    px_session_send(session, &out);
    pgw_buf_free(&out);
    return px_replies_at(replies, replies->count - 1);
}

px_step px_ask_for_answers(px_session *session)
{
    pgw_buf out = {0};
    pgw_write_flush(&out);
    if (session->own.unsynced)
        px_session_send(session, &out);
    pgw_buf_free(&out);
    return PX_WAIT_IDLE;
}

void px_ask_between(px_session *session, pgw_slice sql)
{
    pgw_buf out = {0};
    if (sql.len == 0)
        return;
    px_ask(session, sql, PX_ASKS_NOTHING, &out);
    px_session_send(session, &out);
    pgw_buf_free(&out);
}
