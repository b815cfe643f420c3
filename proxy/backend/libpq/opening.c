#include "proxy/backend/libpq/opening.h"

#include "protocol/frame.h"
#include "protocol/frontend.h"
#include "protocol/options.h"
#include "proxy/backend/base/backend.h"
#include "proxy/backend/base/greeting.h"
#include "proxy/base/log.h"
#include "proxy/base/shared.h"
#include "proxy/loop/worker.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_OPTIONS = 64, MAX_NOTICES = 64 * 1024 };

struct px_opening {
    px_worker *worker;
    void (*done)(void *owner, PGconn *conn, const pgw_error *error);
    void *owner;
    bool abandoned;
    bool admitted;   /* AuthenticationOk has come */
    pgw_buf notices; /* what the server said beside, as NoticeResponses */
    px_slot missing; /* where the server has no more connections */

    pgw_arena arena;
    const char *keywords[MAX_OPTIONS], *values[MAX_OPTIONS]; /* what PQconnectStartParams gets */
    size_t option_count;
    char *hosts;       /* the DSN's host list that is left to resolve; NULL = nothing to resolve */
    pgw_buf addresses; /* hostaddr: one a host, empty for Unix sockets */

    uv_getaddrinfo_t resolve;
    uv_timer_t timeout;
    PGconn *conn;
    FILE *trace;  /* trace of libpq's messages; NULL: what the server reports is known */
    char *traced; /* text of the trace, with passwords */
    size_t traced_len;
    uv_poll_t *poll; /* poll handle, fresh for every socket libpq goes through */
    int socket;
    unsigned handles; /* libuv's handles and requests that still refer to this */
};

/* ---- options ---- */

static const char *kept(px_opening *opening, const char *text)
{
    return pgw_arena_copy(&opening->arena, pgw_slice_str(text)).ptr;
}

static void set_option(px_opening *opening, const char *keyword, const char *value)
{
    for (size_t i = 0; i < opening->option_count; i++)
        if (strcmp(opening->keywords[i], keyword) == 0) {
            opening->values[i] = value;
            return;
        }
    if (opening->option_count + 1 == MAX_OPTIONS)
        return;
    opening->keywords[opening->option_count] = keyword;
    opening->values[opening->option_count++] = value;
}

static const char *option(const px_opening *opening, const char *keyword)
{
    for (size_t i = 0; i < opening->option_count; i++)
        if (strcmp(opening->keywords[i], keyword) == 0)
            return opening->values[i];
    return NULL;
}

/* Adds options. Nothing is put behind the last: it may end in a backslash, and be for the server to
 * refuse. */
static void add_options(const char *more, pgw_buf *options)
{
    if (more == NULL || *more == '\0')
        return;
    pgw_buf_add_str(options, options->len > 0 ? " " : "");
    pgw_buf_add_str(options, more);
}

/* Sets the DSN's own options; what it leaves open is the client's. */
static void set_options(px_opening *opening, const px_link *link)
{
    const px_identity *identity = link->identity;
    PQconninfoOption *dsn = PQconninfoParse(opening->worker->config->backend.dsn, NULL);
    for (PQconninfoOption *o = dsn; o != NULL && o->keyword != NULL; o++)
        if (o->val != NULL && o->val[0] != '\0')
            set_option(opening, kept(opening, o->keyword), kept(opening, o->val));
    PQconninfoFree(dsn);
    if (option(opening, "user") == NULL) {
        set_option(opening, "user", kept(opening, identity->user));
        if (identity->password != NULL)
            set_option(opening, "password", kept(opening, identity->password));
    }
    if (option(opening, "dbname") == NULL)
        set_option(opening, "dbname", kept(opening, identity->database));
    if (identity->application != NULL)
        set_option(opening, "application_name", kept(opening, identity->application));
    if (identity->replication != NULL)
        set_option(opening, "replication", kept(opening, identity->replication));
    pgw_buf options = {0};
    pgw_options_add(pgw_slice_str(option(opening, "options")), &options);
    add_options(link->role == PX_LINK_SESSION ? identity->options : identity->shared, &options);
    add_options(link->options, &options);
    set_option(opening, "options", pgw_arena_copy(&opening->arena, pgw_slice_buf(&options)).ptr);
    pgw_buf_free(&options);
    set_option(opening, "gssencmode", "disable"); /* the stream knows TLS and plain alone */
}

