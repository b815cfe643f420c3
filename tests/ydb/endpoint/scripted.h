/*
 * scripted: an executor that is a script, and a runner over it. What the executor is asked to do
 * and what the runner tells of it are one transcript; what it answers, and when time passes, the
 * test says word by word. No clock.
 */
#ifndef TEST_YDB_SCRIPTED_H
#define TEST_YDB_SCRIPTED_H

#include "config/config.h"
#include "ydb/places/discovery.h"
#include "ydb/endpoint/fate.h"
#include "ydb/endpoint/runner.h"
#include "proxy/loop/worker.h"
#include "proxy/server/server.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { RETRY_MS = 30000, EXECUTORS = 16 };

struct px_executor {
    const px_executor_ops *ops;
    void *owner;
    bool opening, running, cancelling, closed;
    char block;
    char text[128];
};

static struct {
    px_server server;
    px_worker worker;
    cfg_config config;
    cfg_table table;
    px_link link;
    px_runner runner;
    uint64_t now;
    px_message *message; /* sent to the worker */
    px_executor executors[EXECUTORS];
    size_t executor_count;
    bool deaf;           /* cancels cannot be asked for */
    bool careless;       /* its owner does not hand its programs over */
    rw_program *program; /* the next to be run */
    rw_program *(*make)(void);
    pgw_buf log;
    char doubted[64];
    bool closed;
} here;

__attribute__((format(printf, 1, 2))) static void note(const char *format, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    pgw_buf_addf(&here.log, "%s%s", here.log.len > 0 ? "; " : "", text);
}

/* ---- doubles of the worker and of discovery ---- */

uint64_t px_worker_now(const px_worker *worker)
{
    assert_ptr_equal(worker, &here.worker);
    return here.now;
}

void px_worker_send(px_worker *worker, px_message *message)
{
    assert_ptr_equal(worker, &here.worker);
    assert_null(here.message);
    here.message = message;
}

void px_discovery_doubt(struct px_discovery *discovery, const char *label)
{
    (void)discovery;
    snprintf(here.doubted, sizeof here.doubted, "%s", label);
}

/* ---- the executor ---- */

static px_executor *open_executor(px_link *link, const px_executor_ops *ops, void *owner)
{
    assert_ptr_equal(link, &here.link);
    assert_true(here.executor_count < EXECUTORS);
    px_executor *e = &here.executors[here.executor_count++];
    *e = (px_executor){.ops = ops, .owner = owner, .opening = true, .block = 'I'};
    note("open");
    return e;
}

static void close_executor(px_executor *e)
{
    assert_false(e->closed);
    e->closed = true;
    note("close");
}

static void take_text(px_executor *e, pgw_slice text)
{
    assert_false(e->closed || e->opening || e->running);
    e->running = true;
    snprintf(e->text, sizeof e->text, "%.*s", (int)text.len, text.ptr);
}

static void run_text(px_executor *e, pgw_slice text)
{
    take_text(e, text);
    note("%s", e->text);
}

static void describe_text(px_executor *e, pgw_slice text)
{
    take_text(e, text);
    note("describe %s", e->text);
}

static bool cancel_text(px_executor *e)
{
    assert_true(e->running && !e->cancelling);
    note("cancel");
    e->cancelling = !here.deaf;
    return e->cancelling;
}

static const px_executor_kind scripted = {
    .open = open_executor,
    .close = close_executor,
    .run = run_text,
    .describe = describe_text,
    .cancel = cancel_text,
};

/* ---- the owner ---- */

static void on_open(void *owner)
{
    assert_ptr_equal(owner, &here);
    note("opened");
}

static void on_refused(void *owner, const pgw_error *error)
{
    (void)owner;
    note("refused %s", error->sqlstate);
}

static void on_columns(void *owner, pgw_slice columns)
{
    (void)owner;
    note("columns %.*s", (int)columns.len, columns.ptr);
}

static void on_row(void *owner, const pgw_slice *cells, size_t count)
{
    (void)owner;
    assert_int_equal(count, 1);
    note("row %.*s", (int)cells[0].len, cells[0].ptr);
}

static void on_again(void *owner)
{
    (void)owner;
    note("anew");
}

/* Nothing of what is over is left. */
static void check_rest(void)
{
    assert_false(px_runner_is_busy(&here.runner));
    assert_false(here.runner.limited && uv_is_active((uv_handle_t *)&here.runner.limit));
}

