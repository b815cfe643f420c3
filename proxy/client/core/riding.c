#include "proxy/client/core/riding.h"

#include "protocol/frontend.h"
#include "proxy/client/core/ask.h"
#include "proxy/client/core/kept.h"
#include "proxy/client/core/session.h"

#include <stdlib.h>

enum { HEARD_MOST = 1024 * 1024 }; /* bytes; what comes beyond is told at once */

void px_riding_begin(px_session *session, pgw_buf messages, bool closes)
{
    px_begun *begun = session->own.begun = pgw_calloc(1, sizeof *begun);
    begun->since = px_worker_now(session->worker);
    begun->messages = messages;
    begun->unnamed = !closes;
    begun->reason = PX_ORDINARY_STATEMENT;
    px_replies_set_begins(&session->pending.replies, closes ? 5 : 3);
    px_own_set_status(&session->own, 'T');
}

void px_riding_end(px_session *session)
{
    px_begun *begun = session->own.begun;
    if (begun == NULL)
        return;
    pgw_buf_free(&begun->messages);
    pgw_buf_free(&begun->heard);
    pgw_buf_free(&begun->failure);
    pgw_buf_free(&begun->commit.parse);
    px_kept_free(begun->kept);
    free(begun);
    session->own.begun = NULL;
    px_replies_set_begins(&session->pending.replies, 0);
}

/* ---- on its way ---- */

void px_riding_go_alone(px_session *session)
{
    pgw_buf out = {0};
    session->own.begun->alone = true;
    pgw_write_sync(&out);
    px_replies_push(&session->pending.replies, PX_REPLY_SYNC)->swallow = true;
    px_session_send(session, &out);
    pgw_buf_free(&out);
}

bool px_riding_holds_back(const px_session *session)
{
    const px_begun *begun = session->own.begun;
    const px_replies *replies = &session->pending.replies;
    if (begun == NULL || replies->count == 0)
        return false;
    px_reply_kind last = px_replies_at(replies, replies->count - 1)->kind;
    bool over = last == PX_REPLY_QUERY || last == PX_REPLY_SYNC;
    return begun->state == PX_BEGUN_FAILED || (begun->state == PX_BEGUN_SENT && over);
}

void px_riding_arrived(px_session *session)
{
    px_begun *begun = session->own.begun;
    begun->state = PX_BEGUN_THERE;
    if (begun->heard.len == 0 && !begun->lazy && begun->failure.len == 0)
        px_riding_end(session);
}

void px_riding_is_ordinary(px_session *session)
{
    px_begun *begun = session->own.begun;
    if (begun == NULL)
        return;
    begun->lazy = false;
    px_kept_free(begun->kept);
    begun->kept = NULL;
    if (begun->state == PX_BEGUN_THERE)
        px_riding_arrived(session);
}

/* ---- what is heard meanwhile ---- */

bool px_riding_hears(px_session *session, pgw_slice body)
{
    px_riding_tell(
        session); /* The server itself sends notifications only when the transaction has ended. */
    px_begun *begun = session->own.begun;
    if (begun == NULL || begun->heard.len + body.len > HEARD_MOST)
        return false;
    size_t at = pgw_begin(&begun->heard, 'A');
    pgw_buf_add_slice(&begun->heard, body);
    pgw_end_small(&begun->heard, at);
    if (begun->state == PX_BEGUN_HERE) /* the server itself holds back what comes then */
        px_riding_go_alone(session);
    return true;
}

void px_riding_tell(px_session *session)
{
    px_begun *begun = session->own.begun;
    if (begun == NULL || begun->state != PX_BEGUN_THERE)
        return;
    px_session_put(session, &begun->heard);
    px_riding_end(session);
}

/* ---- refused ---- */

void px_riding_fail_there(px_session *session)
{
    static const char *const statements[] = {"begin", "rollback to \"refused by keyspread\""};
    px_reply *sync = px_ask_silently(session, statements, 2);
    sync->unseen = PX_UNSEEN_BEGUN;
    sync->swallow = false; /* the client has yet to hear that it is ready */
}