/* ---- the end ---- */

/* Ends the trace: the connection is closed, or does not write to it any more. */
static void end_trace(px_opening *opening)
{
    if (opening->trace == NULL)
        return;
    fclose(opening->trace);
    explicit_bzero(opening->traced, opening->traced_len);
    free(opening->traced);
}

static void release(px_opening *opening)
{
    if (--opening->handles > 0)
        return;
    end_trace(opening);
    pgw_arena_free(&opening->arena);
    pgw_buf_free(&opening->addresses);
    pgw_buf_free(&opening->notices);
    free(opening);
}

static void on_handle_closed(uv_handle_t *handle)
{
    release(handle->data);
}

static void on_poll_closed(uv_handle_t *handle)
{
    release(handle->data);
    free(handle);
}

static void stop_polling(px_opening *opening)
{
    if (opening->poll == NULL)
        return;
    uv_poll_stop(opening->poll);
    uv_close((uv_handle_t *)opening->poll, on_poll_closed);
    opening->poll = NULL;
}

static void end(px_opening *opening)
{
    stop_polling(opening);
    uv_timer_stop(&opening->timeout);
    uv_close((uv_handle_t *)&opening->timeout, on_handle_closed);
    release(opening); /* the opening's own hold */
}

static void fail(px_opening *opening, const pgw_error *error)
{
    stop_polling(opening); /* polling ends before the socket's number can be reused */
    PQfinish(opening->conn);
    opening->conn = NULL;
    void (*done)(void *, PGconn *, const pgw_error *) = opening->done;
    void *owner = opening->owner;
    bool abandoned = opening->abandoned;
    end(opening);
    if (!abandoned)
        done(owner, NULL, error);
}

static void copy_line(const char *text, const char *label, char *to, size_t size)
{
    const char *at = strstr(text, label);
    if (at == NULL)
        return;
    at += strlen(label);
    snprintf(to, size, "%.*s", (int)strcspn(at, "\n"), at);
}

/* The system's own words in the message, in which there is no address. */
static const char *plain_reason(const char *message)
{
    static const int known[] = {ECONNREFUSED, ECONNRESET, ETIMEDOUT, EHOSTUNREACH,
                                ENETUNREACH,  ENOENT,     EACCES};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strstr(message, strerror(known[i])) != NULL)
            return strerror(known[i]);
    return NULL;
}

/* The SQLSTATE and text in libpq's message about a connection that could not be made, as verbose
 * messages have them ("… FATAL:  3D000: database "x" does not exist"). False where there is none:
 * the client is told 08006 and the system's reason, for the message is full of addresses. */
static bool read_error(const char *message, pgw_error *error)
{
    const char *fatal = strstr(message, "FATAL:  ");
    fatal = fatal != NULL ? fatal + 8 : NULL;
    if (fatal != NULL && strlen(fatal) > 7 && fatal[5] == ':' && fatal[6] == ' ') {
        char sqlstate[6];
        snprintf(sqlstate, sizeof sqlstate, "%.5s", fatal);
        pgw_fail(error, sqlstate, "%.*s", (int)strcspn(fatal + 7, "\n"), fatal + 7);
        copy_line(fatal, "\nDETAIL:  ", error->detail, sizeof error->detail);
        copy_line(fatal, "\nHINT:  ", error->hint, sizeof error->hint);
        return true;
    }
    const char *reason = plain_reason(message);
    pgw_fail(error, "08006", "cannot reach the backend%s%s", reason != NULL ? ": " : "",
             reason != NULL ? reason : "");
    pgw_error_hint(error, "Is the server of backend.dsn running, and does it accept connections? "
                          "The log of keyspread says more.");
    return false;
}

