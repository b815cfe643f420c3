#include "proxy/client/core/session.h"

#include "protocol/backend.h"
#include "proxy/base/address.h"
#include "proxy/base/log.h"
#include "proxy/ingest/copy.h"
#include "proxy/ingest/submit.h"

#include <assert.h>

/* ---- states ---- */

static unsigned facts_of(const px_session *session)
{
    const struct {
        px_fact fact;
        bool holds;
    } facts[] = {
        {PX_FACT_LINK, session->own.link != NULL},
        {PX_FACT_READY, session->own.ready},
        {PX_FACT_OWED, session->pending.replies.count > 0},
        {PX_FACT_ASKED, session->known.asking > 0},
        {PX_FACT_UNSYNCED, session->own.unsynced},
        {PX_FACT_IN_TRANSACTION, session->own.status != 'I'},
        {PX_FACT_COPY_IN, session->own.copy_in},
        {PX_FACT_STREAMING, session->hand.streaming > 0},
        {PX_FACT_WRITE_GROUP, px_submitted(&session->write_groups)},
    };
    unsigned all = 0;
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        all |= facts[i].holds ? facts[i].fact : 0u;
    return all;
}

/* Not more than one group or Query follows a BEGIN before it is answered (begun.h). */
static bool is_followed_by_one(const px_session *session)
{
    const px_replies *replies = &session->pending.replies;
    size_t ends = 0;
    if (session->own.begun == NULL || session->own.begun->state != PX_BEGUN_SENT)
        return true;
    for (size_t i = 0; i < replies->count; i++) {
        px_reply_kind kind = px_replies_at(replies, i)->kind;
        ends += kind == PX_REPLY_QUERY || kind == PX_REPLY_SYNC;
    }
    return ends <= 1;
}

bool px_session_is_sound(const px_session *session)
{
    return session->state == PX_CLOSING ||
           (px_facts_agree(facts_of(session)) && is_followed_by_one(session));
}

void px_session_set_state(px_session *session, px_session_state state)
{
    assert(px_state_may_follow(session->state, state));
    session->state = state;
}

void px_session_set_wait(px_session *session, px_step wait)
{
    assert(wait == PX_WAIT_NOTHING || session->state == PX_READY);
    assert(px_wait_may_follow(session->wait, wait));
    assert(px_wait_may_begin(wait, facts_of(session)));
    session->wait = wait;
}

void px_session_end_wait(px_session *session, px_step wait)
{
    if (session->wait == wait)
        px_session_set_wait(session, PX_WAIT_NOTHING);
}

bool px_session_is_quiet(const px_session *session)
{
    return px_replies_are_silent(&session->pending.replies) && !session->own.unsynced &&
           session->own.status == 'I' && session->hand.streaming == 0;
}

bool px_session_idle(const px_session *session)
{
    return session->pending.replies.count == 0 && px_session_is_quiet(session);
}

bool px_session_aborted(const px_session *session)
{
    return session->own.status == 'E' && !session->own.ran &&
           !px_replies_run(&session->pending.replies);
}

bool px_session_relays_part(const px_session *session)
{
    return session->own.left > 0 && !session->own.dropped;
}

/* Whoever does not read what it is owed is not read on: its answers would fill the memory. */
static bool is_owed_much(const px_session *session)
{
    return px_stream_is_full(session->peer.stream) ||
           session->pending.replies.count >= PX_REPLIES_MOST ||
           session->pending.replies.text_bytes >= PX_REPLIES_BYTES;
}

bool px_session_is_read(const px_session *session)
{
    if (session->wait != PX_WAIT_NOTHING || session->peer.leaving || session->own.fatal ||
        is_owed_much(session) || (session->own.copy != NULL && px_copy_is_full(session->own.copy)))
        return false;
    return !session->own.ready || (!px_link_cancelling(session->own.link) &&
                                   px_link_pending(session->own.link) < PX_STREAM_HIGH);
}

px_standing px_session_standing(const px_session *session)
{
    return (px_standing){.identity = session->who.identity,
                         .private_session = session->who.is_private,
                         .output_changed = session->who.output_changed,
                         .touched = session->known.touched,
                         .in_transaction = session->own.status != 'I',
                         .own_link = session->own.ready};
}

