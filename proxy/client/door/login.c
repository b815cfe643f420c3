#define _GNU_SOURCE
#include "proxy/client/door/login.h"

#include "protocol/authentication.h"
#include "protocol/backend.h"
#include "protocol/negotiation.h"
#include "protocol/options.h"
#include "protocol/replication.h"
#include "proxy/backend/base/greeting.h"
#include "proxy/backend/base/pids.h"
#include "proxy/base/claim.h"
#include "proxy/base/shared.h"
#include "proxy/client/core/session.h"
#include "proxy/client/core/settings.h"
#include "proxy/client/door/cancel.h"
#include "proxy/client/door/credentials.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum {
    MAX_PASSWORD = 10000, /* bytes of its message; more is not buffered before a login */
    MAX_OPTIONS = 9000    /* the server takes a packet of 10000, with all else that is in it */
};

struct px_login {
    const cfg_config *config;    /* the one when the login began: a reload changes nothing for it */
    px_credentials *credentials; /* those when the login began. Counted */
    pgw_negotiation negotiation;
    bool direct; /* the client began with TLS from its first byte on */
    pgw_scram scram;
    px_login_outcome outcome;
};

px_login *px_login_new(const px_worker *worker)
{
    px_login *login = pgw_calloc(1, sizeof *login);
    login->config = worker->config;
    login->credentials = px_credentials_take(worker->credentials);
    return login;
}

void px_login_free(px_login *login)
{
    if (login == NULL)
        return;
    pgw_scram_clear(&login->scram);
    px_credentials_drop(login->credentials);
    free(login);
}

static void refuse(px_session *session, const char *sqlstate, const char *message, const char *hint)
{
    pgw_error error;
    pgw_fail(&error, sqlstate, "%s", message);
    if (hint != NULL)
        pgw_error_hint(&error, "%s", hint);
    px_session_fatal(session, &error);
}

/* ---- encryption ---- */

static void start_tls(px_session *session)
{
    px_peer_secure(&session->peer, session->peer.login->credentials->tls);
}

void px_login_hello(px_session *session, unsigned char first)
{
    px_login *login = session->peer.login;
    /* Not over Unix sockets, as PostgreSQL. */
    login->negotiation.tls = login->credentials->tls != NULL && session->peer.address != NULL;
    login->direct = pgw_negotiate_directly(&login->negotiation, first);
    if (login->direct)
        start_tls(session);
}

/* Whether the connection is as client_tls asks over TCP; if not, it is refused. */
static bool secure_enough(px_session *session)
{
    const cfg_config *config = session->peer.login->config;
    bool certificate = config->client_tls.verify != CFG_TLS_VERIFY_OPTIONAL;
    if (session->peer.address == NULL || config->client_tls.mode != CFG_TLS_REQUIRE)
        return true;
    if (session->peer.ssl == NULL)
        refuse(session, "28000", "this server takes connections with TLS only",
               "Connect with sslmode=require, or better verify-full.");
    else if (certificate && !px_tls_has_certificate(session->peer.ssl))
        refuse(session, "28000", "connection requires a valid client certificate", NULL);
    else if (config->client_tls.verify == CFG_TLS_VERIFY_FULL &&
             !px_tls_certificate_is(session->peer.ssl, session->who.identity->user))
        refuse(session, "28000", "the client certificate is not this user's",
               "Its common name must be the user's name.");
    return session->state != PX_CLOSING;
}

/* ---- the greeting ---- */

static void refuse_crowd(px_session *session)
{
    pgw_error error;
    pgw_fail(&error, "53300", "sorry, too many clients already");
    pgw_error_hint(&error, "limits.clients is %u.", session->peer.login->config->limits.clients);
    px_session_fatal(session, &error);
}

static bool count_in(px_session *session)
{
    if (px_claim(&session->worker->server->clients, session->peer.login->config->limits.clients))
        return true;
    refuse_crowd(session);
    return false;
}

/* With auth.mode forward it is the backend that knows who may come in. Its link must have been
 * opened as the login began, and not let anybody in. */
static bool proven(px_session *session)
{
    if (session->peer.login->config->auth.mode != CFG_AUTH_FORWARD)
        return true;
    if (session->peer.login->config != session->worker->config)
        refuse(session, "57P03", "the configuration was reloaded during the login",
               "Connect again.");
    else if (!px_link_used_password(session->own.link))
        refuse(session, "28000", "the backend asked for no password, so nobody knows who this is",
               "With auth.mode forward, pg_hba.conf must ask keyspread for passwords.");
    return session->state != PX_CLOSING;
}

