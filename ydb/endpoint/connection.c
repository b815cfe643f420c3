#include "ydb/endpoint/connection.h"

#include "config/config.h"
#include "protocol/frame.h"
#include "ydb/endpoint/answers.h"
#include "ydb/endpoint/copies.h"
#include "ydb/endpoint/runs.h"
#include "ydb/endpoint/session.h"
#include "ydb/endpoint/simple.h"
#include "proxy/loop/worker.h"

#include <stddef.h>
#include <string.h>

typedef struct connection {
    px_link link;
    px_runner runner;
    px_ydb_session session;
    pgw_buf in; /* messages that the owner sent; those before `in_at` are taken */
    size_t in_at;
    size_t dropped;  /* bytes still to be skipped of a message that was too long */
    pgw_buf message; /* body of the message at hand, copied for the machine */
    pgw_buf out;     /* replies to the owner; those before `out_at` are consumed */
    size_t out_at, expected;
    bool crowded;  /* `in` has reached PX_STREAM_HIGH; on_drained is due when it shrinks */
    bool starving; /* `in` holds no whole message, and nothing else is to be done */
    bool paused, finishing, drained, relieved, ended;
    bool running;    /* the runner has not closed yet */
    px_message turn; /* calls tell() on a later turn */
    bool turning;
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

static void end_if_quiet(connection *c)
{
    if (!c->link.closing || c->running || c->turning)
        return;
    px_ydb_session_end(&c->session);
    pgw_buf_free(&c->in);
    pgw_buf_free(&c->message);
    pgw_buf_free(&c->out);
    px_link_end(&c->link);
}

static void on_runner_closed(void *owner)
{
    connection *c = owner;
    c->running = false;
    end_if_quiet(c);
}

static void close_connection(px_link *link)
{
    connection *c = of(link);
    if (c->running)
        px_runner_close(&c->runner); /* may end the link at once */
    else
        end_if_quiet(c);
}

/* ---- what the owner is told, on a later turn ---- */

static size_t unsaid(const connection *c)
{
    return c->out.len - c->out_at;
}

static void tell(connection *c)
{
    if (c->drained) {
        c->drained = false;
        c->link.ops->on_drained(&c->link);
    }
    if (!c->link.closing && !c->paused && unsaid(c) > 0 && unsaid(c) >= c->expected)
        c->link.ops->on_message(&c->link);
    if (!c->link.closing && c->ended && unsaid(c) == 0)
        c->link.ops->on_lost(&c->link, "the connection was ended");
}

static void go_on(connection *c);

static void on_turn(px_worker *worker, px_message *message)
{
    (void)worker;
    connection *c = (connection *)((char *)message - offsetof(connection, turn));
    c->turning = false;
    if (!c->link.closing)
        tell(c);
    if (!c->link.closing && c->relieved) {
        c->relieved = false;
        go_on(c);
    }
    end_if_quiet(c);
}

static void call(connection *c)
{
    if (c->turning)
        return;
    c->turning = true;
    c->turn.run = on_turn;
    px_worker_send(c->link.worker, &c->turn);
}

/* ---- messages in, replies out ---- */

static void take_output(connection *c)
{
    pgw_buf *said = pgw_server_output(c->session.server);
    if (said->len == 0)
        return;
    if (c->out_at == c->out.len) {
        pgw_buf spare = c->out;
        c->out = *said;
        c->out_at = 0;
        *said = spare;
        said->len = 0;
    } else {
        pgw_buf_add_slice(&c->out, pgw_slice_buf(said));
        pgw_buf_clear(said);
    }
    call(c);
}

static void drop(connection *c)
{
    size_t left = c->in.len - c->in_at, some = left < c->dropped ? left : c->dropped;
    c->in_at += some;
    c->dropped -= some;
}

/* Refuses a message that is too long to become a text that YDB takes, and skips its bytes. */
static void refuse_overlong(connection *c, pgw_frame frame)
{
    pgw_error error;
    uint64_t most = c->link.worker->config->backend.capabilities.max_message;
    pgw_fail(&error, "54000", "the message is longer than YDB takes, which is %llu bytes",
             (unsigned long long)most);
    pgw_error_hint(&error, "Send less at once: fewer rows, or shorter values.");
    c->dropped = frame.size;
    drop(c);
    pgw_server_overlong(c->session.server, frame.type, &error);
}

/* Whether a message cannot become a text that YDB takes: no parameter is ten times longer than its
 * constant. */
static bool is_overlong(const connection *c, pgw_frame frame)
{
    return frame.size > 10 * c->link.worker->config->backend.capabilities.max_message &&
           strchr("QPBDECd", frame.type) != NULL;
}

static bool take_message(connection *c)
{
    drop(c);
    pgw_slice rest = {c->in.ptr + c->in_at, c->in.len - c->in_at};
    pgw_frame frame;
    pgw_frame_result result = pgw_frame_next(rest, &frame);
    if (result == PGW_FRAME_OK && is_overlong(c, frame)) {
        refuse_overlong(c, frame);
        return true;
    }
    if (result != PGW_FRAME_OK || rest.len < frame.size)
        return false;
    pgw_slice body = pgw_frame_body(rest, frame);
    pgw_buf_clear(&c->message);
    pgw_buf_add_slice(&c->message, body);
    c->in_at += frame.size;
    pgw_server_message(c->session.server, frame.type, pgw_slice_buf(&c->message));
    return true;
}

/* Frees the room of messages that were taken. */
static void trim(connection *c)
{
    size_t left = c->in.len - c->in_at;
    if (left == 0)
        pgw_buf_clear(&c->in);
    else if (c->in_at > left)
        memmove(c->in.ptr, c->in.ptr + c->in_at, left), c->in.len = left;
    else
        left = 0; /* the bytes stay where they are */
    if (left > 0 || c->in.len == 0)
        c->in_at = 0;
    if (c->crowded && (c->starving || c->in.len - c->in_at < PX_STREAM_LOW)) {
        c->crowded = false;
        c->drained = true;
        call(c);
    }
}

static void go_on(connection *c)
{
    pgw_asked ask = PGW_ASK_MESSAGE;
    c->starving = false;
    while (!c->link.closing && !c->runner.cancelling && !c->ended && !c->starving) {
        px_ydb_session_go_on(&c->session);
        take_output(c);
        ask = pgw_server_next(c->session.server).ask;
        if (ask != PGW_ASK_MESSAGE || unsaid(c) > PX_STREAM_HIGH)
            break;
        c->starving = !take_message(c);
    }
    trim(c);
    bool over = c->finishing && !c->runner.cancelling && ask == PGW_ASK_MESSAGE &&
                unsaid(c) <= PX_STREAM_HIGH;
    if (ask == PGW_ASK_CLOSE || over) {
        c->ended = true;
        call(c);
    }
}

/* ---- what the runner tells ---- */

static void on_open(void *owner)
{
    connection *c = owner;
    pgw_error error;
    c->link.settings = 1;
    if (px_ydb_session_open(&c->session, &error))
        px_link_be_ready(&c->link);
    else
        px_link_fail(&c->link, &error);
}

static void on_refused(void *owner, const pgw_error *error)
{
    connection *c = owner;
    px_link_fail(&c->link, error);
}

static void on_columns(void *owner, pgw_slice columns)
{
    connection *c = owner;
    px_ydb_runs_columns(&c->session, columns);
}

static void on_row(void *owner, const pgw_slice *cells, size_t count)
{
    connection *c = owner;
    px_ydb_runs_row(&c->session, cells, count);
    take_output(c);
    if (unsaid(c) > PX_STREAM_HIGH)
        px_runner_pause(&c->runner);
    if (c->session.running != NULL && c->session.running->suspended)
        go_on(c);
}

static void on_again(void *owner)
{
    connection *c = owner;
    px_ydb_runs_again(&c->session);
}

static void on_done(void *owner, const char *tag)
{
    connection *c = owner;
    px_ydb_session_done(&c->session, tag);
    go_on(c);
}

static void on_failed(void *owner, const pgw_error *error)
{
    connection *c = owner;
    px_ydb_session_failed(&c->session, error);
    go_on(c);
}

static void on_cancelled(void *owner)
{
    connection *c = owner;
    c->drained = true;
    call(c);
    go_on(c);
}

static const px_runner_ops runner_ops = {
    .on_open = on_open,
    .on_refused = on_refused,
    .on_columns = on_columns,
    .on_row = on_row,
    .on_again = on_again,
    .on_done = on_done,
    .on_failed = on_failed,
    .on_cancelled = on_cancelled,
    .on_closed = on_runner_closed,
};

static void open_connection(px_link *link)
{
    connection *c = of(link);
    if (c->session.server == NULL)
        px_ydb_session_begin(&c->session, link, &c->runner);
    c->running = true;
    px_runner_open(&c->runner, link, &px_simple_executor, &runner_ops, c);
}

/* ---- the link ---- */

static void cancel(px_link *link)
{
    connection *c = of(link);
    if (px_ydb_copies_cancel(&c->session))
        go_on(c);
    else
        px_runner_cancel(&c->runner);
}

static bool is_cancelling(const px_link *link)
{
    return of_const(link)->runner.cancelling;
}

static void finish(px_link *link)
{
    of(link)->finishing = true;
    go_on(of(link));
}

static void took_in(connection *c)
{
    c->crowded = c->crowded || c->in.len - c->in_at >= PX_STREAM_HIGH;
    go_on(c);
}

static void put(px_link *link, const void *ptr, size_t len)
{
    pgw_buf_add(&of(link)->in, ptr, len);
    took_in(of(link));
}

static void pass(px_link *link, px_stream *from, size_t len)
{
    pgw_buf_add(&of(link)->in, px_stream_input(from).ptr, len);
    px_stream_consume(from, len);
    took_in(of(link));
}

static size_t pending(const px_link *link)
{
    const connection *c = of_const(link);
    return c->starving ? 0 : c->in.len - c->in_at;
}

static pgw_slice input(const px_link *link)
{
    const connection *c = of_const(link);
    return (pgw_slice){c->out.ptr + c->out_at, unsaid(c)};
}

static void consume(px_link *link, size_t len)
{
    connection *c = of(link);
    bool full = unsaid(c) > PX_STREAM_HIGH;
    c->out_at += len;
    c->expected = 0;
    if (!full || unsaid(c) > PX_STREAM_HIGH)
        return;
    px_ydb_runs_drained(&c->session);
    c->drained = c->relieved = true;
    call(c);
}

static void expect(px_link *link, size_t len)
{
    of(link)->expected = len;
}

static void pass_on(px_link *link, px_stream *to, size_t len)
{
    px_stream_put(to, input(link).ptr, len);
    consume(link, len);
}

static void stop_reading(px_link *link)
{
    of(link)->paused = true;
}

static void go_on_reading(px_link *link)
{
    connection *c = of(link);
    c->paused = false;
    call(c);
}

static const char *parameter(const px_link *link, const char *name)
{
    return px_ydb_setting(&of_const(link)->session, name);
}

const px_link_kind px_ydb_link = {
    .size = sizeof(connection),
    .open = open_connection,
    .close = close_connection,
    .finish = finish,
    .send = put,
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
