#include "proxy/backend/link.h"

#include "proxy/backend/canceller.h"
#include "proxy/backend/classify.h"
#include "proxy/backend/greeting.h"
#include "proxy/backend/inheritance.h"
#include "proxy/backend/opening.h"
#include "proxy/base/claim.h"
#include "proxy/base/log.h"
#include "proxy/base/shared.h"
#include "proxy/client/leaving.h"
#include "proxy/loop/worker.h"

#include <libpq-fe.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

struct px_link {
    px_worker *worker;
    px_identity *identity;
    char *extra_options;
    bool admitted;   /* the server had let the role in, whatever came then */
    pgw_buf notices; /* what it said as the link opened */
    const px_link_ops *ops;
    void *owner;

    px_opening *opening; /* until it is ready */
    PGconn *conn;
    PGcancel *cancel;
    px_stream *stream;
    bool closing, counted;
    bool asking;       /* what it has inherited */
    uint64_t settings; /* that; 0: not known */
    bool unfinished;   /* what was put last is a part of a message */

    uv_timer_t retry;           /* waits for one of max_links */
    uint64_t wait_until, asked; /* the latter by px_worker_clock() */
    uint64_t room_until;        /* 0: nobody was asked to make room */
    bool retry_open;
    px_cancel cancel_request;
    bool cancelling;
};

const char *const px_link_parameters[] = {"server_version",
                                          "server_encoding",
                                          "client_encoding",
                                          "application_name",
                                          "is_superuser",
                                          "session_authorization",
                                          "DateStyle",
                                          "IntervalStyle",
                                          "TimeZone",
                                          "integer_datetimes",
                                          "standard_conforming_strings",
                                          "default_transaction_read_only",
                                          "in_hot_standby",
                                          NULL};

enum { RETRY_MS = 20, ROOM_MS = 1000 };

static void fail(px_link *link, const pgw_error *error);

static void on_retry(uv_timer_t *timer);

static void take_inheritance(px_link *link);

static void on_stream_input(px_stream *stream)
{
    px_link *link = px_stream_owner(stream);
    if (link->asking)
        take_inheritance(link);
    else
        link->ops->on_input(link);
}

static void on_stream_drained(px_stream *stream)
{
    px_link *link = px_stream_owner(stream);
    if (!link->cancelling && !link->asking)
        link->ops->on_drained(link);
}

static void on_stream_end(px_stream *stream, const char *reason)
{
    px_link *link = px_stream_owner(stream);
    if (!link->asking) {
        link->ops->on_lost(link, reason);
        return;
    }
    pgw_error error;
    pgw_fail(&error, "08006", "the connection to the backend was lost as it was opened");
    pgw_error_detail(&error, "%s", reason);
    fail(link, &error);
}

static const px_stream_ops stream_ops = {.on_input = on_stream_input,
                                         .on_drained = on_stream_drained,
                                         .on_end = on_stream_end,
                                         .backend = true};

/* ---- the end ---- */

static void free_link(px_link *link)
{
    if (link->cancel != NULL)
        PQfreeCancel(link->cancel);
    if (link->conn != NULL)
        PQfinish(link->conn); /* says Terminate, and closes the socket: libpq alone does */
    if (link->counted)
        atomic_fetch_sub(&link->worker->server->links, 1);
    if (link->counted && link->extra_options == NULL)
        atomic_fetch_sub(&link->worker->server->session_links, 1);
    px_identity_drop(link->identity);
    pgw_buf_free(&link->notices);
    free(link->extra_options);
    free(link);
}

/* Frees the link when nothing refers to it any more. */
static void finish_if_quiet(px_link *link)
{
    if (link->closing && link->stream == NULL && !link->cancelling && !link->retry_open)
        free_link(link);
}

static void on_stream_closed(void *owner)
{
    px_link *link = owner;
    link->stream = NULL;
    finish_if_quiet(link);
}

static void on_retry_closed(uv_handle_t *handle)
{
    px_link *link = handle->data;
    link->retry_open = false;
    finish_if_quiet(link);
}

/* libpq says Terminate at the end, which must not stand in the middle of a message. */
static void hang_up(px_link *link)
{
    px_stream_close(link->stream, on_stream_closed);
    if (link->unfinished || px_stream_pending(link->stream) > 0)
        shutdown(PQsocket(link->conn), SHUT_WR);
}

