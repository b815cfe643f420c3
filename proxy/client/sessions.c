#include "proxy/client/sessions.h"

#include "protocol/frontend.h"
#include "proxy/backend/pids.h"
#include "proxy/base/shared.h"
#include "proxy/client/session.h"
#include "proxy/ingest/submit.h"

#include <stdlib.h>
#include <string.h>

enum { TOUCH_MS = 1000, SLOTS = 64 };

/* ---- slots ---- */

typedef struct px_sessions {
    size_t count;       /* of slots */
    size_t first_free;  /* no slot below it is */
    px_session **slots; /* NULL where free */
} px_sessions;

static void grow(px_sessions *sessions)
{
    size_t count = sessions->count > 0 ? sessions->count * 2 : SLOTS;
    sessions->slots = pgw_realloc(sessions->slots, count * sizeof *sessions->slots);
    memset(sessions->slots + sessions->count, 0,
           (count - sessions->count) * sizeof *sessions->slots);
    sessions->count = count;
}

void px_sessions_enter(px_session *session)
{
    px_worker *worker = session->worker;
    if (worker->sessions == NULL)
        worker->sessions = pgw_calloc(1, sizeof *worker->sessions);
    px_sessions *sessions = worker->sessions;
    size_t slot = sessions->first_free;
    while (slot < sessions->count && sessions->slots[slot] != NULL)
        slot++;
    if (slot == sessions->count)
        grow(sessions);
    sessions->first_free = slot + 1;
    sessions->slots[slot] = session;
    session->slot = slot;
}

void px_sessions_leave(px_session *session)
{
    px_sessions *sessions = session->worker->sessions;
    sessions->slots[session->slot] = NULL;
    if (session->slot < sessions->first_free)
        sessions->first_free = session->slot;
    atomic_fetch_sub(&session->worker->load, 1);
}

size_t px_sessions_slots(const px_worker *worker)
{
    return worker->sessions != NULL ? worker->sessions->count : 0;
}

px_session *px_sessions_at(const px_worker *worker, size_t slot)
{
    return slot < px_sessions_slots(worker) ? worker->sessions->slots[slot] : NULL;
}

static void free_sessions(px_worker *worker)
{
    if (worker->sessions != NULL)
        free(worker->sessions->slots);
    free(worker->sessions);
}

/* ---- cancel ---- */

typedef struct cancel_message {
    px_message message;
    size_t slot;
    uint32_t pid, key;
} cancel_message;

static bool same_key(uint32_t a, uint32_t b)
{
    volatile uint32_t difference = a ^ b; /* no early way out */
    return difference == 0;
}

static void cancel(px_session *session)
{
    if (px_submitted(&session->units))
        px_submit_withdraw(&session->units);
    else if (session->link_ready && session->replies.count > 0)
        px_link_cancel(session->link);
    else if (session->wait == PX_WAIT_LINK || session->wait == PX_WAIT_CATALOG ||
             session->wait == PX_WAIT_TURN)
        px_session_cancel_waiting(session);
}

static void on_cancel(px_worker *worker, px_message *message)
{
    const cancel_message *m = (cancel_message *)message;
    px_session *session = px_sessions_at(worker, m->slot);
    if (session != NULL && session->state == PX_READY && session->pid == m->pid &&
        same_key(session->cancel_key, m->key))
        cancel(session);
    free(message);
}

void px_sessions_cancel(px_server *server, uint32_t pid, uint32_t key)
{
    px_place place;
    if (!px_pids_find(server->pids, pid, &place))
        return;
    cancel_message *m = pgw_alloc(sizeof *m);
    *m = (cancel_message){.message.run = on_cancel, .slot = place.slot, .pid = pid, .key = key};
    px_worker_send(&server->workers[place.worker], &m->message);
}

/* ---- the end ---- */

static bool busy(const px_session *session)
{
    return session->state == PX_READY &&
           (session->replies.count > 0 || session->leaving ||
            (session->wait != PX_WAIT_NOTHING && session->wait != PX_WAIT_ROOM));
}

static void drain(px_worker *worker)
{
    bool late =
        px_worker_now(worker) - worker->drain_since > PX_DRAIN_MS; /* its statement ends with it */
    pgw_error error;
    pgw_fail(&error, "57P01", "terminating connection due to administrator command");
    for (size_t i = 0; i < px_sessions_slots(worker); i++) {
        px_session *session = px_sessions_at(worker, i);
        if (session == NULL || px_submitted(&session->units) || (busy(session) && !late))
            continue; /* its unit is finished first */
        px_session_fatal(session, &error);
    }
}

/* ---- deadlines ---- */

/* The own link is not told of rows that leave by others: idle_session_timeout would end it. */
static void touch(px_session *session, uint64_t now)
{
    if (!session->stirs || !session->link_ready || session->link_gone ||
        now - session->touched < TOUCH_MS || !px_session_idle(session))
        return;
    session->stirs = false;
    session->touched = now;
    pgw_buf out = {0};
    pgw_write_sync(&out);
    px_replies_push(&session->replies, PX_REPLY_SYNC)->swallow = true;
    px_session_send(session, &out);
    pgw_buf_free(&out);
}

static void tick(px_worker *worker)
{
    uint64_t now = px_worker_now(worker);
    for (size_t i = 0; i < px_sessions_slots(worker); i++) {
        px_session *session = px_sessions_at(worker, i);
        if (session != NULL && session->state == PX_READY && session->wait == PX_WAIT_TURN)
            px_session_wake(session, PX_WAIT_TURN);
        session = px_sessions_at(worker, i);
        if (session != NULL && (session->state == PX_STARTUP || session->state == PX_LOGIN) &&
            now - session->started > worker->config->limits.startup_ms)
            px_login_late(session);
        else if (session != NULL && session->state == PX_READY)
            touch(session, now);
    }
    px_room_tick(worker);
    if (worker->draining)
        drain(worker);
}

static bool yield(px_worker *worker, px_plea *plea)
{
    bool given = false;
    for (size_t i = 0; i < px_sessions_slots(worker) && !given; i++) {
        px_session *session = px_sessions_at(worker, i);
        given = session != NULL && session->link != NULL &&
                px_plea_concerns(plea, session->identity) &&
                px_plea_note(plea, px_session_yield(session));
    }
    return given;
}

const px_tenant px_sessions_tenant = {
    .tick = tick, .drain = drain, .yield = yield, .free = free_sessions};
