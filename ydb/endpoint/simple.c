#include "ydb/endpoint/simple.h"

#include "protocol/backend.h"
#include "protocol/frontend.h"
#include "proxy/backend/libpq/canceller.h"
#include "proxy/backend/libpq/opening.h"
#include "proxy/base/shared.h"
#include "proxy/loop/worker.h"

#include <libpq-fe.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

struct px_executor {
    const px_executor_ops *ops;
    void *owner;
    px_link *link; /* the link that the connection is opened for */
    px_opening *opening;
    PGconn *conn;
    PGcancel *cancel;
    px_stream *stream;
    px_cancel cancel_request;
    bool cancelling, paused, closing, busy;
    px_message go_on; /* reads on a later turn what came during a pause */
    bool going_on;
    unsigned described; /* number of statements described, for their names */

    /* The fields below are about the text that runs. */
    px_executed executed;
    char tag[64];
    pgw_slice *cells;
    size_t cells_room;
};

/* ---- the end ---- */

static void end_if_quiet(px_executor *e)
{
    if (!e->closing || e->stream != NULL || e->cancelling || e->going_on)
        return;
    if (e->cancel != NULL)
        PQfreeCancel(e->cancel);
    if (e->conn != NULL)
        PQfinish(e->conn);
    void (*closed)(void *owner) = e->ops->on_closed;
    void *owner = e->owner;
    free(e->cells);
    free(e);
    closed(owner);
}

static void on_stream_closed(void *owner)
{
    px_executor *e = owner;
    e->stream = NULL;
    end_if_quiet(e);
}

static void close_executor(px_executor *e)
{
    if (e->closing)
        return;
    e->closing = true;
    if (e->opening != NULL)
        px_opening_abandon(e->opening);
    if (e->stream != NULL)
        px_stream_close(e->stream, on_stream_closed);
    end_if_quiet(e);
}

/* ---- what comes ---- */

static void tell_executed(px_executor *e)
{
    e->busy = false;
    e->ops->on_executed(e->owner, &e->executed);
}

/* The text keeps its first error: further ones follow a Parse that fails. If the endpoint closes
 * the connection after the error, nothing may be sent there any more, ReadyForQuery or not. */
static void take_error(px_executor *e, pgw_slice body)
{
    px_executed *executed = &e->executed;
    if (executed->failed || !e->busy)
        return;
    executed->failed = true;
    executed->fate = px_ydb_status_read(body, &executed->error, &executed->lost);
    if (executed->lost)
        tell_executed(e);
}

static void take_row(px_executor *e, pgw_slice body)
{
    pgw_reader reader = pgw_reader_of(body);
    size_t count = pgw_read_u16(&reader);
    if (count > e->cells_room) {
        e->cells_room = count;
        e->cells = pgw_realloc(e->cells, count * sizeof *e->cells);
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t len = pgw_read_u32(&reader);
        e->cells[i] =
            len == UINT32_MAX ? (pgw_slice){NULL, 0} : pgw_read_bytes(&reader, (size_t)len);
    }
    if (!reader.failed)
        e->ops->on_row(e->owner, e->cells, count);
}

static void take_tag(px_executor *e, pgw_slice body)
{
    snprintf(e->tag, sizeof e->tag, "%.*s", (int)(body.len > 0 ? body.len - 1 : 0), body.ptr);
    e->executed.tag = e->tag;
}

static void take_ready(px_executor *e, pgw_slice body)
{
    e->executed.block = body.len == 1 ? body.ptr[0] : 'I';
    if (e->busy)
        tell_executed(e);
}

static void take(px_executor *e, char type, pgw_slice body)
{
    switch (type) {
    case 'T':
        e->ops->on_columns(e->owner, body);
        return;
    case 'D':
        take_row(e, body);
        return;
    case 'C':
        take_tag(e, body);
        return;
    case 'E':
        take_error(e, body);
        return;
    case 'Z':
        take_ready(e, body);
        return;
    default: /* notices, ParameterStatus, and what answers Parse, Describe and Close */
        return;
    }
}

/* The next message, if all of it has come; else the stream waits for the rest. */
static bool next_message(px_executor *e, pgw_frame *frame, pgw_slice *body)
{
    pgw_slice input = px_stream_input(e->stream);
    if (pgw_frame_next(input, frame) != PGW_FRAME_OK)
        return false;
    if (input.len < frame->size) {
        px_stream_expect(e->stream, frame->size);
        return false;
    }
    *body = pgw_frame_body(input, *frame);
    return true;
}

/* The owner may close the executor in a callback; it lives on until the stream has ended. */
static void on_input(px_stream *stream)
{
    px_executor *e = px_stream_owner(stream);
    pgw_frame frame;
    pgw_slice body;
    while (!e->closing && !e->paused && next_message(e, &frame, &body)) {
        take(e, frame.type, body);
        if (!e->closing)
            px_stream_consume(stream, frame.size);
    }
}

static void on_drained(px_stream *stream)
{
    (void)stream;
}

