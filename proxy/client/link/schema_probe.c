#include "proxy/base/shared.h"
#include "proxy/client/link/schema_probe.h"

#include "proxy/backend/base/backend.h"
#include "proxy/backend/base/classify.h"
#include "proxy/backend/schema/look.h"
#include "proxy/client/answer/refuse.h"
#include "proxy/client/core/ask.h"
#include "proxy/client/core/session.h"
#include "proxy/client/link/sync_state.h"
#include "proxy/client/numbers/keys.h"
#include "proxy/client/standing/changes.h"
#include "rewrite/statement/words/prefilter.h"
#include "rewrite/statement/words/reach.h"

#include <stdlib.h>

struct px_schema_probe {
    px_look look;
    px_sight last;
    px_seen seen;    /* the sight as the catalog keeps it, should it hold for all sessions */
    unsigned closed; /* how many of CLOSES were answered, where the look is in a group */
    bool unasked;    /* no statement waits for it */
};

void px_schema_probe_free(px_session *session)
{
    struct px_schema_probe *own = session->ddl.probe;
    if (own == NULL)
        return;
    px_look_end(&own->look);
    px_sight_clear(&own->last);
    free(own);
    session->ddl.probe = NULL;
}

static bool can_look(const px_session *session)
{
    return !session->worker->server->backend->by_file && session->own.ready &&
           session->ddl.probe == NULL && session->pending.replies.count == 0 &&
           !px_session_aborted(session) && session->hand.streaming == 0 &&
           !px_link_cancelling(session->own.link);
}

static void say(px_session *session, pgw_buf *message)
{
    bool grouped = session->ddl.probe->look.grouped;
    px_reply *reply =
        px_replies_push(&session->pending.replies, grouped ? PX_REPLY_EXECUTE : PX_REPLY_QUERY);
    reply->swallow = true;
    reply->unseen = PX_UNSEEN_LOOK;
    reply->silent = session->ddl.probe->unasked;
    px_session_send(session, message);
    pgw_buf_free(message);
}

static bool start(px_session *session, bool unasked)
{
    if (!can_look(session))
        return false;
    struct px_schema_probe *own = session->ddl.probe = pgw_calloc(1, sizeof *own);
    own->unasked = unasked;
    px_catalog *before = px_catalog_before(session->worker, session->who.identity, &own->seen);
    own->last.catalog = before != NULL ? px_catalog_take(before) : NULL;
    own->last.fingerprint = own->seen.fingerprint;
    own->last.places = own->seen.places;
    pgw_buf message = {0};
    own->look = (px_look){.config = session->worker->config,
                          .changed = session->ddl.unmarked > 0 && !unasked,
                          .grouped = session->own.unsynced,
                          .last = &own->last,
                          .metrics = session->worker->metrics,
                          .now = px_worker_now(session->worker)};
    px_look_begin(&own->look, &message);
    say(session, &message);
    return true;
}

/* Begins a look that a statement waits for. False: it is not possible now. */
static bool start_asked(px_session *session)
{
    return start(session, false);
}

bool px_schema_probe_unasked(px_session *session)
{
    return px_session_idle(session) && session->wait == PX_WAIT_NOTHING && start(session, true);
}

/* Called on a turn of its own. */
static void on_seen(void *waiter, const pgw_error *error)
{
    px_session *session = waiter;
    if (error != NULL && session->wait == PX_WAIT_CATALOG)
        px_refuse_waiting(session, error);
    else if (session->wait == PX_WAIT_CATALOG)
        px_changes_answered(session);
    px_session_wake(session, PX_WAIT_CATALOG);
}

/* Called on a turn of its own: the tables were given to the message at hand already. */
static void on_answered(void *waiter, const pgw_error *error)
{
    (void)error;
    px_session_wake(waiter, PX_WAIT_CATALOG);
}

static void on_lost(void *waiter, const pgw_error *error)
{
    px_session *session = waiter;
    if (session->wait == PX_WAIT_CATALOG)
        px_refuse_failed(session, error);
    px_session_wake(session, PX_WAIT_CATALOG);
}