static void on_done(void *owner, const char *tag)
{
    (void)owner;
    pgw_arena arena = {0};
    check_rest();
    if (*tag != '\0' && !here.careless && px_runner_keep(&here.runner, here.program, &arena))
        here.program = here.make();
    note(*tag != '\0' ? "done %s" : "done%s", tag);
}

static void on_failed(void *owner, const pgw_error *error)
{
    (void)owner;
    check_rest();
    note("failed %s", error->sqlstate);
    if (strcmp(error->sqlstate, "57014") == 0)
        note("%s", strstr(error->message, "due to ") + strlen("due to "));
}

static void on_cancelled(void *owner)
{
    (void)owner;
    assert_false(here.runner.cancelling);
    note("cancelled");
}

static void on_closed(void *owner)
{
    (void)owner;
    assert_false(here.closed);
    here.closed = true;
}

static const px_runner_ops ops = {.on_open = on_open,
                                  .on_refused = on_refused,
                                  .on_columns = on_columns,
                                  .on_row = on_row,
                                  .on_again = on_again,
                                  .on_done = on_done,
                                  .on_failed = on_failed,
                                  .on_cancelled = on_cancelled,
                                  .on_closed = on_closed};

/* ---- the script ---- */

/* What the executor may say of its text. In a transaction what fails leaves it failed. */
static const struct {
    const char *word, *sqlstate;
    px_ydb_fate fate;
    bool lost;
} failures[] = {
    {"refused", "23505", PX_YDB_REFUSED, false},
    {"aborted", "40001", PX_YDB_AGAIN, false},
    {"unavailable", "57P03", PX_YDB_AGAIN, false},
    {"overloaded", "53000", PX_YDB_SLOWLY, false},
    {"session", "08006", PX_YDB_ELSEWHERE, false},
    {"unknown", "08007", PX_YDB_UNDETERMINED, false},
    {"internal", "XX000", PX_YDB_UNDETERMINED, false},
    {"ended", "57014", PX_YDB_UNDETERMINED, false},
    {"lost", "08006", PX_YDB_UNDETERMINED, true},
};

static px_executor *executor(void)
{
    return &here.executors[here.executor_count - 1];
}

static void tell(px_executor *e, px_executed executed)
{
    assert_true(e->running && !e->closed);
    e->running = false;
    executed.block = e->block;
    e->ops->on_executed(e->owner, &executed);
}

static void succeed(px_executor *e)
{
    bool ends = strcmp(e->text, "COMMIT") == 0 || strcmp(e->text, "ROLLBACK") == 0;
    e->block = strcmp(e->text, "BEGIN") == 0 ? 'T' : ends ? 'I' : e->block;
    tell(e, (px_executed){.tag = e->text});
}

static bool fail_with(px_executor *e, const char *word)
{
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++) {
        if (strcmp(word, failures[i].word) != 0)
            continue;
        px_executed executed = {.failed = true, .fate = failures[i].fate, .lost = failures[i].lost};
        pgw_fail(&executed.error, failures[i].sqlstate, "canceling it, due to %s", word);
        e->block = executed.lost || e->block == 'I' ? 'I' : 'E';
        tell(e, executed);
        return true;
    }
    return false;
}

/* The timer is due. */
static void fire(uv_timer_t *timer)
{
    assert_true(uv_is_active((uv_handle_t *)timer));
    here.now += uv_timer_get_due_in(timer);
    uv_timer_stop(timer);
    timer->timer_cb(timer);
}

/* A pause is over that is as long as it shall be. */
static void end_pause(void)
{
    assert_int_equal(here.runner.state, PX_RUNNER_PAUSING);
    note(here.runner.fate == PX_YDB_SLOWLY ? "long pause" : "pause");
    assert_true(uv_timer_get_due_in(&here.runner.timer) <= 5000);
    fire(&here.runner.timer);
}

static void deliver(void)
{
    px_message *message = here.message;
    assert_non_null(message);
    here.message = NULL;
    message->run(&here.worker, message);
}

static void refuse(px_executor *e, const char *sqlstate)
{
    pgw_error error;
    pgw_fail(&error, sqlstate, "not now");
    e->opening = false;
    e->ops->on_refused(e->owner, &error);
}

static void open_it(px_executor *e)
{
    assert_true(e->opening && !e->closed);
    e->opening = false;
    e->ops->on_open(e->owner);
}

static void hear_cancel(px_executor *e)
{
    assert_true(e->cancelling);
    e->cancelling = false;
    if (!e->closed)
        e->ops->on_cancelled(e->owner);
}