/* ---- what it says, and to whom ---- */

static void send_begun(px_session *session, px_begun *begun)
{
    px_replies_begin(&session->pending.replies);
    begun->state = PX_BEGUN_SENT;
    px_link_send_buf(session->own.link, &begun->messages);
    pgw_buf_free(&begun->messages);
    if (begun->unnamed)
        px_prepared_names_set_unnamed(&session->names, true);
    px_count(session->worker->metrics,
             begun->alone ? PX_TRANSACTIONS_SENT : PX_TRANSACTIONS_RODE_ALONG, 1);
}

void px_session_send_begun(px_session *session)
{
    if (px_begun_is_here(session->own.begun))
        send_begun(session, session->own.begun);
}

void px_session_send(px_session *session, const pgw_buf *bytes)
{
    if (session->own.begun != NULL)
        px_session_send_begun(session);
    px_link_send_buf(session->own.link, bytes);
}

void px_session_put(px_session *session, const pgw_buf *bytes)
{
    px_stream_put_buf(session->peer.stream, bytes);
}

void px_session_drop_group(px_session *session)
{
    px_group_clear(&session->group);
    px_submitter_go_on(&session->write_groups);
}

/* ---- the own link ---- */

void px_session_open_link(px_session *session)
{
    if (session->own.link == NULL)
        px_own_open(&session->own,
                    px_link_open(session->worker, PX_LINK_SESSION, session->who.identity, NULL,
                                 session->life->link, session));
}

static px_step need_link(px_session *session)
{
    if (session->own.ready)
        return PX_STEP_DONE;
    px_session_open_link(session);
    return PX_WAIT_LINK;
}

px_step px_session_need_link(px_session *session)
{
    px_begun *begun = session->own.begun;
    if (begun != NULL && px_begun_keeps(begun)) {
        session->life->send_kept(session);
        return PX_WAIT_IDLE;
    }
    if (begun != NULL)
        begun->lazy = false;
    return need_link(session);
}

px_step px_session_need_link_unless_idle(px_session *session)
{
    return px_session_idle(session) ? PX_STEP_DONE : px_session_need_link(session);
}

px_step px_session_need_link_to_ask(px_session *session)
{
    px_step step = need_link(session);
    if (step != PX_STEP_DONE)
        px_link_borrow(session->own.link);
    return step;
}

void px_session_await_link(px_session *session)
{
    px_session_end_wait(session, PX_WAIT_CATALOG);
    px_session_set_wait(session, px_session_need_link_to_ask(session));
}

void px_session_send_kept(px_session *session)
{
    px_session_set_wait(session, px_session_need_link(session));
}

bool px_session_take_link(px_session *session)
{
    unsigned most = session->worker->config->backend.max_links / 2;
    px_own_open(&session->own, px_link_open_of(session->worker, most, session->who.identity,
                                               session->life->link, session));
    return session->own.link != NULL;
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

void px_session_wake(px_session *session, px_step wait)
{
    if (wait != PX_WAIT_WRITE_GROUP)
        px_session_end_wait(session, wait);
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

/* Tells the error between messages only; inside one, the closed connection speaks for itself, as
 * PostgreSQL's would. */
static void tell_fatal(px_session *session, const pgw_error *error)
{
    pgw_buf out = {0};
    if (px_session_relays_part(session))
        return;
    (session->peer.old_protocol ? pgw_error_write_old : pgw_error_write)(error, "FATAL", &out);
    px_stream_put_buf(session->peer.stream, &out);
    pgw_buf_free(&out);
}

void px_session_fatal(px_session *session, const pgw_error *error)
{
    tell_fatal(session, error);
    px_count_error(session->worker->metrics, pgw_slice_str(error->sqlstate));
    if (session->state != PX_READY)
        px_count_login(session->worker->metrics, error->sqlstate);
    px_log(CFG_LOG_INFO, "client_fatal", "sqlstate=%s client=%s worker=%u slot=%zu",
           error->sqlstate, px_address_text(session->peer.address), session->worker->index,
           session->slot);
    px_session_close(session, error->sqlstate);
}
