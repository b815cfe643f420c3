#include "proxy/client/door/session_io.h"

#include "protocol/backend.h"
#include "proxy/backend/base/databases.h"
#include "proxy/backend/base/greeting.h"
#include "proxy/backend/base/pids.h"
#include "proxy/base/log.h"
#include "proxy/base/shared.h"
#include "proxy/client/answer/copied.h"
#include "proxy/client/answer/outcome.h"
#include "proxy/client/answer/split_query.h"
#include "proxy/client/answer/refuse.h"
#include "proxy/client/answer/input_budget.h"
#include "proxy/client/answer/relay.h"
#include "proxy/client/core/terminate.h"
#include "proxy/client/core/parsed.h"
#include "proxy/client/core/riding.h"
#include "proxy/client/core/session.h"
#include "proxy/client/core/sessions.h"
#include "proxy/client/core/settings.h"
#include "proxy/client/door/preauth.h"
#include "proxy/client/door/login.h"
#include "proxy/client/link/own_link.h"
#include "proxy/client/link/schema_probe.h"
#include "proxy/client/message/lazy.h"
#include "proxy/client/message/reply.h"
#include "proxy/client/message/request.h"
#include "proxy/client/numbers/keys.h"
#include "proxy/client/numbers/sequence_refill.h"
#include "proxy/client/standing/changes.h"
#include "proxy/client/standing/describe.h"
#include "proxy/client/standing/dirty.h"
#include "proxy/ingest/submit.h"
#include "proxy/loop/tls.h"

#include <assert.h>
#include <stdlib.h>

enum { LEFT_BY_ONE = 4096 }; /* bytes, about, that a session needed */

/* ---- the end ---- */

static _Atomic unsigned *counter(px_session *session)
{
    px_server *server = session->worker->server;
    return session->state == PX_READY ? &server->clients : &server->unauthenticated;
}

static void leave_preauth(px_session *session)
{
    px_guest_leave(px_peer_take_guest(&session->peer));
}

static void free_session(void *owner)
{
    px_session *session = owner;
    assert(!session->is_woken); /* it is freed on a later turn */
    px_login_free(px_peer_take_login(&session->peer));
    px_peer_free(&session->peer);
    px_settings_free(session);
    px_state_free(&session->known);
    px_prepared_names_free(&session->names);
    px_riding_end(session);
    px_replies_clear(&session->pending.replies);
    px_session_drop_group(session);
    px_group_free(&session->group);
    px_schema_probe_free(session);
    px_keys_forget(session);
    px_parsed_forget(session);
    px_split_query_forget(session);
    px_sequence_refill_end(session, false);
    px_copied_over(session);
    pgw_buf_free(&session->hand.rewritten);
    px_relay_forget_rest(session);
    px_changes_ask_anew(session);
    px_changes_free(session);
    free(session);
}

static void end(px_session *session)
{
    leave_preauth(session);
    atomic_fetch_sub(counter(session), 1);
    bool was_ready = session->state == PX_READY;
    px_session_set_state(session, PX_CLOSING);
    px_catalog_forget(session->worker, session);
    px_changes_end(session);
    px_describe_give_up(session);
    px_submit_leave(&session->write_groups);
    px_input_budget_leave(session);
    if (session->own.link != NULL && session->hand.streaming > 0 && !session->hand.dropped)
        px_link_leave_unfinished(session->own.link);
    if (session->own.link != NULL)
        px_link_close(session->own.link);
    px_own_drop_link(&session->own);
    px_pids_drop(session->worker->server->pids, session->peer.pid);
    if (was_ready)
        px_databases_leave(session->worker->server->databases, session->who.identity->database);
    px_sessions_leave(session);
    px_worker_let_go(session->worker, LEFT_BY_ONE);
    px_stream_close(session->peer.stream, free_session);
}

/* ---- the beginning ---- */

/* The client was greeted, and counted as one that is logged in: its statements are looked at from
 * now on. */
static void greeted(px_session *session)
{
    px_login_free(px_peer_take_login(&session->peer));
    leave_preauth(session);
    atomic_fetch_sub(counter(session), 1);
    px_session_set_state(session, PX_READY);
    px_count_login(session->worker->metrics, NULL);
    px_settings_begin(session);
    px_databases_enter(session->worker->server->databases, session->who.identity->database);
    px_batcher_expect(session->worker, session->who.identity);
    px_log(CFG_LOG_DEBUG, "client_ready", "worker=%u slot=%zu", session->worker->index,
           session->slot);
}

/* ---- the own link ---- */

static void on_link_ready(px_link *link)
{
    px_session *session = px_link_owner(link);
    px_own_set_ready(&session->own);
    px_state_forget(session);
    if (session->state == PX_WELCOME) {
        px_settings_greet(session, px_link_greeting(link));
        if (px_login_greet(session) == PX_LOGIN_GREETED)
            greeted(session);
        px_request_process(session);
        return;
    }
    px_settings_of_link(session);
    px_session_wake(session, PX_WAIT_LINK);
}

static void tell_admitted(px_session *session)
{
    pgw_buf out = {0};
    pgw_write_authentication_ok(&out);
    px_stream_put_buf(session->peer.stream, &out);
    pgw_buf_free(&out);
}