/* Whether the session's transaction sees what all see: others may change that at any time, so that
 * a look is for the message at hand alone. */
static bool sees_others(const px_session *session)
{
    return session->own.status == 'T' && !session->ddl.own && !session->own.unsynced;
}

/* Takes over what the look saw: outside of a transaction it is true for all. */
static void take_sight(px_session *session)
{
    struct px_schema_probe *own = session->ddl.probe;
    if (sees_others(session)) {
        px_changes_answer(session, own->look.sight.catalog);
        own->look.sight.catalog = NULL;
        return;
    }
    px_changes_see(session, own->look.sight.catalog);
    own->look.sight.catalog = NULL;
    own->seen.fingerprint = own->look.sight.fingerprint;
    own->seen.places = own->look.sight.places;
    if (session->own.status != 'I' || own->look.grouped || own->look.changed)
        return;
    own->seen.catalog = px_catalog_take(session->ddl.catalog);
    px_catalog_saw(session->worker, session->who.identity, own->seen);
}

/* Goes on with a look that no statement waits for, unless its client has sent something. */
static void go_on_unasked(px_session *session, px_look_step step, pgw_buf *more)
{
    if (step == PX_LOOK_MORE && px_session_idle(session)) {
        say(session, more);
        return;
    }
    if (step == PX_LOOK_SAME || step == PX_LOOK_OTHER)
        take_sight(session);
    px_changes_forget(session); /* the session sees what others see */
    px_schema_probe_free(session);
}

/* The end of an answer was taken by the look itself, and popped. */
static void go_on(px_session *session, px_look_step step, pgw_buf *more)
{
    if (session->ddl.probe->unasked) {
        go_on_unasked(session, step, more);
        return;
    }
    if (step == PX_LOOK_MORE) {
        say(session, more);
        return;
    }
    pgw_error error = session->ddl.probe->look.error;
    bool failed = step == PX_LOOK_FAILED;
    bool answered = !failed && sees_others(session);
    if (!failed)
        take_sight(session);
    px_schema_probe_free(session);
    px_catalog_tell(session->worker,
                    failed     ? on_lost
                    : answered ? on_answered
                               : on_seen,
                    session, failed ? &error : NULL);
}

/* Gives the look up: its error ends the group, as an error of the client's own would. */
static void give_up(px_session *session)
{
    px_schema_probe_free(session);
    px_session_end_wait(session, PX_WAIT_CATALOG);
}

/* A question ends with the last of three CloseComplete in a group, else with ReadyForQuery. */
static bool is_end(struct px_schema_probe *own, char type)
{
    enum { CLOSES = 3 };
    if (!own->look.grouped || type != '3')
        return type == 'Z';
    own->closed = (own->closed + 1) % CLOSES;
    return own->closed == 0;
}