void px_link_leave_unfinished(px_link *link)
{
    link->unfinished = true;
}

void px_link_close(px_link *link)
{
    if (link->closing)
        return;
    link->closing = true;
    if (link->opening != NULL) {
        px_opening_abandon(link->opening);
        link->opening = NULL;
    }
    if (link->retry_open)
        uv_close((uv_handle_t *)&link->retry, on_retry_closed);
    if (link->stream != NULL)
        hang_up(link);
    finish_if_quiet(link);
}

/* ---- opening ---- */

static void fail(px_link *link, const pgw_error *error)
{
    link->ops->on_failed(link, error);
    px_link_close(link);
}

static void count_opening(px_link *link, const pgw_error *error)
{
    px_worker *worker = link->worker;
    atomic_store(&worker->server->unreachable, error != NULL && px_error_is_absence(error));
    if (error != NULL)
        px_count(worker->metrics, PX_LINK_FAILURES, 1);
    else if (link->extra_options == NULL)
        px_observe(worker->metrics, PX_LINK_WAIT_SESSION, px_worker_clock(worker) - link->asked);
}

/* A session's own comes before those for batches: if the role, or the server, may have no more
 * connections, and some of these are idle, it is tried again without them for a while. */
static bool makes_room(px_link *link, const pgw_error *error)
{
    px_worker *worker = link->worker;
    uint64_t now = px_worker_now(worker);
    bool first = link->room_until == 0;
    if (link->extra_options != NULL || !pgw_error_is(error, "53300") ||
        (first && atomic_load(&worker->server->quota.links) == 0))
        return false;
    if (first) {
        link->room_until = now + ROOM_MS;
        px_leaving_make_room(worker, link->identity->user);
    }
    if (now < link->room_until)
        uv_timer_start(&link->retry, on_retry, RETRY_MS, RETRY_MS);
    return now < link->room_until;
}

static void be_ready(px_link *link)
{
    px_welcome_compare(link->worker, link);
    link->ops->on_ready(link);
}

/* What its role and its database gave it is known before anything is done on it. */
static void take_inheritance(px_link *link)
{
    pgw_error error;
    switch (px_inheritance_read(link->stream, &link->settings)) {
    case PX_INHERITANCE_MORE:
        return;
    case PX_INHERITANCE_KNOWN:
        link->asking = false;
        be_ready(link);
        return;
    case PX_INHERITANCE_BROKEN:
        pgw_fail(&error, "08P01", "the backend does not keep to the protocol");
        fail(link, &error);
        return;
    }
}

static void on_opened(void *owner, PGconn *conn, const pgw_error *error)
{
    px_link *link = owner;
    link->admitted = px_opening_was_admitted(link->opening);
    pgw_buf_add_slice(&link->notices, px_opening_notices(link->opening));
    link->opening = NULL;
    if (conn == NULL && makes_room(link, error)) {
        pgw_buf_clear(&link->notices);
        return;
    }
    count_opening(link, conn == NULL ? error : NULL);
    if (conn == NULL) {
        fail(link, error);
        return;
    }
    link->conn = conn;
    link->cancel = PQgetCancel(conn);
    struct ssl_st *ssl = PQsslInUse(conn) ? PQsslStruct(conn, "OpenSSL") : NULL;
    link->stream = px_stream_open(link->worker, PQsocket(conn), ssl, &stream_ops, link);
    link->settings = 1;
    link->asking = link->identity->replication == NULL;
    if (link->asking)
        px_inheritance_ask(link->stream, PQserverVersion(conn), link->extra_options != NULL);
    else
        be_ready(link);
}

/* One of `most`. Batch links are of max_links, so sessions' own leave them their part. */
static bool count_in(px_link *link, unsigned most)
{
    px_server *server = link->worker->server;
    unsigned batch = link->worker->config->backend.batch_links;
    unsigned all = link->worker->config->backend.max_links;
    unsigned sessions = all > batch ? all - batch : 1;
    bool own = link->extra_options == NULL;
    if (own && !px_claim(&server->session_links, sessions))
        return false;
    link->counted = px_claim(&server->links, most);
    if (own && !link->counted)
        atomic_fetch_sub(&server->session_links, 1);
    return link->counted;
}

