#define _GNU_SOURCE
#include "proxy/client/session.h"

#include "proxy/client/forward.h"

#include "protocol/backend.h"
#include "protocol/frontend.h"
#include "protocol/options.h"
#include "proxy/backend/databases.h"
#include "proxy/backend/greeting.h"
#include "proxy/backend/pids.h"
#include "proxy/base/log.h"
#include "proxy/base/shared.h"
#include "proxy/client/goodbye.h"
#include "proxy/client/login.h"
#include "proxy/client/outcome.h"
#include "proxy/client/sessions.h"
#include "proxy/ingest/submit.h"
#include "proxy/loop/worker.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

enum { LEFT_BY_ONE = 4096 }; /* bytes, about, that a session needed */

static void on_link_lost(px_link *link, const char *reason);

/* ---- the end ---- */

static _Atomic unsigned *counter(px_session *session)
{
    px_server *server = session->worker->server;
    return session->state == PX_READY ? &server->clients : &server->unauthenticated;
}

static void leave_lobby(px_session *session)
{
    px_guest_leave(session->guest);
    session->guest = NULL;
}

static void free_session(void *owner)
{
    px_session *session = owner;
    assert(!session->is_woken); /* it is freed on a later turn */
    if (session->ssl != NULL)
        px_tls_end(session->ssl);
    close(session->fd);
    px_address_leave(session->address);
    px_login_free(session->login);
    for (size_t i = 0; i < PX_TRACKED; i++)
        free(session->settings[i]);
    px_greeting_drop(session->greeting);
    px_identity_drop(session->identity);
    px_identity_drop(session->base);
    px_state_free(&session->own);
    px_statements_free(&session->statements);
    px_statements_free(&session->portals);
    free(session->prepares);
    free(session->deallocates);
    px_replies_clear(&session->replies);
    px_group_clear(session);
    px_group_free(&session->group);
    px_own_look_free(session);
    free(session);
}

