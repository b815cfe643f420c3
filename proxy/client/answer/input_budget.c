#include "proxy/client/answer/input_budget.h"

#include "proxy/base/claim.h"
#include "proxy/base/log.h"
#include "proxy/base/shared.h"
#include "proxy/client/answer/refuse.h"
#include "proxy/client/core/session.h"
#include "proxy/client/core/sessions.h"
#include "proxy/loop/worker.h"

#include <inttypes.h>

enum { SMALL = 1024 * 1024 }; /* an eighth is left to sessions that hold no more bytes */

static px_rooms *rooms_of(const px_session *session)
{
    return &session->worker->server->rooms;
}

/* What the session holds and has to be counted. */
static size_t held_by(const px_session *session)
{
    size_t held = px_stream_input(session->peer.stream).len + session->group.bytes;
    return held > PX_INPUT_BUDGET_FREE ? held : 0;
}

static bool go_beyond(px_session *session)
{
    px_input_budget *room = &session->room;
    bool free = false;
    if (!room->beyond)
        room->beyond = atomic_compare_exchange_strong(&rooms_of(session)->beyond, &free, true);
    return room->beyond;
}

static void stop_waiting(px_session *session)
{
    if (session->room.waits)
        atomic_fetch_sub(&rooms_of(session)->waiting, 1);
    session->room.waits = false;
}

static void note_progress(px_session *session, size_t held)
{
    px_input_budget *room = &session->room;
    if (held >= room->moved_at && held - room->moved_at < PX_INPUT_BUDGET_FREE)
        return;
    room->moved_at = held;
    room->moved = px_worker_now(session->worker);
}

void px_input_budget_settle(px_session *session)
{
    px_input_budget *room = &session->room;
    if (room->taken == 0 && !room->waits)
        return;
    size_t held = held_by(session);
    if (session->wait != PX_WAIT_ROOM) /* the session waits for something else, or for nothing */
        stop_waiting(session);
    if (held >= room->taken)
        return;
    atomic_fetch_sub(&rooms_of(session)->used, room->taken - held);
    px_worker_let_go(session->worker, room->taken - held);
    room->taken = held;
    room->moved_at = 0;
    if (held == 0 && room->beyond) {
        atomic_store(&rooms_of(session)->beyond, false);
        room->beyond = false;
    }
}

bool px_input_budget_take(px_session *session)
{
    px_input_budget *room = &session->room;
    px_input_budget_settle(session);
    size_t held = held_by(session), more = held - room->taken;
    size_t budget = session->worker->config->limits.incomplete_bytes;
    size_t most = held > SMALL ? budget - budget / 8 : budget;
    if (more > 0 && !px_claim_bytes(&rooms_of(session)->used, more, most)) {
        if (!go_beyond(session)) {
            atomic_fetch_add(&rooms_of(session)->waiting, 1);
            room->waits = true;
            return false;
        }
        atomic_fetch_add(&rooms_of(session)->used, more);
    }
    room->taken = held;
    note_progress(session, held);
    return true;
}

void px_input_budget_leave(px_session *session)
{
    px_input_budget *room = &session->room;
    stop_waiting(session);
    atomic_fetch_sub(&rooms_of(session)->used, room->taken);
    px_worker_let_go(session->worker, room->taken);
    if (room->beyond)
        atomic_store(&rooms_of(session)->beyond, false);
    *room = (px_input_budget){0};
}

/* Whether the session holds counted bytes, is read, and has sent no more for `patience`
 * milliseconds. */
static bool is_stuck(const px_session *session, uint64_t patience)
{
    return session->state == PX_READY && session->room.taken > 0 && px_session_is_read(session) &&
           px_worker_now(session->worker) - session->room.moved > patience;
}

static void give_up_largest(px_worker *worker)
{
    px_session *largest = NULL;
    for (size_t i = 0; i < px_sessions_slots(worker); i++) {
        px_session *session = px_sessions_at(worker, i);
        if (session != NULL && is_stuck(session, worker->config->backend.link_wait_ms) &&
            (largest == NULL || session->room.taken > largest->room.taken))
            largest = session;
    }
    if (largest == NULL)
        return;
    pgw_error error;
    pgw_fail(&error, "53200", "out of memory for messages that are not complete");
    pgw_error_detail(&error, "%zu bytes of this one have come, and others wait for room.",
                     largest->room.taken);
    pgw_error_hint(&error, "limits.incomplete_bytes is %" PRIu64 ".",
                   worker->config->limits.incomplete_bytes);
    px_refuse_message(largest, &error);
    px_session_look(largest);
}

void px_input_budget_tick(px_worker *worker)
{
    if (atomic_load(&worker->server->rooms.waiting) == 0)
        return;
    for (size_t i = 0; i < px_sessions_slots(worker); i++)
        if (px_sessions_at(worker, i) != NULL && px_sessions_at(worker, i)->wait == PX_WAIT_ROOM)
            px_session_wake(px_sessions_at(worker, i), PX_WAIT_ROOM);
    give_up_largest(worker);
}
