#include "tests/ydb_endpoint/startup.h"

#include "protocol/backend.h"
#include "protocol/frontend.h"

#include <string.h>

enum { MASK = 0x55aa55aa };

static bool answer_ssl(ye_session *session)
{
    SSL_CTX *context = session->endpoint->tls;
    pgw_buf_add_byte(&session->out, context != NULL ? 'S' : 'N');
    return ye_session_flush(session) &&
           (context == NULL || ye_socket_secure(&session->socket, context));
}

/* The number of the session that has been told this key. */
static uint32_t number_of(pgw_slice key)
{
    pgw_reader reader = pgw_reader_of(key);
    return pgw_read_u32(&reader) ^ MASK;
}

/* Up to a StartupMessage of protocol 3.0. "Any protocol number other than 3.0, SSLRequest,
 * CancelRequest => the connection is closed without any reply". */
static bool negotiate(ye_session *session, pgw_startup *startup)
{
    pgw_startup_kind kind;
    while (ye_socket_startup(&session->socket, startup, &kind)) {
        switch (kind) {
        case PGW_STARTUP_SSL:
            if (!answer_ssl(session))
                return false;
            break;
        case PGW_STARTUP_CANCEL:
            atomic_fetch_add(&session->endpoint->counters.cancels, 1);
            ye_session_cancel(session->endpoint, number_of(startup->cancel_key));
            return false;
        case PGW_STARTUP_SESSION:
            return startup->minor == 0;
        default:
            return false;
        }
    }
    return false;
}

/* "canonicalised to an absolute path"; what is missing, or is not there, is refused. */
static bool is_database(const ye_session *session, pgw_slice name)
{
    const char *database = session->endpoint->options.database;
    if (name.len == 0)
        return false;
    return pgw_slice_eq_str(name, database + (name.ptr[0] == '/' ? 0 : 1));
}

static bool login(const ye_options *options, pgw_slice user, pgw_slice password)
{
    if (options->user == NULL)
        return true;
    return pgw_slice_eq_str(password, options->password ? options->password : "") &&
           (pgw_slice_eq_str(user, options->user) || pgw_slice_eq_str(user, "__ydb_apikey"));
}

static bool ask_password(ye_session *session, pgw_slice user)
{
    char type;
    pgw_slice body;
    size_t begun = pgw_begin(&session->out, 'R');
    pgw_buf_add_i32(&session->out, 3); /* AuthenticationCleartextPassword: there is no other */
    pgw_end_small(&session->out, begun);
    if (!ye_session_flush(session) || !ye_socket_message(&session->socket, &type, &body) ||
        type != 'p')
        return false;
    pgw_reader reader = pgw_reader_of(body);
    if (login(&session->endpoint->options, user, pgw_read_string(&reader)))
        return true;
    ye_refused_write("Invalid password", &session->out);
    return false;
}

/* "the server first tries a login without a password". The packet is gone after the password. */
static bool authenticate(ye_session *session, const pgw_startup *startup)
{
    pgw_slice database = pgw_startup_parameter(startup, "database");
    pgw_slice user = pgw_startup_parameter(startup, "user");
    char name[64] = "";
    if (user.len >= sizeof name)
        return false;
    memcpy(name, user.ptr ? user.ptr : "", user.len);
    if (!is_database(session, database)) {
        ye_refused_write("Status: BAD_REQUEST\nIssues:\n<main>: Error: Database not found\n",
                         &session->out);
        return false;
    }
    return login(&session->endpoint->options, user, (pgw_slice){"", 0}) ||
           ask_password(session, pgw_slice_str(name));
}

static void add_parameter(ye_session *session, pgw_slice name, pgw_slice value)
{
    pgw_write_parameter_status(name, value, &session->out);
}

/* "plus any `-c name=value` of the startup `options` echoed back". */
static void echo_options(ye_session *session, pgw_slice options)
{
    char text[1024] = "", *rest = text, *word;
    if (options.len >= sizeof text)
        return;
    memcpy(text, options.ptr ? options.ptr : "", options.len);
    while ((word = strsep(&rest, " ")) != NULL && strcmp(word, "-c") == 0) {
        char *setting = strsep(&rest, " ");
        char *value = setting ? strchr(setting, '=') : NULL;
        if (value == NULL)
            return;
        add_parameter(session, (pgw_slice){setting, (size_t)(value - setting)},
                      pgw_slice_str(value + 1));
    }
}

/* K before the parameters; standard_conforming_strings, TimeZone and others are not among them. */
static void greet(ye_session *session, pgw_slice options)
{
    const ye_options *known = &session->endpoint->options;
    pgw_buf key = {0};
    pgw_buf_add_i32(&key, (int32_t)(session->number ^ MASK));
    pgw_write_key_data((uint32_t)known->node ^ MASK, pgw_slice_buf(&key), &session->out);
    pgw_buf_free(&key);
    add_parameter(session, PGW_LITERAL("integer_datetimes"), PGW_LITERAL("on"));
    add_parameter(session, PGW_LITERAL("server_version"), pgw_slice_str(known->server_version));
    add_parameter(session, PGW_LITERAL("IntervalStyle"), PGW_LITERAL("postgres"));
    add_parameter(session, PGW_LITERAL("DateStyle"), PGW_LITERAL("ISO"));
    add_parameter(session, PGW_LITERAL("server_encoding"), PGW_LITERAL("UTF8"));
    add_parameter(session, PGW_LITERAL("client_encoding"), PGW_LITERAL("UTF8"));
    echo_options(session, options);
    pgw_write_ready('I', &session->out);
}

bool ye_startup(ye_session *session)
{
    pgw_startup startup;
    pgw_error error;
    pgw_arena arena = {0};
    if (!negotiate(session, &startup))
        return false;
    pgw_slice options = pgw_arena_copy(&arena, pgw_startup_parameter(&startup, "options"));
    bool welcome = authenticate(session, &startup);
    if (welcome && !ye_store_open(&session->store, session->endpoint->options.store, &error)) {
        ye_error_write(&session->out, "%s", error.message);
        welcome = false;
    }
    if (welcome) {
        pgw_write_authentication_ok(&session->out);
        greet(session, options);
    }
    pgw_arena_free(&arena);
    return welcome;
}
