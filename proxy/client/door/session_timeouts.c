#include "proxy/client/door/session_timeouts.h"

#include "protocol/frontend.h"
#include "proxy/client/answer/input_budget.h"
#include "proxy/client/core/terminate.h"
#include "proxy/client/core/session.h"
#include "proxy/client/core/sessions.h"
#include "proxy/client/door/login.h"
#include "proxy/client/link/own_link.h"
#include "proxy/client/message/begin.h"
#include "proxy/client/numbers/sequence_cache.h"
#include "proxy/ingest/submit.h"

enum { TOUCH_MS = 1000 };

/* ---- the end ---- */

static bool busy(const px_session *session)
{
    return session->state == PX_READY &&
           (session->pending.replies.count > 0 || session->peer.leaving ||
            (session->wait != PX_WAIT_NOTHING && session->wait != PX_WAIT_ROOM));
}

static void drain(px_worker *worker)
{
    /* A statement that still runs when it is late ends with its session. */
    bool late = px_worker_now(worker) - worker->drain_since > PX_DRAIN_MS;
    pgw_error error;
    pgw_fail(&error, "57P01", "terminating connection due to administrator command");
    for (size_t i = 0; i < px_sessions_slots(worker); i++) {
        px_session *session = px_sessions_at(worker, i);
        if (session == NULL || px_submitted(&session->write_groups) || (busy(session) && !late))
            continue; /* A write group or statement under way is finished first. */
        px_session_fatal(session, &error);
    }
}

/* ---- deadlines ---- */

/* Sends a Sync, for the own link does not hear of rows that leave by others, and
 * idle_session_timeout would end it. */
static void touch(px_session *session, uint64_t now)
{
    if (!session->own.stirs || !session->own.ready || session->own.gone ||
        now - session->own.touched < TOUCH_MS || !px_session_idle(session) ||
        px_link_input(session->own.link).len > 0) /* the answer would wait for the rest of it */
        return;
    px_own_touch(&session->own, now);
    pgw_buf out = {0};
    pgw_write_sync(&out);
    px_reply *reply = px_replies_push(&session->pending.replies, PX_REPLY_SYNC);
    reply->swallow = reply->silent = true;
    px_session_send(session, &out);
    pgw_buf_free(&out);
}

static void tick(px_worker *worker)
{
    uint64_t now = px_worker_now(worker);
    size_t room = PX_BEGIN_ROOM;
    for (size_t i = 0; i < px_sessions_slots(worker); i++) {
        px_session *session = px_sessions_at(worker, i);
        if (session != NULL && session->state == PX_READY && session->wait == PX_WAIT_TURN)
            px_session_wake(session, PX_WAIT_TURN);
        session = px_sessions_at(worker, i);
        if (session != NULL && (session->state == PX_STARTUP || session->state == PX_LOGIN) &&
            now - session->peer.started > worker->config->limits.startup_ms)
            px_login_late(session);
        else if (session != NULL && session->state == PX_WELCOME)
            px_session_look(session); /* other sessions may have learnt the greeting by now */
        else if (session != NULL && session->peer.leaving)
            px_terminate_unheard(session);
        else if (session != NULL && session->state == PX_READY)
            touch(session, now);
        if (session != NULL && session->state == PX_READY)
            px_begin_tick(session, now, &room);
    }
    px_input_budget_tick(worker);
    if (worker->draining)
        drain(worker);
}

/* Has one session look, for all that have read there. */
static void learn(px_worker *worker, px_plea *plea)
{
    bool learns = false;
    for (size_t i = 0; i < px_sessions_slots(worker) && !learns; i++) {
        px_session *session = px_sessions_at(worker, i);
        learns = session != NULL && session->state == PX_READY && session->own.link != NULL &&
                 px_plea_concerns(plea, session->who.identity) && px_own_link_learn(session);
    }
    if (learns)
        px_plea_note(plea, PX_YIELD_LATER);
}

static bool yield(px_worker *worker, px_plea *plea)
{
    bool given = false;
    for (size_t i = 0; i < px_sessions_slots(worker) && !given; i++) {
        px_session *session = px_sessions_at(worker, i);
        given = session != NULL && session->own.link != NULL &&
                px_plea_concerns(plea, session->who.identity) &&
                px_plea_note(plea, px_own_link_yield(session));
    }
    if (!given)
        learn(worker, plea);
    return given;
}

static void end(px_worker *worker)
{
    px_reserves_free(worker);
    px_sessions_free(worker);
}

const px_tenant px_sessions_tenant = {.tick = tick, .drain = drain, .yield = yield, .free = end};
