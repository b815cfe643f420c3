#include "proxy/base/shared.h"
#include "proxy/client/own_look.h"

#include "proxy/backend/backend.h"
#include "proxy/backend/classify.h"
#include "proxy/backend/look.h"
#include "proxy/client/changes.h"
#include "proxy/client/keys.h"
#include "proxy/client/refuse.h"
#include "proxy/client/session.h"
#include "proxy/client/settle.h"
#include "rewrite/read/prefilter.h"
#include "rewrite/read/reach.h"

#include <stdlib.h>

struct px_own_look {
    px_look look;
    px_sight last;
    px_seen seen; /* what it is called, should it be told to all */
};

void px_own_look_free(px_session *session)
{
    struct px_own_look *own = session->ddl.look;
    if (own == NULL)
        return;
    px_look_end(&own->look);
    px_sight_clear(&own->last);
    free(own);
    session->ddl.look = NULL;
}

static bool can_look(const px_session *session)
{
    return !session->worker->server->backend->by_file && session->own.ready &&
           session->ddl.look == NULL && session->pending.replies.count == 0 &&
           !session->own.unsynced && session->own.status != 'E' && session->hand.streaming == 0 &&
           !px_link_cancelling(session->own.link);
}

static void say(px_session *session, pgw_buf *message)
{
    px_reply *reply = px_replies_push(&session->pending.replies, PX_REPLY_QUERY);
    reply->swallow = reply->own_look = true;
    px_session_send(session, message);
    pgw_buf_free(message);
}

bool px_own_look_start(px_session *session)
{
    if (!can_look(session))
        return false;
    struct px_own_look *own = session->ddl.look = pgw_calloc(1, sizeof *own);
    px_catalog *before = px_catalog_before(session->worker, session->who.identity, &own->seen);
    own->last.catalog = before != NULL ? px_catalog_take(before) : NULL;
    own->last.fingerprint = own->seen.fingerprint;
    own->last.places = own->seen.places;
    pgw_buf message = {0};
    own->look = (px_look){.config = session->worker->config,
                          .last = &own->last,
                          .metrics = session->worker->metrics,
                          .now = px_worker_now(session->worker)};
    px_look_begin(&own->look, &message);
    say(session, &message);
    return true;
}

/* On a turn of its own. */
static void on_seen(void *waiter, const pgw_error *error)
{
    px_session *session = waiter;
    if (error != NULL && session->wait == PX_WAIT_CATALOG)
        px_refuse_waiting(session, error);
    else if (session->wait == PX_WAIT_CATALOG)
        px_changes_answered(session);
    px_session_wake(session, PX_WAIT_CATALOG);
}

/* What was seen outside of a transaction is true for all. */
static void take_sight(px_session *session)
{
    struct px_own_look *own = session->ddl.look;
    px_changes_forget(session);
    session->ddl.catalog = own->look.sight.catalog;
    own->look.sight.catalog = NULL;
    own->seen.fingerprint = own->look.sight.fingerprint;
    own->seen.places = own->look.sight.places;
    if (session->own.status != 'I')
        return;
    own->seen.catalog = px_catalog_take(session->ddl.catalog);
    px_catalog_saw(session->worker, session->who.identity, own->seen);
}

/* ReadyForQuery was answered by the look itself, and popped. */
static void go_on(px_session *session, px_look_step step, pgw_buf *more)
{
    if (step == PX_LOOK_MORE) {
        say(session, more);
        return;
    }
    pgw_error error = session->ddl.look->look.error;
    if (step != PX_LOOK_FAILED)
        take_sight(session);
    px_own_look_free(session);
    px_catalog_tell(session->worker, on_seen, session, step == PX_LOOK_FAILED ? &error : NULL);
}

bool px_own_look_take(px_session *session, char type, pgw_slice body)
{
    bool spontaneous = type == 'A' || type == 'N' || type == 'S';
    if (spontaneous || (type == 'E' && px_error_is_fatal(body)))
        return false;
    pgw_buf more = {0};
    px_look_step step = px_look_take(&session->ddl.look->look, type, body, &more);
    if (type == 'Z') {
        session->own.status = body.len > 0 ? body.ptr[0] : 'I';
        px_replies_pop(&session->pending.replies);
        go_on(session, step, &more);
    }
    pgw_buf_free(&more);
    return true;
}

/* Whether the session's own transaction may have changed the configured tables: then what others
 * see is not what it sees. Where the file says what they are, it sees nothing else. */
static bool sees_alone(const px_session *session)
{
    if (session->worker->server->backend->by_file)
        return false;
    if (session->ddl.catalog != NULL)
        return session->own.status == 'T';
    return session->ddl.own && session->own.ready && !session->own.unsynced &&
           (session->own.status == 'T' || session->pending.replies.count > 0);
}

static void on_asked(void *waiter, const pgw_error *error)
{
    px_session *session = waiter;
    bool waits = error != NULL && session->wait == PX_WAIT_CATALOG;
    if (waits && px_own_look_start(session))
        return;
    if (!waits || session->own.ready || !px_error_is_personal(error)) {
        on_seen(waiter, error);
        return;
    }
    px_session_set_wait(session, PX_WAIT_NOTHING); /* for the others' answer; it looks itself */
    (void)px_session_need_link_to_ask(session);
}

bool px_own_look_doubts(px_session *session, const px_catalog *catalog)
{
    if (session->hand.doubted || catalog == px_catalog_none())
        return false;
    session->hand.doubted = true;
    px_changes_ask_anew(session);
    px_session_set_wait(session, PX_WAIT_CATALOG);
    if (!sees_alone(session))
        px_catalog_load(session->worker, session->who.identity, on_asked, session);
    else if (!px_own_look_start(session))
        px_session_set_wait(session, PX_WAIT_NOTHING);
    return session->wait == PX_WAIT_CATALOG;
}

bool px_own_look_doubts_keys(px_session *session)
{
    if (!px_keys_may_be_old(session) || !px_own_look_doubts(session, NULL))
        return false;
    px_keys_forget(session);
    return true;
}

/* The snapshot to use now; NULL: the session waits. */
static px_catalog *look_for(px_session *session)
{
    bool alone = sees_alone(session);
    px_catalog *now = alone ? session->ddl.catalog : px_changes_known(session);
    if (now != NULL)
        return now;
    if (alone && session->pending.replies.count > 0) {
        px_session_set_wait(session, PX_WAIT_IDLE);
        return NULL;
    }
    px_session_set_wait(session, PX_WAIT_CATALOG);
    if (!alone || !px_own_look_start(session))
        px_catalog_load(session->worker, session->who.identity, on_asked, session);
    return NULL;
}

bool px_own_look_now(px_session *session, px_catalog **catalog, rw_catalog *view)
{
    bool any = px_catalog_names(session->worker)->count > 0;
    px_catalog *now = any ? look_for(session) : px_catalog_none();
    if (now == NULL)
        return false;
    *catalog = now;
    px_state_view(session, now, view);
    return true;
}

bool px_own_look_catalog(px_session *session, pgw_slice text, px_catalog **catalog,
                         rw_catalog *view)
{
    const rw_catalog *names = px_catalog_names(session->worker);
    if ((rw_prefilter_mentions(text, names) || rw_prefilter_asks(text, names)) &&
        !rw_stands_by(text, session->who.identity->env.conforming))
        return px_own_look_now(session, catalog, view);
    *catalog = px_catalog_none();
    px_state_view(session, *catalog, view);
    return true;
}
