#include "proxy/client/door/cancel.h"

#include "protocol/startup.h"
#include "proxy/backend/base/pids.h"
#include "proxy/base/shared.h"
#include "proxy/client/answer/copied.h"
#include "proxy/client/answer/refuse.h"
#include "proxy/client/core/session.h"
#include "proxy/client/core/sessions.h"
#include "proxy/client/link/own_link.h"
#include "proxy/ingest/submit.h"

#include <openssl/crypto.h>
#include <openssl/hmac.h>
#include <stdlib.h>
#include <string.h>

typedef struct cancel_message {
    px_message message;
    size_t slot;
    uint32_t pid;
    size_t len;
    char key[PGW_CANCEL_KEY_LONG];
} cancel_message;

/* A long key is made of the short one, which nobody is told then: sessions that have none need not
 * keep room for it. */
static void add_long_key(const px_session *session, pgw_buf *out)
{
    const uint8_t *secret = session->worker->server->cancel_secret;
    uint64_t of[] = {session->peer.pid, session->peer.cancel_key, session->ticket};
    unsigned char key[EVP_MAX_MD_SIZE];
    if (HMAC(EVP_sha256(), secret, sizeof session->worker->server->cancel_secret,
             (const unsigned char *)of, sizeof of, key, NULL) == NULL)
        abort(); /* there is no memory */
    pgw_buf_add(out, key, PGW_CANCEL_KEY_LONG);
}

void px_cancel_key(const px_session *session, pgw_buf *out)
{
    if (session->peer.long_key)
        add_long_key(session, out);
    else
        pgw_buf_add_i32(out, (int32_t)session->peer.cancel_key);
}

static bool has_key(const px_session *session, const cancel_message *m)
{
    pgw_buf key = {0};
    px_cancel_key(session, &key);
    bool same = key.len == m->len && CRYPTO_memcmp(key.ptr, m->key, m->len) == 0;
    pgw_buf_free(&key);
    return same;
}

static void cancel(px_session *session)
{
    if (px_submitted(&session->write_groups))
        px_submit_withdraw(&session->write_groups);
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
        has_key(session, m))
        cancel(session);
    free(message);
}

void px_sessions_cancel(px_server *server, uint32_t pid, pgw_slice key)
{
    px_place place;
    if (key.len > PGW_CANCEL_KEY_LONG || !px_pids_find(server->pids, pid, &place))
        return;
    cancel_message *m = pgw_alloc(sizeof *m);
    *m = (cancel_message){.message.run = on_cancel, .slot = place.slot, .pid = pid, .len = key.len};
    memcpy(m->key, key.ptr, key.len);
    px_worker_send(&server->workers[place.worker], &m->message);
}