/* What the server has no more of, by the name of its function that refused: that is the same in
 * every language; a pooler's is none. */
static px_slot missing_slot(const char *message)
{
    char location[64] = "";
    copy_line(message, "\nLOCATION:  ", location, sizeof location);
    bool role = strncmp(location, "InitializeSessionUserId,", 24) == 0;
    bool database = strncmp(location, "CheckMyDatabase,", 16) == 0;
    return role ? PX_SLOT_OF_ROLE : database ? PX_SLOT_OF_DATABASE : PX_SLOT_OF_ANY;
}

static void fail_with(px_opening *opening, const char *message)
{
    pgw_error error;
    opening->missing = missing_slot(message);
    if (!read_error(message, &error))
        px_log(CFG_LOG_WARN, "backend_unreachable", "reason=%s", message);
    fail(opening, &error);
}

/* ---- what libpq does not tell ---- */

/* Keeps a notice, which libpq would print. `owner` is NULL once the link is open. */
static void on_notice(void *owner, const PGresult *notice)
{
    static const char fields[] = "SVCMDHWstcdn";
    px_opening *opening = owner;
    if (opening == NULL || opening->notices.len > MAX_NOTICES)
        return;
    size_t begun = pgw_begin(&opening->notices, 'N');
    for (const char *field = fields; *field != '\0'; field++) {
        const char *text = PQresultErrorField(notice, *field);
        if (text == NULL)
            continue;
        pgw_buf_add_byte(&opening->notices, *field);
        pgw_buf_add(&opening->notices, text, strlen(text) + 1);
    }
    pgw_buf_add_byte(&opening->notices, '\0');
    pgw_certainly(pgw_end(&opening->notices, begun));
}

/* Looks at what libpq is about to read. */
static void look_for_admission(px_opening *opening)
{
    char bytes[512];
    if (PQstatus(opening->conn) != CONNECTION_AWAITING_RESPONSE)
        return; /* before that, libpq is to find the error of a connect itself */
    SSL *ssl = PQgetssl(opening->conn);
    int socket = PQsocket(opening->conn);
    ssize_t len = ssl != NULL ? SSL_peek(ssl, bytes, sizeof bytes)
                              : recv(socket, bytes, sizeof bytes, MSG_PEEK | MSG_DONTWAIT);
    ERR_clear_error();
    pgw_slice rest = {bytes, len > 0 ? (size_t)len : 0};
    pgw_frame frame;
    while (rest.len >= PGW_HEADER + 4 && rest.ptr[0] == 'R' &&
           pgw_frame_next(rest, &frame) == PGW_FRAME_OK && frame.size <= rest.len) {
        bool ok = memcmp(rest.ptr + PGW_HEADER, "\0\0\0", 4) == 0;
        opening->admitted = opening->admitted || ok;
        rest = (pgw_slice){rest.ptr + frame.size, rest.len - frame.size};
    }
}

bool px_opening_was_admitted(const px_opening *opening)
{
    return opening->admitted;
}

px_slot px_opening_missing(const px_opening *opening)
{
    return opening->missing;
}

pgw_slice px_opening_notices(const px_opening *opening)
{
    return pgw_slice_buf(&opening->notices);
}

/* ---- what the server reports ---- */

/* libpq tells the value of a parameter that is asked for by its name, but no names: these are in
 * what it writes for debugging, a line a message: `B 24 ParameterStatus "name" "value"`, by tabs.
 */
static void start_trace(px_opening *opening)
{
    opening->trace = open_memstream(&opening->traced, &opening->traced_len);
    if (opening->trace == NULL)
        return;
    PQtrace(opening->conn, opening->trace);
    PQsetTraceFlags(opening->conn, PQTRACE_SUPPRESS_TIMESTAMPS);
}

