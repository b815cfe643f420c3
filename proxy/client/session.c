#include "proxy/client/session.h"

#include "protocol/backend.h"
#include "proxy/base/address.h"
#include "proxy/base/log.h"

#include <assert.h>

/* ---- states ---- */

void px_session_set_state(px_session *session, px_session_state state)
{
    session->state = state;
}

void px_session_set_wait(px_session *session, px_wait wait)
{
    session->wait = wait;
}

bool px_session_idle(const px_session *session)
{
    return session->replies.count == 0 && !session->unsynced && session->status == 'I' &&
           session->streaming == 0;
}

bool px_session_relays_part(const px_session *session)
{
    return session->reply_left > 0 && !session->reply_dropped;
}

/* Whoever does not read what it is owed is not read on: its answers would fill the memory. */
static bool is_owed_much(const px_session *session)
{
    return px_stream_pending(session->stream) >= PX_STREAM_HIGH ||
           session->replies.count >= PX_REPLIES_MOST ||
           session->replies.text_bytes >= PX_REPLIES_BYTES;
}

bool px_session_is_read(const px_session *session)
{
    if (session->wait != PX_WAIT_NOTHING || session->leaving || session->fatal ||
        is_owed_much(session))
        return false;
    return !session->link_ready ||
           (!px_link_cancelling(session->link) && px_link_pending(session->link) < PX_STREAM_HIGH);
}

px_standing px_session_standing(const px_session *session)
{
    return (px_standing){.identity = session->identity,
                         .private_session = session->private_session,
                         .output_changed = session->output_changed,
                         .touched = session->own.touched,
                         .in_transaction = session->status != 'I',
                         .own_link = session->link_ready};
}

/* ---- what it says, and to whom ---- */

void px_session_send(px_session *session, const pgw_buf *bytes)
{
    px_link_send_buf(session->link, bytes);
}

void px_session_put(px_session *session, const pgw_buf *bytes)
{
    px_stream_put_buf(session->stream, bytes);
}

void px_session_drop_group(px_session *session)
{
    px_group_clear(&session->group);
    session->units.repeated = false;
}

/* ---- the own link ---- */

void px_session_open_link(px_session *session)
{
    if (session->link == NULL)
        session->link = px_link_open(session->worker, PX_LINK_SESSION, session->identity, NULL,
                                     session->life->link, session);
}

bool px_session_need_link(px_session *session)
{
    if (session->link_ready)
        return true;
    px_session_open_link(session);
    px_session_set_wait(session, PX_WAIT_LINK);
    return false;
}

bool px_session_take_link(px_session *session)
{
    unsigned most = session->worker->config->backend.max_links / 2;
    session->link =
        px_link_open_of(session->worker, most, session->identity, session->life->link, session);
    return session->link != NULL;
}

/* ---- being looked at again ---- */

static void run_woken(px_worker *worker, px_message *message)
{
    (void)worker;
    px_session *session = (px_session *)((char *)message - offsetof(px_session, woken));
    session->is_woken = false;
    session->life->look(session);
}

void px_session_look(px_session *session)
{
    if (session->is_woken || session->state == PX_CLOSING)
        return;
    session->is_woken = true;
    session->woken.run = run_woken;
    px_worker_send(session->worker, &session->woken);
}

void px_session_wake(px_session *session, px_wait wait)
{
    if (session->wait == wait && wait != PX_WAIT_UNIT)
        px_session_set_wait(session, PX_WAIT_NOTHING);
    px_session_look(session);
}

/* ---- the end ---- */

void px_session_close(px_session *session, const char *reason)
{
    if (session->state == PX_CLOSING)
        return;
    px_log(CFG_LOG_DEBUG, "client_closed", "worker=%u slot=%zu reason=%s", session->worker->index,
           session->slot, reason);
    session->life->end(session);
}

/* At a message's boundary alone; else the end speaks for itself, as PostgreSQL's would. */
static void tell_fatal(px_session *session, const pgw_error *error)
{
    pgw_buf out = {0};
    if (px_session_relays_part(session))
        return;
    (session->old_protocol ? pgw_error_write_old : pgw_error_write)(error, "FATAL", &out);
    px_stream_put_buf(session->stream, &out);
    pgw_buf_free(&out);
}

void px_session_fatal(px_session *session, const pgw_error *error)
{
    tell_fatal(session, error);
    px_count_error(session->worker->metrics, pgw_slice_str(error->sqlstate));
    if (session->state != PX_READY)
        px_count_login(session->worker->metrics, error->sqlstate);
    px_log(CFG_LOG_INFO, "client_fatal", "sqlstate=%s client=%s worker=%u slot=%zu",
           error->sqlstate, px_address_text(session->address), session->worker->index,
           session->slot);
    px_session_close(session, error->sqlstate);
}