static void give_row(px_executor *e, const char *cell)
{
    pgw_slice cells[] = {pgw_slice_str(cell)};
    e->ops->on_columns(e->owner, PGW_LITERAL("c"));
    e->ops->on_row(e->owner, cells, 1);
}

/* What a client does. */
static bool ask(const char *word)
{
    px_runner *runner = &here.runner;
    if (strcmp(word, "run") == 0)
        px_runner_program(runner, here.program, 0);
    else if (strcmp(word, "limited") == 0)
        px_runner_program(runner, here.program, 1000);
    else if (strcmp(word, "unlimited") == 0)
        px_runner_limit(runner, 0);
    else if (strcmp(word, "longer") == 0)
        px_runner_limit(runner, 5000);
    else if (strcmp(word, "describe") == 0)
        px_runner_describe(runner, PGW_LITERAL("x"));
    else if (strcmp(word, "begin") == 0)
        px_runner_control(runner, PX_CONTROL_BEGIN);
    else if (strcmp(word, "group") == 0)
        px_runner_begin_group(runner);
    else if (strcmp(word, "own") == 0)
        px_runner_end_group(runner);
    else if (strcmp(word, "commit") == 0)
        px_runner_control(runner, PX_CONTROL_COMMIT);
    else if (strcmp(word, "rollback") == 0)
        px_runner_control(runner, PX_CONTROL_ROLLBACK);
    else if (strcmp(word, "cancel") == 0)
        px_runner_cancel(runner);
    else
        return false;
    return true;
}

/* What happens. */
static void happen(const char *word)
{
    px_executor *e = executor();
    if (strcmp(word, "ok") == 0)
        succeed(e);
    else if (strncmp(word, "row=", 4) == 0)
        give_row(e, word + 4);
    else if (strcmp(word, "open") == 0)
        open_it(e);
    else if (strcmp(word, "closed") == 0)
        refuse(e, "57P03");
    else if (strcmp(word, "denied") == 0)
        refuse(e, "28P01");
    else if (strcmp(word, "pause") == 0)
        end_pause();
    else if (strcmp(word, "quiet") == 0)
        fire(&here.runner.timer);
    else if (strcmp(word, "nolimit") == 0)
        assert_false(uv_is_active((uv_handle_t *)&here.runner.limit));
    else if (strcmp(word, "limit") == 0)
        fire(&here.runner.limit);
    else if (strcmp(word, "late") == 0)
        here.now += RETRY_MS;
    else if (sscanf(word, "most=%" SCNu64, &here.config.backend.capabilities.max_message) == 1)
        ;
    else if (strcmp(word, "turn") == 0)
        deliver();
    else if (strcmp(word, "heard") == 0)
        hear_cancel(e);
    else if (strcmp(word, "gone") == 0)
        e->ops->on_idle_lost(e->owner);
    else if (strcmp(word, "deaf") == 0)
        here.deaf = true;
    else if (strcmp(word, "careless") == 0)
        here.careless = true;
    else if (strcmp(word, "batches") == 0)
        here.link.role = PX_LINK_BATCH;
    else
        assert_true(fail_with(e, word));
}

static void play(const char *script)
{
    char word[32];
    for (int used; sscanf(script, "%31s%n", word, &used) == 1; script += used)
        if (!ask(word))
            happen(word);
}

static int setup(void **state)
{
    (void)state;
    memset(&here, 0, sizeof here);
    here.now = 1000;
    here.table = (cfg_table){.name = "t", .partitions.discover = true};
    here.config.tables = &here.table;
    here.config.table_count = 1;
    here.config.backend.keepalive_s = 300;
    here.config.backend.retry_ms = RETRY_MS;
    here.config.backend.capabilities.max_message = 1 << 20;
    here.worker.config = &here.config;
    here.worker.server = &here.server;
    uv_loop_init(&here.worker.loop);
    here.link.worker = &here.worker;
    px_runner_open(&here.runner, &here.link, &scripted, &ops, &here);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    px_runner_close(&here.runner);
    for (size_t i = 0; i < here.executor_count; i++) {
        assert_true(here.executors[i].closed);
        here.executors[i].ops->on_closed(here.executors[i].owner);
    }
    if (here.message != NULL)
        deliver();
    uv_run(&here.worker.loop, UV_RUN_DEFAULT);
    assert_true(here.closed);
    assert_int_equal(uv_loop_close(&here.worker.loop), 0);
    rw_program_free(here.program);
    pgw_buf_free(&here.log);
    return 0;
}

#endif