/* Learns the names in the trace. What libpq has no value for was a part of another message. */
static void learn_names(px_opening *opening)
{
    static const char begun[] = "\tParameterStatus\t \"";
    if (opening->trace == NULL)
        return;
    PQuntrace(opening->conn);
    fflush(opening->trace);
    for (const char *at = opening->traced; (at = strstr(at, begun)) != NULL;) {
        at += sizeof begun - 1;
        char *name = pgw_strndup(at, strcspn(at, "\""));
        if (PQparameterStatus(opening->conn, name) != NULL)
            px_greeting_learn(pgw_slice_str(name));
        free(name);
    }
    px_greeting_learned(opening->worker);
}

/* ---- PQconnectPoll ---- */

static void advance(px_opening *opening);

static void on_poll(uv_poll_t *poll, int status, int events)
{
    (void)status, (void)events; /* PQconnectPoll finds out by itself */
    advance(poll->data);
}

/* libpq closes and reopens sockets, often under the same number, while it tries hosts and TLS: a
 * handle serves one socket only, and none is started while PQconnectPoll runs. */
static void poll_socket(px_opening *opening, int events)
{
    int socket = PQsocket(opening->conn);
    if (opening->poll != NULL && socket != opening->socket)
        stop_polling(opening);
    if (opening->poll == NULL) {
        opening->poll = pgw_calloc(1, sizeof *opening->poll);
        if (uv_poll_init(&opening->worker->loop, opening->poll, socket) != 0) {
            free(opening->poll);
            opening->poll = NULL;
            fail_with(opening, "the socket cannot be watched");
            return;
        }
        opening->poll->data = opening;
        opening->socket = socket;
        opening->handles++;
    }
    uv_poll_start(opening->poll, events, on_poll);
}

static void succeed(px_opening *opening)
{
    PGconn *conn = opening->conn;
    PQsetNoticeReceiver(conn, on_notice, NULL);
    learn_names(opening);
    void (*done)(void *, PGconn *, const pgw_error *) = opening->done;
    void *owner = opening->owner;
    end(opening);
    done(owner, conn, NULL);
}

static void advance(px_opening *opening)
{
    if (opening->poll != NULL)
        uv_poll_stop(opening->poll);
    look_for_admission(opening);
    PostgresPollingStatusType status = PQconnectPoll(opening->conn);
    if (status == PGRES_POLLING_OK)
        succeed(opening);
    else if (status == PGRES_POLLING_FAILED)
        fail_with(opening, PQerrorMessage(opening->conn));
    else
        poll_socket(opening, status == PGRES_POLLING_READING ? UV_READABLE : UV_WRITABLE);
}

static void connect_now(px_opening *opening)
{
    if (opening->addresses.len > 0) {
        pgw_buf_add_byte(&opening->addresses, '\0');
        set_option(opening, "hostaddr", opening->addresses.ptr);
    }
    opening->conn = PQconnectStartParams(opening->keywords, opening->values, 0);
    if (opening->conn == NULL || PQstatus(opening->conn) == CONNECTION_BAD) {
        fail_with(opening, opening->conn ? PQerrorMessage(opening->conn) : "out of memory");
        return;
    }
    PQsetNoticeReceiver(opening->conn, on_notice, opening);
    PQsetErrorVerbosity(opening->conn,
                        PQERRORS_VERBOSE); /* the only way to the SQLSTATE of a FATAL */
    /* A server that is not PostgreSQL may report what keyspread then answers by itself. */
    if (!opening->worker->server->backend->by_file && !px_greeting_is_learned(opening->worker))
        start_trace(opening);
    poll_socket(opening, UV_WRITABLE);
}

/* ---- names ---- */

static void resolve_next(px_opening *opening);

static void add_address(px_opening *opening, const struct addrinfo *info)
{
    char address[128] = "";
    if (info != NULL)
        getnameinfo(info->ai_addr, info->ai_addrlen, address, sizeof address, NULL, 0,
                    NI_NUMERICHOST);
    pgw_buf_add_str(&opening->addresses, address);
}