/* Gives the process id of its backend, if it has one already, and no other session was told the
 * same (whose backend is gone, or behind another address); else a virtual one. */
static void give_pid(px_session *session)
{
    px_pids *pids = session->worker->server->pids;
    px_place place = {session->worker->index, session->slot};
    bool real =
        session->own.ready && session->peer.login->config->backend.links != CFG_LINKS_ON_DEMAND;
    uint32_t pid = real ? px_link_pid(session->own.link) : 0;
    real = real && px_pids_take(pids, pid, place);
    px_peer_identify(&session->peer, real ? pid : px_pids_take_virtual(pids, place), real);
}

px_login_outcome px_login_greet(px_session *session)
{
    pgw_buf out = {0}, key = {0};
    px_login_outcome outcome = PX_LOGIN_GOES_ON;
    if (session->who.greeting == NULL)
        px_settings_greet(session, px_greeting_find(session->worker, session->who.identity));
    if (session->who.greeting != NULL && proven(session) && count_in(session)) {
        px_greeting_write(session->who.greeting, session->who.identity, &out);
        if (session->own.ready)
            pgw_buf_add_slice(&out, px_link_notices(session->own.link));
        give_pid(session);
        px_cancel_key(session, &key);
        pgw_write_key_data(session->peer.pid, pgw_slice_buf(&key), &out);
        pgw_buf_free(&key);
        pgw_write_ready('I', &out);
        px_stream_put_buf(session->peer.stream, &out);
        outcome = PX_LOGIN_GREETED;
    }
    pgw_buf_free(&out);
    return outcome;
}

/* Whether the client cannot be greeted without an own link. */
static bool needs_own_link(const px_session *session)
{
    const cfg_config *config = session->peer.login->config;
    return session->who.identity->replication != NULL || config->auth.mode == CFG_AUTH_FORWARD ||
           config->backend.links == CFG_LINKS_ON_LOGIN;
}

/* Lets the client in, as soon as it is known what to greet it with. */
static void admit(px_session *session)
{
    px_login *login = session->peer.login;
    bool may_open = login->config->backend.links == CFG_LINKS_AUTO;
    px_session_set_state(session, PX_WELCOME);
    if (!needs_own_link(session) && !(may_open && px_session_take_link(session)))
        login->outcome = px_login_greet(session);
    if (session->state == PX_WELCOME && login->outcome != PX_LOGIN_GREETED)
        px_session_open_link(session);
}

px_login_outcome px_login_without_link(px_session *session)
{
    px_link *link = session->own.link;
    if (needs_own_link(session) || link == NULL || session->own.ready || px_link_is_opening(link))
        return PX_LOGIN_GOES_ON;
    if (session->who.greeting == NULL)
        px_settings_greet(session, px_greeting_find(session->worker, session->who.identity));
    if (session->who.greeting == NULL)
        return PX_LOGIN_GOES_ON;
    px_link_close(link);
    px_own_drop_link(&session->own);
    return px_login_greet(session);
}

/* ---- the password ---- */

static void set_password(px_session *session, const char *password)
{
    px_identity from = px_identity_like(session->who.identity);
    from.password = (char *)password; /* copied */
    px_settings_be(session, px_identity_of(&from));
}

static void ask(px_session *session, pgw_buf *message)
{
    px_stream_put_buf(session->peer.stream, message);
    px_session_set_state(session, PX_LOGIN);
}

static void begin_scram(px_session *session)
{
    pgw_scram_secret secret;
    uint8_t nonce[PGW_SCRAM_NONCE];
    pgw_buf out = {0};
    pgw_slice binding = {NULL, 0};
    if (session->peer.ssl != NULL)
        binding = px_tls_binding(session->peer.login->credentials->tls);
    bool known = px_credentials_secret(session->peer.login->credentials,
                                       pgw_slice_str(session->who.identity->user), &secret);
    if (getrandom(nonce, sizeof nonce, 0) != sizeof nonce)
        abort(); /* a nonce that can be guessed is worse than none */
    pgw_scram_start(&session->peer.login->scram, &secret, !known, binding, nonce);
    pgw_scram_offer(&session->peer.login->scram, &out);
    ask(session, &out);
    pgw_buf_free(&out);
}

static void begin_forward(px_session *session)
{
    if (session->peer.ssl == NULL && session->peer.address != NULL) {
        refuse(session, "28000", "the password is asked for over TLS or a Unix socket only",
               "Connect with sslmode=require, or better verify-full.");
        return;
    }
    pgw_buf out = {0};
    pgw_write_authentication_cleartext(&out);
    ask(session, &out);
    pgw_buf_free(&out);
}

