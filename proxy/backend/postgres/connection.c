#include "proxy/backend/postgres/connection.h"

#include "proxy/backend/libpq/canceller.h"
#include "proxy/backend/postgres/inheritance.h"
#include "proxy/backend/libpq/opening.h"
#include "proxy/base/shared.h"
#include "proxy/loop/worker.h"

#include <libpq-fe.h>
#include <stddef.h>
#include <sys/socket.h>

typedef struct connection {
    px_link link;
    px_opening *opening; /* while the connection is being opened; NULL later */
    PGconn *conn;
    PGcancel *cancel;
    px_stream *stream;
    bool asking; /* the link is asked which settings it has inherited; then it is ready */
    px_cancel cancel_request;
    bool cancelling;
} connection;

static connection *of(px_link *link)
{
    return (connection *)link;
}

static const connection *of_const(const px_link *link)
{
    return (const connection *)link;
}

/* ---- the end ---- */

/* PQfinish() sends Terminate and closes the socket: nothing else does. */
static void end_if_quiet(connection *c)
{
    if (!c->link.closing || c->stream != NULL || c->cancelling)
        return;
    if (c->cancel != NULL)
        PQfreeCancel(c->cancel);
    if (c->conn != NULL)
        PQfinish(c->conn);
    px_link_end(&c->link);
}

static void on_stream_closed(void *owner)
{
    connection *c = owner;
    c->stream = NULL;
    end_if_quiet(c);
}

/* A Terminate must not stand in the middle of a message. */
static void hang_up(connection *c)
{
    px_stream_close(c->stream, on_stream_closed);
    if (c->link.unfinished || px_stream_pending(c->stream) > 0)
        shutdown(PQsocket(c->conn), SHUT_WR);
}

static void close_connection(px_link *link)
{
    connection *c = of(link);
    if (c->opening != NULL)
        px_opening_abandon(c->opening);
    c->opening = NULL;
    if (c->stream != NULL)
        hang_up(c);
    end_if_quiet(c);
}

/* ---- what its stream tells ---- */

/* Reads what the link has inherited from role and database, before anything is done on it. */
static void take_inheritance(connection *c)
{
    pgw_error error;
    switch (px_inheritance_read(&c->link)) {
    case PX_INHERITANCE_MORE:
        return;
    case PX_INHERITANCE_KNOWN:
        c->asking = false;
        px_link_be_ready(&c->link);
        return;
    case PX_INHERITANCE_BROKEN:
        pgw_fail(&error, "08P01", "the backend does not keep to the protocol");
        px_link_fail(&c->link, &error);
        return;
    }
}

static void on_stream_input(px_stream *stream)
{
    connection *c = px_stream_owner(stream);
    if (c->asking)
        take_inheritance(c);
    else
        c->link.ops->on_message(&c->link);
}

static void on_stream_drained(px_stream *stream)
{
    connection *c = px_stream_owner(stream);
    if (!c->cancelling && !c->asking)
        c->link.ops->on_drained(&c->link);
}

static void on_stream_end(px_stream *stream, const char *reason)
{
    connection *c = px_stream_owner(stream);
    if (!c->asking) {
        c->link.ops->on_lost(&c->link, reason);
        return;
    }
    pgw_error error;
    pgw_fail(&error, "08006", "the connection to the backend was lost as it was opened");
    pgw_error_detail(&error, "%s", reason);
    px_link_fail(&c->link, &error);
}

static const px_stream_ops stream_ops = {.on_input = on_stream_input,
                                         .on_drained = on_stream_drained,
                                         .on_end = on_stream_end,
                                         .backend = true};

/* ---- opening ---- */

static void take_over(connection *c, PGconn *conn)
{
    px_link *link = &c->link;
    struct ssl_st *ssl = PQsslInUse(conn) ? PQsslStruct(conn, "OpenSSL") : NULL;
    c->conn = conn;
    c->cancel = PQgetCancel(conn);
    c->stream = px_stream_open(link->worker, PQsocket(conn), ssl, &stream_ops, c);
    c->asking = link->identity->replication == NULL;
    link->used_password = PQconnectionUsedPassword(conn);
    link->pid = (uint32_t)PQbackendPID(conn);
    link->settings = 1;
    if (c->asking)
        px_inheritance_ask(link, PQserverVersion(conn), link->role != PX_LINK_SESSION);
    else
        px_link_be_ready(link);
}

static void on_opened(void *owner, PGconn *conn, const pgw_error *error)
{
    connection *c = owner;
    c->link.admitted = px_opening_was_admitted(c->opening);
    pgw_buf_add_slice(&c->link.notices, px_opening_notices(c->opening));
    c->link.missing = px_opening_missing(c->opening);
    c->opening = NULL;
    if (conn == NULL)
        px_link_fail(&c->link, error);
    else
        take_over(c, conn);
}

static void open_connection(px_link *link)
{
    of(link)->opening = px_opening_start(link, on_opened, link);
}

/* ---- cancel ---- */

static void on_cancelled(px_cancel *request)
{
    connection *c = (connection *)((char *)request - offsetof(connection, cancel_request));
    c->cancelling = false;
    if (!c->link.closing)
        c->link.ops->on_drained(&c->link);
    end_if_quiet(c);
}

static void cancel(px_link *link)
{
    connection *c = of(link);
    if (c->cancel == NULL)
        return;
    c->cancel_request =
        (px_cancel){.done = on_cancelled, .worker = link->worker, .target = c->cancel};
    c->cancelling = px_canceller_ask(&c->cancel_request);
}

static bool is_cancelling(const px_link *link)
{
    return of_const(link)->cancelling;
}

/* ---- bytes, as they are ---- */

static void finish(px_link *link)
{
    px_stream_finish(of(link)->stream);
}

static void put(px_link *link, const void *ptr, size_t len)
{
    px_stream_put(of(link)->stream, ptr, len);
}

static void give(px_link *link, pgw_buf *buf)
{
    px_stream_give(of(link)->stream, buf);
}

static void pass(px_link *link, px_stream *from, size_t len)
{
    px_stream_pass(of(link)->stream, from, len);
}

static size_t pending(const px_link *link)
{
    return px_stream_pending(of_const(link)->stream);
}

static pgw_slice input(const px_link *link)
{
    return px_stream_input(of_const(link)->stream);
}

static void consume(px_link *link, size_t len)
{
    px_stream_consume(of(link)->stream, len);
}

static void expect(px_link *link, size_t len)
{
    px_stream_expect(of(link)->stream, len);
}

static void pass_on(px_link *link, px_stream *to, size_t len)
{
    px_stream_pass(to, of(link)->stream, len);
}

static void stop_reading(px_link *link)
{
    px_stream_pause(of(link)->stream);
}

static void go_on_reading(px_link *link)
{
    px_stream_resume(of(link)->stream);
}

static const char *parameter(const px_link *link, const char *name)
{
    return PQparameterStatus(of_const(link)->conn, name);
}

const px_link_kind px_postgres_link = {
    .size = sizeof(connection),
    .open = open_connection,
    .close = close_connection,
    .finish = finish,
    .send = put,
    .give = give,
    .pass = pass,
    .pending = pending,
    .cancel = cancel,
    .cancelling = is_cancelling,
    .input = input,
    .consume = consume,
    .expect = expect,
    .pass_on = pass_on,
    .pause = stop_reading,
    .resume = go_on_reading,
    .parameter = parameter,
};