/* YDB closes a connection without an error when it was idle, or when a message was too long. */
static void on_end(px_stream *stream, const char *reason)
{
    px_executor *e = px_stream_owner(stream);
    if (!e->busy) {
        e->ops->on_idle_lost(e->owner);
        return;
    }
    px_executed *executed = &e->executed;
    if (!executed->failed) {
        pgw_fail(&executed->error, "08006", "the connection to YDB was lost");
        pgw_error_detail(&executed->error, "%s", reason);
        executed->fate = PX_YDB_UNDETERMINED;
    }
    executed->failed = executed->lost = true;
    executed->block = 'I';
    tell_executed(e);
}

static const px_stream_ops stream_ops = {
    .on_input = on_input, .on_drained = on_drained, .on_end = on_end, .backend = true};

/* ---- opening ---- */

static void take_over(px_executor *e, PGconn *conn)
{
    px_link *link = e->link;
    struct ssl_st *ssl = PQsslInUse(conn) ? PQsslStruct(conn, "OpenSSL") : NULL;
    e->conn = conn;
    e->cancel = PQgetCancel(conn);
    e->stream = px_stream_open(link->worker, PQsocket(conn), ssl, &stream_ops, e);
    link->used_password = PQconnectionUsedPassword(conn);
    link->pid = (uint32_t)PQbackendPID(conn);
    e->ops->on_open(e->owner);
}

static void on_opened(void *owner, PGconn *conn, const pgw_error *error)
{
    px_executor *e = owner;
    e->link->admitted = px_opening_was_admitted(e->opening);
    e->link->missing = px_opening_missing(e->opening);
    e->opening = NULL;
    if (conn == NULL)
        e->ops->on_refused(e->owner, error);
    else
        take_over(e, conn);
}

static px_executor *open_executor(px_link *link, const px_executor_ops *ops, void *owner)
{
    px_executor *e = pgw_calloc(1, sizeof *e);
    e->ops = ops;
    e->owner = owner;
    e->link = link;
    e->opening = px_opening_start(link, on_opened, e);
    return e;
}

/* ---- what is sent ---- */

static void begin(px_executor *e)
{
    e->executed = (px_executed){.tag = "", .block = 'I'};
    e->tag[0] = '\0';
    e->busy = true;
}

static void say(px_executor *e, pgw_buf *message)
{
    px_stream_put_buf(e->stream, message);
    pgw_buf_free(message);
}

static void run(px_executor *e, pgw_slice text)
{
    pgw_buf message = {0};
    begin(e);
    pgw_certainly(pgw_write_query(text, &message));
    say(e, &message);
}

/* Describes the text under a new name: under an old one, a Parse that fails would give the columns
 * of the statement before. */
static void describe(px_executor *e, pgw_slice text)
{
    pgw_buf message = {0};
    char name[24];
    snprintf(name, sizeof name, "keyspread_%u", ++e->described);
    begin(e);
    pgw_certainly(pgw_write_parse(pgw_slice_str(name), text, NULL, 0, &message));
    pgw_write_describe('S', pgw_slice_str(name), &message);
    pgw_write_close('S', pgw_slice_str(name), &message);
    pgw_write_sync(&message);
    say(e, &message);
}

static void pause_rows(px_executor *e)
{
    e->paused = true;
    px_stream_pause(e->stream);
}

static void on_go_on(px_worker *worker, px_message *message)
{
    (void)worker;
    px_executor *e = (px_executor *)((char *)message - offsetof(px_executor, go_on));
    e->going_on = false;
    if (e->closing)
        end_if_quiet(e);
    else
        on_input(e->stream);
}

/* Resumes rows. Those that came during the pause are read on a later turn, for the stream tells
 * only of what comes. */
static void resume_rows(px_executor *e)
{
    if (!e->paused)
        return;
    e->paused = false;
    px_stream_resume(e->stream);
    if (e->going_on)
        return;
    e->going_on = true;
    e->go_on.run = on_go_on;
    px_worker_send(e->link->worker, &e->go_on);
}

/* ---- cancel ---- */

static void on_cancelled(px_cancel *request)
{
    px_executor *e = (px_executor *)((char *)request - offsetof(px_executor, cancel_request));
    e->cancelling = false;
    if (!e->closing)
        e->ops->on_cancelled(e->owner);
    else
        end_if_quiet(e);
}

static bool cancel(px_executor *e)
{
    px_worker *worker = e->link->worker;
    if (e->cancel == NULL || e->cancelling)
        return e->cancelling;
    e->cancel_request = (px_cancel){.done = on_cancelled, .worker = worker, .target = e->cancel};
    e->cancelling = px_canceller_ask(&e->cancel_request);
    return e->cancelling;
}

static const char *parameter(const px_executor *e, const char *name)
{
    return e->conn != NULL ? PQparameterStatus(e->conn, name) : NULL;
}

const px_executor_kind px_simple_executor = {
    .open = open_executor,
    .close = close_executor,
    .run = run,
    .describe = describe,
    .cancel = cancel,
    .pause = pause_rows,
    .resume = resume_rows,
    .parameter = parameter,
};