static void authenticate(px_session *session)
{
    switch (session->peer.login->config->auth.mode) {
    case CFG_AUTH_TRUST:
        admit(session);
        break;
    case CFG_AUTH_SCRAM:
        begin_scram(session);
        break;
    case CFG_AUTH_FORWARD:
        begin_forward(session);
        break;
    }
}

static void take_scram(px_session *session, pgw_slice body)
{
    pgw_buf out = {0};
    pgw_error error = PGW_ERROR_NONE;
    pgw_scram_result result = pgw_scram_step(&session->peer.login->scram, body, &out, &error);
    if (result != PGW_SCRAM_FAILED)
        px_stream_put_buf(session->peer.stream, &out);
    pgw_buf_free(&out);
    if (result == PGW_SCRAM_DONE) {
        pgw_slice user = pgw_slice_str(session->who.identity->user);
        set_password(session, px_credentials_password(session->peer.login->credentials, user));
        admit(session);
    } else if (result == PGW_SCRAM_FAILED) {
        if (pgw_error_is(&error, "28P01"))
            pgw_fail(&error, "28P01", "password authentication failed for user \"%s\"",
                     session->who.identity->user);
        px_session_fatal(session, &error);
    }
}

static void take_password(px_session *session, pgw_slice body)
{
    pgw_slice password;
    if (!pgw_password_decode(body, &password)) {
        refuse(session, "08P01", "invalid password packet size", NULL);
    } else if (password.len == 0) {
        refuse(session, "28P01", "empty password returned by client", NULL);
    } else {
        set_password(session, password.ptr);
        admit(session); /* The backend has to accept the password, too. */
    }
}

/* Takes a password message. False: none was there, or the session ends. */
static bool on_password(px_session *session)
{
    bool scram = session->peer.login->config->auth.mode == CFG_AUTH_SCRAM;
    pgw_slice input = px_stream_input(session->peer.stream);
    pgw_frame frame;
    if (input.len > 0 && input.ptr[0] != 'p') {
        pgw_error error;
        pgw_fail(&error, "08P01", "expected %s response, got message type %d",
                 scram ? "SASL" : "password", (unsigned char)input.ptr[0]);
        px_session_fatal(session, &error);
        return false;
    }
    pgw_frame_result result = pgw_frame_next(input, &frame);
    if (result == PGW_FRAME_MORE)
        return false;
    if (result == PGW_FRAME_BAD || frame.size > MAX_PASSWORD) {
        refuse(session, "08P01", "invalid message length", NULL);
        return false;
    }
    if (input.len < frame.size) {
        px_stream_expect(session->peer.stream, frame.size);
        return false;
    }
    pgw_slice body = pgw_frame_body(input, frame);
    if (scram)
        take_scram(session, body);
    else
        take_password(session, body);
    if (session->state != PX_CLOSING)
        px_stream_consume(session->peer.stream, frame.size);
    return true;
}

/* ---- the startup packet ---- */

typedef struct setting { /* a startup parameter that names a setting of the server */
    px_entry entry;      /* entry by the setting's name */
    struct setting *next;
    pgw_slice value;
} setting;

static bool is_setting(pgw_slice name)
{
    static const char *const apart[] = {"user", "database", "options", "replication",
                                        "application_name"};
    for (size_t i = 0; i < sizeof apart / sizeof *apart; i++)
        if (pgw_slice_eq_str(name, apart[i]))
            return false;
    return !pgw_startup_is_option(name);
}

/* Of a setting that was sent twice the last value counts, and stands where the first stood. */
static void add_settings(const pgw_startup *startup, pgw_buf *options)
{
    pgw_arena arena = {0};
    px_table names = {0};
    setting *first = NULL, **last = &first;
    pgw_slice rest = startup->parameters;
    pgw_parameter parameter;
    while (pgw_startup_next(&rest, &parameter)) {
        setting *known = (setting *)px_table_find(&names, parameter.name);
        if (known == NULL && is_setting(parameter.name)) {
            known = *last = pgw_arena_alloc(&arena, sizeof *known);
            last = &known->next;
            px_table_add(&names, &known->entry, parameter.name);
        }
        if (known != NULL)
            known->value = parameter.value;
    }
    for (const setting *s = first; s != NULL; s = s->next)
        pgw_options_set(s->entry.name, s->value, options);
    px_table_free(&names);
    pgw_arena_free(&arena);
}

/* Makes the session's identity. False: what the server would have to be sent is longer than it
 * takes. */
