#include "proxy/client/door/cancel.h"

#include "proxy/backend/base/pids.h"
#include "proxy/base/shared.h"
#include "proxy/client/answer/copied.h"
#include "proxy/client/answer/refuse.h"
#include "proxy/client/core/session.h"
#include "proxy/client/core/sessions.h"
#include "proxy/client/link/own_link.h"
#include "proxy/ingest/submit.h"

#include <stdlib.h>

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
    else if (px_copied_cancel(session))
        return;
    else if (session->own.ready && session->pending.replies.count > 0)
        px_link_cancel(session->own.link);
    else if (session->wait == PX_WAIT_LINK || session->wait == PX_WAIT_CATALOG ||
             session->wait == PX_WAIT_TURN) {
        px_own_link_forgo(session);
        px_refuse_cancelled(session);
    }
}

static void on_cancel(px_worker *worker, px_message *message)
{
    const cancel_message *m = (cancel_message *)message;
    px_session *session = px_sessions_at(worker, m->slot);
    if (session != NULL && session->state == PX_READY && session->peer.pid == m->pid &&
        same_key(session->peer.cancel_key, m->key))
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