static void on_link_failed(px_link *link, const pgw_error *error)
{
    px_session *session = px_link_owner(link);
    px_own_drop_link(&session->own);
    px_log(CFG_LOG_WARN, "link_failed", "sqlstate=%s worker=%u", error->sqlstate,
           session->worker->index);
    if (session->state == PX_WELCOME) {
        if (px_link_was_admitted(link)) /* the server has let this user in */
            tell_admitted(session);
        px_session_fatal(session, error);
        return;
    }
    if (session->wait == PX_WAIT_LINK) /* nothing waits for it after a cancel */

        px_refuse_waiting(session, error);
}

static void on_link_message(px_link *link)
{
    px_reply_input(px_link_owner(link));
}

static void on_link_drained(px_link *link)
{
    px_session *session = px_link_owner(link);
    px_stream_resume(session->peer.stream);
    px_request_process(session);
}

static void on_link_lost(px_link *link, const char *reason)
{
    px_session *session = px_link_owner(link);
    if (px_submitted(&session->write_groups)) {
        px_own_set_gone(&session->own);
        px_link_pause(link);
        return;
    }
    px_reply_input(session); /* the link's last messages, perhaps a FATAL error */
    if (session->state != PX_CLOSING && session->own.link == link)
        px_own_link_lose(session, reason);
}

static bool on_link_refused(px_link *link)
{
    (void)link;
    return true;
}

/* A write group is back: what the own link said while it was under way comes before the client's
 * next message. */
static void catch_up(px_session *session)
{
    const px_own *own = &session->own;
    px_own_note_rows(&session->own);
    if (!own->ready)
        return;
    if (own->gone) {
        on_link_lost(own->link, "closed by peer");
        return;
    }
    /* It was paused only if it had said much. */
    if (px_link_input(own->link).len > 0 || px_link_is_borrowed(own->link) || own->refill != NULL) {
        px_link_resume(own->link);
        px_reply_input(session);
    }
}

static const px_link_ops link_ops = {on_link_ready,   on_link_failed, on_link_message,
                                     on_link_drained, on_link_lost,   on_link_refused};

static void look(px_session *session)
{
    if (session->state == PX_WELCOME && px_login_without_link(session) == PX_LOGIN_GREETED)
        greeted(session);
    if (session->state == PX_READY && session->wait == PX_WAIT_WRITE_GROUP &&
        !px_submitted(&session->write_groups)) {
        session->is_woken = true; /* the session is looked at below in any case */
        catch_up(session);
        session->is_woken = false;
        px_session_end_wait(session, PX_WAIT_WRITE_GROUP);
    }
    if (session->own.copy != NULL && session->state == PX_READY && px_copied_is_apart(session) &&
        !px_copied_is_under_way(session))
        px_reply_input(session);
    px_request_process(session);
}

static const px_session_io life = {look, end, px_lazy_send, &link_ops};

/* ---- the client's stream ---- */

static void on_hello(px_stream *stream, unsigned char first)
{
    px_session *session = px_stream_owner(stream);
    px_guest_heard(session->peer.guest, false);
    px_login_hello(session, first);
}

static void on_input(px_stream *stream)
{
    px_session *session = px_stream_owner(stream);
    if (session->state == PX_STARTUP || session->state == PX_LOGIN) {
        if (px_login_input(session) == PX_LOGIN_GREETED)
            greeted(session);
        px_guest_heard(session->peer.guest, session->state == PX_WELCOME);
    }
    if (session->state == PX_READY)
        px_request_process(session);
    else if (session->state == PX_WELCOME)
        px_stream_pause(session->peer.stream);
}

static void on_drained(px_stream *stream)
{
    px_session *session = px_stream_owner(stream);
    if (session->own.ready) {
        px_link_resume(session->own.link);
        px_reply_input(session);
    }
    px_request_process(session);
}

/* The client sends no more. What it has sent is executed, and what it began is not. */
static void on_end(px_stream *stream, const char *reason)
{
    px_session *session = px_stream_owner(stream);
    if (session->peer.ssl != NULL && !px_tls_is_up(session->peer.ssl))
        px_log(CFG_LOG_INFO, "tls_failed", "client=%s reason=%s",
               px_address_text(session->peer.address), reason);
    if (session->state == PX_STARTUP || session->state == PX_LOGIN ||
        (session->state == PX_WELCOME && px_stream_input(stream).len == 0))
        px_session_close(session, reason);
    else
        px_request_process(session);
}

static void on_finished(px_stream *stream)
{
    px_session_close(px_stream_owner(stream), "the client has left");
}

static const px_stream_ops stream_ops = {.on_hello = on_hello,
                                         .on_input = on_input,
                                         .on_drained = on_drained,
                                         .on_end = on_end,
                                         .on_finished = on_finished};

void px_session_io_begin(px_worker *worker, int fd, px_address *address, px_guest *guest)
{
    px_session *session = pgw_calloc(1, sizeof *session);
    session->worker = worker;
    px_prepared_names_begin(&session->names, &worker->server->prepared);
    session->life = &life;
    px_peer_begin(&session->peer, fd, address, px_worker_now(worker));
    px_peer_enter(&session->peer, guest, px_login_new(worker));
    px_guest_is(guest, session);
    session->write_groups = (px_submitter){.ops = &px_session_submitter_ops, .worker = worker};
    px_own_set_status(&session->own, 'I');
    session->ticket = ++worker->tickets;
    px_sessions_enter(session);
    px_peer_connect(&session->peer, px_stream_open(worker, fd, NULL, &stream_ops, session));
}
