#include "proxy/client/core/terminate.h"

#include "proxy/client/core/session.h"

bool px_terminate_has_to_wait(const px_session *session)
{
    return session->own.ready && session->pending.replies.count > 0;
}

void px_terminate(px_session *session)
{
    px_peer_leave(&session->peer);
    if (px_terminate_has_to_wait(session))
        px_link_finish(session->own.link); /* the server sees the end of the client, too */
    else
        px_stream_finish(session->peer.stream);
}

/* Whether the head is the last thing on the link, sent as a whole. */
static bool is_last(const px_replies *replies)
{
    const px_reply *first = px_replies_at(replies, 0);
    bool query = first->kind == PX_REPLY_QUERY && replies->count == 1;
    bool execute = first->kind == PX_REPLY_EXECUTE && replies->count == 2 &&
                   px_replies_at(replies, 1)->kind == PX_REPLY_SYNC;
    return (query || execute) && !first->swallow && !first->part;
}

void px_terminate_unheard(px_session *session)
{
    enum {
        SENT_AT_ONCE = 8192
    }; /* PostgreSQL's own buffer: less may end without a send that fails */
    if (px_terminate_has_to_wait(session) && session->hand.streaming == 0 &&
        is_last(&session->pending.replies) && !px_link_cancelling(session->own.link) &&
        px_stream_take_unheard(session->peer.stream) > SENT_AT_ONCE)
        px_link_cancel(session->own.link);
}

/* Whether the backend owes a ReadyForQuery. Before it ends, it does not answer what no Sync stood
 * behind, nor a message that never came whole. */
static bool owes_ready(const px_session *session)
{
    const px_replies *replies = &session->pending.replies;
    size_t whole = replies->count - (session->hand.streaming > 0 && replies->count > 0);
    for (size_t i = 0; i < whole; i++) {
        const px_reply *reply = px_replies_at(replies, i);
        bool ends = reply->kind == PX_REPLY_QUERY || reply->kind == PX_REPLY_SYNC;
        if (ends && !reply->swallow) /* the client is not owed what only keyspread asked for */
            return true;
    }
    return false;
}

bool px_terminate_is_said(px_session *session)
{
    if (!session->peer.leaving || (owes_ready(session) && !session->own.fatal))
        return false;
    px_stream_finish(session->peer.stream);
    return true;
}
