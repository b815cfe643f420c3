#include "proxy/client/core/goodbye.h"

#include "proxy/client/core/session.h"

bool px_goodbye_has_to_wait(const px_session *session)
{
    return session->own.ready && session->pending.replies.count > 0;
}

void px_goodbye(px_session *session)
{
    session->peer.leaving = true;
    if (px_goodbye_has_to_wait(session))
        px_link_finish(session->own.link); /* it sees the end of the client, too */
    else
        px_stream_finish(session->peer.stream);
}

/* What the backend does not answer before it ends is what no Sync stood behind, and a message that
 * never came whole. */
static bool owes_ready(const px_session *session)
{
    const px_replies *replies = &session->pending.replies;
    size_t whole = replies->count - (session->hand.streaming > 0 && replies->count > 0);
    for (size_t i = 0; i < whole; i++) {
        const px_reply *reply = px_replies_at(replies, i);
        bool ends = reply->kind == PX_REPLY_QUERY || reply->kind == PX_REPLY_SYNC;
        if (ends && !reply->swallow) /* what only we asked for is owed to nobody */
            return true;
    }
    return false;
}

bool px_goodbye_is_said(px_session *session)
{
    if (!session->peer.leaving || (owes_ready(session) && !session->own.fatal))
        return false;
    px_stream_finish(session->peer.stream);
    return true;
}