static bool make_identity(px_session *session, const pgw_startup *startup)
{
    pgw_slice user = pgw_startup_parameter(startup, "user");
    pgw_slice database = pgw_startup_parameter(startup, "database");
    pgw_slice application = pgw_startup_parameter(startup, "application_name");
    pgw_buf options = {0};
    if (pgw_options_add(pgw_startup_parameter(startup, "options"), &options))
        add_settings(startup, &options);
    /* libpq does not send an empty application_name, so it goes with the options. */
    if (application.ptr != NULL && application.len == 0 && options.len > 0)
        pgw_options_set(PGW_LITERAL("application_name"), application, &options);
    bool good = options.len <= MAX_OPTIONS;
    pgw_buf_add_byte(&options, '\0');
    px_identity from = {.user = (char *)user.ptr,
                        .database = (char *)(database.len > 0 ? database.ptr : user.ptr),
                        .options = options.ptr,
                        .application = (char *)application.ptr,
                        .replication = (char *)pgw_replication_of(startup)};
    px_settings_be(session, px_identity_of(&from));
    px_settings_judge(session, false);
    pgw_buf_free(&options);
    return good;
}

static void negotiate(px_session *session, const pgw_startup *startup)
{
    pgw_buf out = {0};
    if (startup->minor >= PGW_MINOR)
        px_peer_takes_long_key(&session->peer);
    pgw_startup_negotiate(startup, &out);
    px_stream_put_buf(session->peer.stream, &out);
    pgw_buf_free(&out);
}

static void start_session(px_session *session, const pgw_startup *startup)
{
    if (pgw_startup_parameter(startup, "user").len == 0) {
        refuse(session, "28000", "no PostgreSQL user name specified in startup packet", NULL);
        return;
    }
    unsigned most = session->peer.login->config->limits.clients;
    if (atomic_load(&session->worker->server->clients) >= most) { /* saves a login in vain */
        refuse_crowd(session);
        return;
    }
    if (!make_identity(session, startup)) {
        refuse(session, "54000", "the startup parameters are too long to be passed on", NULL);
        return;
    }
    negotiate(session, startup);
    if (secure_enough(session))
        authenticate(session);
}

static void relay_cancel(px_session *session, const pgw_startup *startup)
{
    px_count(session->worker->metrics, PX_CANCEL_REQUESTS, 1);
    px_sessions_cancel(session->worker->server, startup->cancel_pid, startup->cancel_key);
    px_session_close(session, "cancel request");
}

/* The packet that was decoded is looked at here, and then consumed. */
static void act(px_session *session, pgw_negotiated what, const pgw_startup *startup,
                const pgw_error *error)
{
    switch (what) {
    case PGW_NEGOTIATED_MORE:
        return;
    case PGW_NEGOTIATED_DECLINE:
        px_stream_put(session->peer.stream, "N", 1);
        break;
    case PGW_NEGOTIATED_ENCRYPT:
        px_stream_put(session->peer.stream, "S", 1);
        px_stream_consume(session->peer.stream, px_stream_input(session->peer.stream).len);
        start_tls(session);
        return;
    case PGW_NEGOTIATED_SESSION:
        start_session(session, startup);
        break;
    case PGW_NEGOTIATED_CANCEL:
        relay_cancel(session, startup);
        break;
    case PGW_NEGOTIATED_DROP:
        px_session_close(session, "no startup packet");
        break;
    case PGW_NEGOTIATED_REFUSE:
        if (startup->major == 1 || startup->major == 2)
            px_peer_speaks_old(&session->peer);
        px_session_fatal(session, error);
        break;
    }
    if (session->state != PX_CLOSING)
        px_stream_consume(session->peer.stream, startup->size);
}

static void on_startup(px_session *session)
{
    pgw_negotiated what = PGW_NEGOTIATED_DECLINE;
    if (session->peer.login->direct && !px_tls_is_postgresql(session->peer.ssl)) {
        refuse(session, "08P01",
               "received direct SSL connection request without ALPN protocol negotiation extension",
               NULL);
        return;
    }
    while (session->state == PX_STARTUP && what != PGW_NEGOTIATED_MORE) {
        pgw_startup startup;
        pgw_error error;
        pgw_slice input = px_stream_input(session->peer.stream);
        what = pgw_negotiate(&session->peer.login->negotiation, input, &startup, &error);
        act(session, what, &startup, &error);
    }
}

px_login_outcome px_login_input(px_session *session)
{
    if (session->state == PX_STARTUP)
        on_startup(session);
    while (session->state == PX_LOGIN && on_password(session))
        ;
    return session->peer.login->outcome;
}

void px_login_late(px_session *session)
{
    if (session->state == PX_LOGIN)
        refuse(session, "57014", "canceling authentication due to timeout", NULL);
    else
        px_session_close(session, "no startup packet in time");
}