void px_session_close(px_session *session, const char *reason)
{
    if (session->state == PX_CLOSING)
        return;
    px_log(CFG_LOG_DEBUG, "client_closed", "worker=%u slot=%zu reason=%s", session->worker->index,
           session->slot, reason);
    leave_lobby(session);
    atomic_fetch_sub(counter(session), 1);
    bool was_ready = session->state == PX_READY;
    session->state = PX_CLOSING;
    px_catalog_forget(session->worker, session);
    px_session_mark_catalog(session);
    px_session_give_up_claim(session);
    px_submit_leave(&session->units);
    px_room_leave(session);
    if (session->link != NULL && session->streaming > 0 && !session->streaming_dropped)
        px_link_leave_unfinished(session->link);
    if (session->link != NULL)
        px_link_close(session->link);
    session->link = NULL;
    px_pids_drop(session->worker->server->pids, session->pid);
    if (was_ready)
        px_databases_leave(session->worker->server->databases, session->identity->database);
    px_sessions_leave(session);
    px_worker_let_go(session->worker, LEFT_BY_ONE);
    px_stream_close(session->stream, free_session);
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

void px_session_give_up_claim(px_session *session)
{
    px_worker *worker = session->worker;
    px_plan *plan = session->describing;
    if (plan == NULL)
        return;
    bool awaited = plan->awaited;
    session->describing = NULL;
    plan->describing = plan->awaited = false;
    px_plan_drop(plan);
    for (size_t i = 0; awaited && i < px_sessions_slots(worker); i++) {
        px_session *other = px_sessions_at(worker, i);
        if (other != NULL && other->wait == PX_WAIT_TURN)
            px_session_wake(other, PX_WAIT_TURN);
    }
}

/* ---- settings and identity ---- */

size_t px_session_setting(pgw_slice name)
{
    size_t i = 0;
    while (i < PX_TRACKED && !pgw_slice_ieq_str(name, px_tracked[i]))
        i++;
    return i;
}

/* As its greeting said; NULL: it did not. */
static const char *greeted_with(const px_session *session, size_t setting)
{
    for (size_t i = 0; px_greeting_names[i] != NULL; i++)
        if (px_session_setting(pgw_slice_str(px_greeting_names[i])) == setting)
            return px_greeting_value(session->greeting, px_greeting_names[i]);
    return NULL;
}

static const char *setting_now(const px_session *session, size_t setting)
{
    return session->settings[setting] != NULL ? session->settings[setting]
                                              : greeted_with(session, setting);
}

/* Encodings in which a byte of a character may look like a quote's backslash or a letter: a text in
 * them cannot be lexed byte by byte. */
static bool is_opaque(const char *encoding)
{
    static const char *const opaque[] = {"BIG5", "GB18030",        "GBK", "JOHAB",
                                         "SJIS", "SHIFT_JIS_2004", "UHC"};
    for (size_t i = 0; encoding != NULL && i < sizeof opaque / sizeof *opaque; i++)
        if (strcmp(encoding, opaque[i]) == 0)
            return true;
    return false;
}

static px_identity *identity_with_settings(px_session *session)
{
    pgw_buf options = {0};
    pgw_buf_add_str(&options, session->base->options);
    for (size_t i = 0; i < PX_TRACKED; i++)
        if (session->settings[i] != NULL)
            pgw_options_set(pgw_slice_str(px_tracked[i]), pgw_slice_str(session->settings[i]),
                            &options);
    pgw_buf_add_byte(&options, '\0');
    px_identity *old = session->identity;
    px_identity from = *old;
    const char *values[] = {setting_now(session, 0), setting_now(session, 3),
                            setting_now(session, 4)};
    from.env = px_identity_env(values[0], values[1], values[2]);
    session->opaque = is_opaque(values[0]);
    const char *server = px_greeting_value(session->greeting, "server_encoding");
    from.env.utf8 = from.env.utf8 && server != NULL &&
                    strcmp(server, "UTF8") == 0; /* lengths are the server's */
    from.options = options.ptr;
    from.zone = (char *)values[1];
    from.settings = session->inherited;
    px_identity *identity = px_identity_of(&from);
    pgw_buf_free(&options);
    return identity;
}

static void keep_setting(px_session *session, size_t setting, pgw_slice value)
{
    char *copy = value.ptr != NULL ? pgw_strndup(value.ptr, value.len) : NULL;
    free(session->settings[setting]);
    session->settings[setting] = copy;
}

static void renew_identity(px_session *session)
{
    px_identity *identity = identity_with_settings(session);
    px_identity_drop(session->identity);
    session->identity = identity;
}

void px_session_set(px_session *session, size_t setting, pgw_slice value)
{
    keep_setting(session, setting, value);
    renew_identity(session);
}

static bool same_value(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

void px_session_follow(px_session *session, const char *const values[PX_TRACKED])
{
    bool changed = false;
    for (size_t i = 0; i < PX_TRACKED; i++) {
        const char *now = i < PX_REPORTED ? setting_now(session, i) : session->settings[i];
        if (same_value(now, values[i]))
            continue;
        char *value = values[i] != NULL ? pgw_strndup(values[i], strlen(values[i])) : NULL;
        keep_setting(session, i, value != NULL ? pgw_slice_str(value) : (pgw_slice){NULL, 0});
        free(value);
        changed = true;
    }
    if (changed)
        renew_identity(session);
}

/* ---- the own link ---- */

bool px_session_idle(const px_session *session)
{
    return session->replies.count == 0 && !session->unsynced && session->status == 'I' &&
           session->streaming == 0;
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

void px_session_ready(px_session *session)
{
    px_login_free(session->login);
    session->login = NULL;
    leave_lobby(session);
    atomic_fetch_sub(counter(session), 1);
    session->state = PX_READY;
    px_count_login(session->worker->metrics, NULL);
    session->inherited = px_greeting_settings(session->greeting);
    session->base = px_identity_take(session->identity);
    renew_identity(session); /* now that the settings are known */
    px_databases_enter(session->worker->server->databases, session->identity->database);
    px_batcher_expect(session->worker, session->identity);
    px_log(CFG_LOG_DEBUG, "client_ready", "worker=%u slot=%zu", session->worker->index,
           session->slot);
}

/* What the client takes a reported parameter to be; NULL: it was not told. */
static const char *told(const px_session *session, const char *name)
{
    size_t setting = px_session_setting(pgw_slice_str(name));
    return setting < PX_TRACKED ? setting_now(session, setting)
                                : px_greeting_value(session->greeting, name);
}

/* What a link opened later reports otherwise than the client was told. */
static void tell_differences(px_session *session, px_link *link)
{
    pgw_buf out = {0};
    for (size_t i = 0; px_greeting_names[i] != NULL; i++) {
        const char *name = px_greeting_names[i], *now = px_link_parameter(link, name);
        const char *before = told(session, name);
        bool own = strcmp(name, "application_name") == 0;
        if (now == NULL || before == NULL || own || strcmp(now, before) == 0)
            continue;
        size_t setting = px_session_setting(pgw_slice_str(name));
        pgw_write_parameter_status(pgw_slice_str(name), pgw_slice_str(now), &out);
        if (setting < PX_TRACKED)
            keep_setting(session, setting, pgw_slice_str(now));
    }
    if (out.len > 0) {
        renew_identity(session);
        px_stream_put_buf(session->stream, &out);
    }
    pgw_buf_free(&out);
}

/* Its rows travel over links that have inherited the same as its own. */
static void inherit(px_session *session, uint64_t settings)
{
    if (session->inherited == settings)
        return;
    session->inherited = settings;
    renew_identity(session);
}

static void on_link_ready(px_link *link)
{
    px_session *session = px_link_owner(link);
    session->link_ready = true;
    px_state_forget(session);
    if (session->state == PX_WELCOME) {
        session->greeting = px_link_greeting(link);
        px_login_greet(session);
        px_session_process(session);
        return;
    }
    inherit(session, px_link_settings(link));
    tell_differences(session, link);
    px_session_wake(session, PX_WAIT_LINK);
}

static void tell_admitted(px_session *session)
{
    pgw_buf out = {0};
    pgw_write_authentication_ok(&out);
    px_stream_put_buf(session->stream, &out);
    pgw_buf_free(&out);
}

static void on_link_failed(px_link *link, const pgw_error *error)
{
    px_session *session = px_link_owner(link);
    session->link = NULL;
    session->link_ready = false;
    px_log(CFG_LOG_WARN, "link_failed", "sqlstate=%s worker=%u", error->sqlstate,
           session->worker->index);
    if (session->state == PX_WELCOME) {
        if (px_link_was_admitted(link)) /* whoever it is, the server knows it */
            tell_admitted(session);
        px_session_fatal(session, error);
        return;
    }
    if (session->wait == PX_WAIT_LINK) /* else nobody waits for it any more: it was cancelled */
        px_session_link_failed(session, error);
}

static void on_link_message(px_link *link)
{
    px_session_on_link_input(px_link_owner(link));
}

static void on_link_drained(px_link *link)
{
    px_session *session = px_link_owner(link);
    px_stream_resume(session->stream);
    px_session_process(session);
}

static void on_link_lost(px_link *link, const char *reason)
{
    px_session *session = px_link_owner(link);
    if (px_submitted(&session->units)) {
        session->link_gone = true;
        px_link_pause(link);
        return;
    }
    px_session_on_link_input(session); /* its last words, a FATAL perhaps */
    if (session->state != PX_CLOSING && session->link == link)
        px_session_lose_link(session, reason);
}

void px_session_catch_up(px_session *session)
{
    session->stirs = true;
    if (!session->link_ready)
        return;
    if (session->link_gone) {
        on_link_lost(session->link, "closed by peer");
        return;
    }
    px_link_resume(session->link);
    px_session_on_link_input(session);
}

static bool on_link_refused(px_link *link)
{
    (void)link;
    return true;
}

static const px_link_ops link_ops = {on_link_ready,   on_link_failed, on_link_message,
                                     on_link_drained, on_link_lost,   on_link_refused};

bool px_session_need_link(px_session *session)
{
    if (session->link_ready)
        return true;
    if (session->link == NULL)
        session->link = px_link_open(session->worker, PX_LINK_SESSION, session->identity, NULL,
                                     &link_ops, session);
    session->wait = PX_WAIT_LINK;
    return false;
}

bool px_session_take_link(px_session *session)
{
    unsigned most = session->worker->config->backend.max_links / 2;
    session->link = px_link_open_of(session->worker, most, session->identity, &link_ops, session);
    return session->link != NULL;
}

/* Nothing that was prepared is there any more. */
static void forget_link(px_session *session)
{
    px_link_close(session->link);
    session->link = NULL;
    session->link_ready = session->link_gone = false;
    session->reply_left = 0;
    session->unnamed_on_link = false;
    px_statements_lose_link(&session->statements);
}

/* Nothing there is but what runs just now. */
static bool has_no_state(const px_session *session)
{
    return !session->told && !session->link_state && !session->private_session &&
           px_state_is_replaceable(session) &&
           session->statements.unkept == 0; /* what is prepared there can be so again */
}

bool px_session_replaceable(const px_session *session)
{
    return has_no_state(session) && px_session_idle(session) && !px_session_relays_part(session);
}

px_yield px_session_yield(px_session *session)
{
    if (!has_no_state(session) || (!session->link_ready && !px_link_is_opening(session->link)))
        return PX_YIELD_NEVER;
    if (!session->link_ready || session->wait != PX_WAIT_NOTHING ||
        px_submitted(&session->units) || !px_session_replaceable(session))
        return PX_YIELD_LATER;
    px_session_leave_link(session);
    return PX_YIELD_NOW;
}

void px_session_leave_link(px_session *session)
{
    if (session->link_ready && px_session_replaceable(session))
        forget_link(session);
}

void px_session_lose_link(px_session *session, const char *reason)
{
    px_log(CFG_LOG_WARN, "link_lost", "worker=%u slot=%zu reason=%s", session->worker->index,
           session->slot, reason);
    if (px_goodbye_is_said(session)) {
        forget_link(session);
        return;
    }
    if (session->fatal) {
        px_session_close(session, reason);
        return;
    }
    if (px_session_replaceable(session)) {
        forget_link(session);
        return;
    }
    pgw_error error;
    if (session->undecided)
        px_unknown_outcome(&error);
    else if (session->replies.count > 0)
        pgw_fail(&error, "08006",
                 "the connection to the backend was lost while a statement was running");
    else
        pgw_fail(&error, "57P01", "the connection to the backend was lost");
    pgw_error_detail(&error, "%s", reason);
    px_session_fatal(session, &error);
}

/* ---- the client's stream ---- */

static void on_hello(px_stream *stream, unsigned char first)
{
    px_session *session = px_stream_owner(stream);
    px_guest_heard(session->guest, false);
    px_login_hello(session, first);
}

static void on_input(px_stream *stream)
{
    px_session *session = px_stream_owner(stream);
    if (session->state == PX_STARTUP || session->state == PX_LOGIN) {
        px_login_input(session);
        px_guest_heard(session->guest, session->state == PX_WELCOME);
    }
    if (session->state == PX_READY)
        px_session_process(session);
    else if (session->state == PX_WELCOME)
        px_stream_pause(session->stream);
}

static void on_drained(px_stream *stream)
{
    px_session *session = px_stream_owner(stream);
    if (session->link_ready) {
        px_link_resume(session->link);
        px_session_on_link_input(session);
    }
    px_session_process(session);
}

/* The client sends no more. What it has sent is executed, and what it began is not. */
static void on_end(px_stream *stream, const char *reason)
{
    px_session *session = px_stream_owner(stream);
    if (session->ssl != NULL && !px_tls_is_up(session->ssl))
        px_log(CFG_LOG_INFO, "tls_failed", "client=%s reason=%s", px_address_text(session->address),
               reason);
    if (session->state == PX_STARTUP || session->state == PX_LOGIN ||
        (session->state == PX_WELCOME && px_stream_input(stream).len == 0))
        px_session_close(session, reason);
    else
        px_session_process(session);
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

void px_session_accept(px_worker *worker, int fd, px_address *address, px_guest *guest)
{
    px_session *session = pgw_calloc(1, sizeof *session);
    session->worker = worker;
    session->fd = fd;
    session->address = address;
    session->guest = guest;
    px_guest_is(guest, session);
    session->login = px_login_new(worker);
    session->units = (px_owner){.ops = &px_session_owner_ops, .worker = worker};
    session->status = 'I';
    session->ticket = ++worker->tickets;
    session->started = px_worker_now(worker);
    if (getrandom(&session->cancel_key, sizeof session->cancel_key, 0) !=
        sizeof session->cancel_key)
        abort(); /* a key that can be guessed is worse than none */
    px_sessions_enter(session);
    session->stream = px_stream_open(worker, fd, NULL, &stream_ops, session);
}