bool px_schema_probe_take(px_session *session, char type, pgw_slice body)
{
    bool spontaneous = type == 'A' || type == 'N' || type == 'S';
    struct px_schema_probe *own = session->ddl.probe;
    if (spontaneous || (type == 'E' && px_error_is_fatal(body)))
        return false;
    if (type == 'E' && own->look.grouped) {
        give_up(session);
        return false;
    }
    pgw_buf more = {0};
    bool ends = is_end(own, type);
    px_look_step step = px_look_take(&own->look, ends ? 'Z' : type, body, &more);
    if (ends && !own->look.grouped)
        px_own_set_status(&session->own, body.len > 0 ? body.ptr[0] : 'I');
    if (ends) {
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
    if (session->ddl.catalog != NULL && !session->ddl.worn)
        return px_changes_own(session) != NULL;
    if (session->own.ready && session->own.unsynced)
        return !px_session_aborted(session) && (session->ddl.unsynced || session->ddl.own);
    return session->ddl.own && session->own.ready &&
           (session->own.status == 'T' || session->pending.replies.count > 0);
}

/* Whether the link is in a transaction that may hold locks on tables, and can be asked in it. */
static bool is_inside(const px_session *session)
{
    return session->own.status == 'T' && session->ddl.used && can_look(session);
}

static void on_asked(void *waiter, const pgw_error *error)
{
    px_session *session = waiter;
    bool waits = error != NULL && session->wait == PX_WAIT_CATALOG;
    if (waits && start_asked(session))
        return;
    if (!waits || session->own.ready || !px_error_is_personal(error)) {
        on_seen(waiter, error);
        return;
    }
    px_session_await_link(session); /* the session looks itself */
}

/* Asks for the tables as all sessions see them. */
static px_step load(px_session *session)
{
    px_catalog_load(session->worker, session->who.identity, is_inside(session), on_asked, session);
    return PX_WAIT_CATALOG;
}

px_step px_schema_probe_recheck(px_session *session, const px_catalog *catalog)
{
    if (session->hand.rechecked || catalog == px_catalog_none())
        return PX_STEP_DONE;
    px_session_set_rechecked(session, true);
    px_changes_ask_anew(session);
    if (!sees_alone(session))
        return load(session);
    return start_asked(session) ? PX_WAIT_CATALOG : PX_STEP_DONE;
}

px_step px_schema_probe_recheck_keys(px_session *session)
{
    px_step step =
        px_keys_may_be_old(session) ? px_schema_probe_recheck(session, NULL) : PX_STEP_DONE;
    if (step != PX_STEP_DONE)
        px_keys_forget(session);
    return step;
}

/* Asks for the tables, as none are known now. */
static px_step look_for(px_session *session, bool alone)
{
    if (alone && session->pending.replies.count > 0)
        return px_ask_for_answers(session);
    return alone && start_asked(session) ? PX_WAIT_CATALOG : load(session);
}

/* A statement of the transaction that is open, or is being begun, may lock configured tables. */
static void use(px_session *session)
{
    if (session->own.status == 'T' || session->pending.replies.count > 0)
        px_changes_use(session);
}

px_step px_schema_probe_now(px_session *session, px_catalog **catalog)
{
    *catalog = px_catalog_none();
    if (px_catalog_names(session->worker)->count == 0)
        return PX_STEP_DONE;
    bool alone = sees_alone(session);
    *catalog = alone ? px_changes_own(session) : px_changes_known(session);
    if (*catalog == NULL)
        return look_for(session, alone);
    use(session);
    return PX_STEP_DONE;
}

px_step px_schema_probe_verified(px_session *session, px_catalog **catalog)
{
    px_step step = px_schema_probe_now(session, catalog);
    return step == PX_STEP_DONE ? px_sync_state(session, *catalog) : step;
}

static bool is_about_tables(const px_session *session, pgw_slice text)
{
    rw_catalog names = *px_catalog_names(session->worker);
    names.informs = true; /* perhaps */
    return (rw_prefilter_mentions(text, &names) || rw_prefilter_asks(text, &names)) &&
           !rw_stands_by(text, session->who.identity->env.conforming);
}

px_step px_schema_probe_catalog(px_session *session, pgw_slice text, px_catalog **catalog)
{
    *catalog = px_catalog_none();
    return is_about_tables(session, text) ? px_schema_probe_now(session, catalog) : PX_STEP_DONE;
}

px_step px_schema_probe_script(px_session *session, pgw_slice text, px_catalog **catalog)
{
    px_worker *worker = session->worker;
    *catalog = px_catalog_none();
    if (!is_about_tables(session, text))
        return PX_STEP_DONE;
    bool conforming = session->who.identity->env.conforming;
    bool plain = !session->hand.rechecked && session->hand.parts == NULL;
    bool alone = plain && rw_defines_alone(text, px_catalog_names(worker), conforming);
    bool refers = plain && !alone && rw_refers_alone(text, conforming);
    px_catalog *known = NULL;
    /* The room first: a newer snapshot is taken there, and the one that was known may be gone. */
    if ((alone || refers) &&
        px_catalog_has_room(worker, session->who.identity, session->ddl.unmarked))
        known = alone ? px_catalog_unasked() : px_changes_of_keys(session, text);
    if (known == NULL)
        return px_schema_probe_now(session, catalog);
    use(session);
    *catalog = known;
    return PX_STEP_DONE;
}