static void on_resolved(uv_getaddrinfo_t *request, int status, struct addrinfo *info)
{
    px_opening *opening = request->data;
    if (opening->abandoned || status != 0) {
        char message[256];
        snprintf(message, sizeof message, "could not translate host name: %s",
                 uv_strerror(status ? status : UV_ECANCELED));
        uv_freeaddrinfo(info);
        opening->handles--; /* the request's hold; the opening's own is still there */
        fail_with(opening, message);
        return;
    }
    add_address(opening, info);
    uv_freeaddrinfo(info);
    opening->handles--;
    resolve_next(opening);
}

/* Whether the host is an address, so that no other thread has to be asked for it. */
static bool is_numeric(const char *host)
{
    struct in6_addr address;
    return inet_pton(AF_INET, host, &address) == 1 || inet_pton(AF_INET6, host, &address) == 1;
}

/* Takes the next host off the list: hostaddr gets one entry a host, empty for Unix sockets. */
static void resolve_next(px_opening *opening)
{
    while (opening->hosts != NULL) {
        char *host = opening->hosts;
        char *comma = strchr(host, ',');
        opening->hosts = comma ? comma + 1 : NULL;
        if (comma != NULL)
            *comma = '\0';
        bool first = opening->addresses.len == 0 && opening->addresses.ptr == NULL;
        if (!first)
            pgw_buf_add_byte(&opening->addresses, ',');
        pgw_buf_reserve(&opening->addresses, 1);
        if (host[0] == '\0' || host[0] == '/' || host[0] == '@')
            continue;
        if (is_numeric(host)) {
            pgw_buf_add_str(&opening->addresses, host);
            continue;
        }
        struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
        opening->resolve.data = opening;
        opening->handles++;
        if (uv_getaddrinfo(&opening->worker->loop, &opening->resolve, on_resolved, host, NULL,
                           &hints) == 0)
            return;
        opening->handles--;
        fail_with(opening, "the host name cannot be resolved");
        return;
    }
    connect_now(opening);
}

static void on_timeout(uv_timer_t *timer);

/* Begins on a turn of its own, so that `done` is never called before px_opening_start() returned.
 */
static void on_begin(uv_timer_t *timer)
{
    px_opening *opening = timer->data;
    if (opening->abandoned) {
        end(opening);
        return;
    }
    uv_timer_start(&opening->timeout, on_timeout, opening->worker->config->backend.connect_ms, 0);
    resolve_next(opening);
}

static void on_timeout(uv_timer_t *timer)
{
    px_opening *opening = timer->data;
    if (opening->conn == NULL) {
        /* The name is still being resolved: the request cannot be stopped; it fails when it comes
         * back. */
        uv_cancel((uv_req_t *)&opening->resolve);
        return;
    }
    char message[128];
    snprintf(message, sizeof message, "no answer within %u ms",
             opening->worker->config->backend.connect_ms);
    fail_with(opening, message);
}

px_opening *px_opening_start(const px_link *link,
                             void (*done)(void *owner, PGconn *conn, const pgw_error *error),
                             void *owner)
{
    px_opening *opening = pgw_calloc(1, sizeof *opening);
    *opening = (px_opening){.worker = link->worker, .done = done, .owner = owner, .handles = 2};
    set_options(opening, link);
    uv_timer_init(&link->worker->loop, &opening->timeout);
    opening->timeout.data = opening;
    uv_timer_start(&opening->timeout, on_begin, 0, 0);
    const char *host = option(opening, "host");
    if (host != NULL && option(opening, "hostaddr") == NULL)
        opening->hosts = pgw_arena_printf(&opening->arena, "%s", host);
    return opening;
}

void px_opening_abandon(px_opening *opening)
{
    opening->abandoned = true;
    if (opening->conn != NULL)
        fail(opening, &PGW_ERROR_NONE);
    else
        uv_cancel((uv_req_t *)&opening->resolve);
}