static void try_open(px_link *link)
{
    const cfg_config *config = link->worker->config;
    if (link->counted || count_in(link, config->backend.max_links)) {
        uv_timer_stop(&link->retry);
        link->opening =
            px_opening_start(link->worker, link->identity, link->extra_options, on_opened, link);
        return;
    }
    if (px_worker_now(link->worker) < link->wait_until)
        return;
    uv_timer_stop(&link->retry);
    pgw_error error;
    pgw_fail(&error, "53300", "no connection to the backend is free: backend.max_links is %u",
             config->backend.max_links);
    pgw_error_hint(&error, "Raise backend.max_links (and the server's max_connections), or "
                           "backend.link_wait_ms.");
    px_log(CFG_LOG_WARN, "links_exhausted", "max_links=%u", config->backend.max_links);
    fail(link, &error);
}

static void on_retry(uv_timer_t *timer)
{
    try_open(timer->data);
}

static px_link *make_link(px_worker *worker, px_identity *identity, const px_link_ops *ops,
                          void *owner)
{
    px_link *link = pgw_calloc(1, sizeof *link);
    link->worker = worker;
    link->identity = px_identity_take(identity);
    link->ops = ops;
    link->owner = owner;
    return link;
}

static void begin(px_link *link)
{
    px_worker *worker = link->worker;
    link->wait_until = px_worker_now(worker) + worker->config->backend.link_wait_ms;
    link->asked = px_worker_clock(worker);
    uv_timer_init(&worker->loop, &link->retry);
    link->retry.data = link;
    link->retry_open = true;
    uv_timer_start(&link->retry, on_retry, 0, RETRY_MS);
}

px_link *px_link_open(px_worker *worker, px_identity *identity, const char *extra_options,
                      const px_link_ops *ops, void *owner)
{
    px_link *link = make_link(worker, identity, ops, owner);
    if (extra_options != NULL)
        link->extra_options = pgw_strndup(extra_options, strlen(extra_options));
    begin(link);
    return link;
}

px_link *px_link_open_of(px_worker *worker, unsigned most, px_identity *identity,
                         const px_link_ops *ops, void *owner)
{
    px_link *link = make_link(worker, identity, ops, owner);
    if (!count_in(link, most)) {
        free_link(link);
        return NULL;
    }
    begin(link);
    return link;
}

/* ---- use ---- */

void *px_link_owner(const px_link *link)
{
    return link->owner;
}

px_stream *px_link_stream(px_link *link)
{
    return link->stream;
}

px_identity *px_link_identity(const px_link *link)
{
    return link->identity;
}

uint64_t px_link_settings(const px_link *link)
{
    return link->settings;
}

bool px_link_is_like(const px_link *link, const px_link *other)
{
    for (size_t i = 0; px_link_parameters[i] != NULL; i++) {
        const char *a = px_link_parameter(link, px_link_parameters[i]);
        const char *b = px_link_parameter(other, px_link_parameters[i]);
        bool own = strcmp(px_link_parameters[i], "application_name") == 0;
        if (!own && strcmp(a != NULL ? a : "", b != NULL ? b : "") != 0)
            return false;
    }
    return true;
}

uint32_t px_link_pid(const px_link *link)
{
    return (uint32_t)PQbackendPID(link->conn);
}

bool px_link_was_admitted(const px_link *link)
{
    return link->admitted;
}

pgw_slice px_link_notices(const px_link *link)
{
    return pgw_slice_buf(&link->notices);
}

bool px_link_used_password(const px_link *link)
{
    return PQconnectionUsedPassword(link->conn);
}

const char *px_link_parameter(const px_link *link, const char *name)
{
    return PQparameterStatus(link->conn, name);
}

/* ---- cancel ---- */

static void on_cancelled(px_worker *worker, px_message *message)
{
    px_link *link = (px_link *)((char *)message - offsetof(px_link, cancel_request) -
                                offsetof(px_cancel, message));
    link->cancelling = false;
    worker->cancels--;
    if (!link->closing)
        link->ops->on_drained(link);
    finish_if_quiet(link);
}

void px_link_cancel(px_link *link)
{
    if (link->cancelling || link->closing || link->cancel == NULL)
        return;
    link->cancel_request =
        (px_cancel){.message.run = on_cancelled, .worker = link->worker, .target = link->cancel};
    link->cancelling = px_canceller_ask(link->worker->server->canceller, &link->cancel_request);
    link->worker->cancels += link->cancelling;
}

bool px_link_cancelling(const px_link *link)
{
    return link->cancelling;
}
