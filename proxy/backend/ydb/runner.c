#include "proxy/backend/ydb/runner.h"

#include "config/config.h"
#include "proxy/backend/ydb/fate.h"
#include "proxy/loop/worker.h"

#include <stddef.h>
#include <string.h>

static void go(px_runner *runner);
static void take_up(px_runner *runner);
static void decide(px_runner *runner);

/* ---- the answer ---- */

/* The thing is over; whoever hears of it may begin the next. */
static void finish(px_runner *runner, bool failed)
{
    if (runner->thing == PX_RUNNER_CONTROLLING)
        runner->in_block = runner->control == PX_CONTROL_BEGIN && !failed;
    runner->state = runner->executor != NULL ? PX_RUNNER_IDLE : PX_RUNNER_CLOSED;
    runner->thing = PX_RUNNER_IDLE;
    runner->program = NULL;
    if (runner->limited)
        uv_timer_stop(&runner->limit);
}

static void succeed(px_runner *runner)
{
    finish(runner, false);
    runner->ops->on_done(runner->owner, runner->tag);
}

static void fail(px_runner *runner)
{
    px_runner_name_timeout(runner);
    pgw_error error = runner->failure;
    finish(runner, true);
    runner->ops->on_failed(runner->owner, &error);
}

/* ---- time ---- */

static void on_timer(uv_timer_t *timer);

static void start(px_runner *runner, uv_timer_t *timer, bool *made, uv_timer_cb on_due, uint64_t ms)
{
    if (!*made)
        uv_timer_init(&runner->link->worker->loop, timer);
    *made = true;
    timer->data = runner;
    uv_timer_start(timer, on_due, ms, 0);
}

static void start_timer(px_runner *runner, uint64_t ms)
{
    start(runner, &runner->timer, &runner->timed, on_timer, ms);
}

/* YDB closes a connection that has said nothing for ten minutes. */
static void keep(px_runner *runner)
{
    start_timer(runner, (uint64_t)runner->link->worker->config->backend.keepalive_s * 1000);
}

static void on_timer(uv_timer_t *timer)
{
    px_runner *runner = timer->data;
    keep(runner);
    if (runner->state == PX_RUNNER_PAUSING) {
        go(runner);
    } else if (runner->state == PX_RUNNER_IDLE && runner->block != 'E') {
        runner->state = PX_RUNNER_KEEPING;
        runner->kind->run(runner->executor, PGW_LITERAL("SELECT 1"));
    }
}

static void on_limit(uv_timer_t *timer)
{
    px_runner *runner = timer->data;
    runner->timed_out = true;
    px_runner_cancel(runner);
}

/* ---- executors ---- */

static void end_if_quiet(px_runner *runner)
{
    if (!runner->closing || runner->executors > 0 || runner->timed || runner->limited ||
        runner->called_back)
        return;
    pgw_buf_free(&runner->text);
    runner->ops->on_closed(runner->owner);
}

static void on_executor_closed(void *owner)
{
    px_runner *runner = owner;
    runner->executors--;
    end_if_quiet(runner);
}

static void drop_executor(px_runner *runner)
{
    px_executor *executor = runner->executor;
    runner->executor = NULL;
    runner->block = 'I';
    if (executor != NULL)
        runner->kind->close(executor);
}

static const px_executor_ops executor_ops;

static void open_one(px_runner *runner)
{
    runner->state = PX_RUNNER_OPENING;
    runner->executors++;
    runner->executor = runner->kind->open(runner->link, &executor_ops, runner);
}

static void on_open(void *owner)
{
    px_runner *runner = owner;
    runner->block = 'I';
    keep(runner);
    if (runner->thing != PX_RUNNER_IDLE) {
        go(runner);
        return;
    }
    runner->state = PX_RUNNER_IDLE;
    runner->ops->on_open(runner->owner);
}

static void on_refused(void *owner, const pgw_error *error)
{
    px_runner *runner = owner;
    drop_executor(runner);
    runner->state = PX_RUNNER_CLOSED;
    px_runner_note_refusal(runner, error);
    if (runner->thing != PX_RUNNER_IDLE)
        decide(runner);
    else
        runner->ops->on_refused(runner->owner, error);
}

static void on_cancelled(void *owner)
{
    px_runner *runner = owner;
    runner->cancelling = false;
    runner->ops->on_cancelled(runner->owner);
}

/* Nobody tells of the cancel of an executor that is gone. */
static void end_cancel(px_runner *runner)
{
    if (runner->cancelling && runner->executor == NULL && !runner->closing)
        on_cancelled(runner);
}

static void on_idle_lost(void *owner)
{
    px_runner *runner = owner;
    drop_executor(runner);
    if (runner->state == PX_RUNNER_IDLE)
        runner->state = PX_RUNNER_CLOSED;
    end_cancel(runner);
}

/* ---- what goes wrong ---- */

static void go_on_with_program(px_runner *runner);

/* The program has another way, where this one was refused. */
static bool has_another_way(px_runner *runner)
{
    return runner->thing == PX_RUNNER_STEPPING && runner->fate == PX_YDB_REFUSED &&
           !runner->in_block && !runner->given && runner->executor != NULL &&
           rw_program_failed(runner->program, runner->failure.sqlstate);
}

/* What has failed has left nothing at the executor. */
static void decide(px_runner *runner)
{
    if (has_another_way(runner)) {
        go_on_with_program(runner);
        return;
    }
    bool unknown = px_runner_may_be_done(runner);
    px_runner_doubt_maps(runner);
    if (!unknown && px_runner_may_repeat(runner)) {
        if (runner->fate == PX_YDB_ELSEWHERE)
            drop_executor(runner);
        runner->state = PX_RUNNER_PAUSING;
        start_timer(runner, px_runner_pause_ms(runner));
        runner->tries++;
        runner->stumbles += runner->fate == PX_YDB_UNDETERMINED;
        return;
    }
    if (unknown)
        px_runner_say_unknown(runner);
    else if (pgw_error_is(&runner->failure, "08007"))
        memcpy(runner->failure.sqlstate, "40001", 6); /* it was undone */
    if (runner->fate == PX_YDB_ELSEWHERE && !runner->in_block)
        drop_executor(runner);
    fail(runner);
}

static void run(px_runner *runner, px_runner_state state, pgw_slice text)
{
    runner->state = state;
    runner->kind->run(runner->executor, text);
}

static void take_failure(px_runner *runner, const px_executed *executed)
{
    runner->failure = executed->error;
    runner->fate = executed->fate;
    if (executed->lost)
        drop_executor(runner);
    bool open =
        runner->block != 'I' && (!runner->in_block || runner->thing == PX_RUNNER_CONTROLLING);
    if (open)
        run(runner, PX_RUNNER_UNDOING, PGW_LITERAL("ROLLBACK"));
    else
        decide(runner);
}

/* ---- a program ---- */

static void step(px_runner *runner)
{
    if (rw_program_next(runner->program, &runner->step)) {
        run(runner, PX_RUNNER_STEPPING, runner->step.text);
        return;
    }
    rw_program_tag(runner->program, runner->tag);
    if (!runner->own_block) {
        succeed(runner);
        return;
    }
    runner->committing = true;
    run(runner, PX_RUNNER_COMMITTING, PGW_LITERAL("COMMIT"));
}

/* From where the program stands. */
static void go_on_with_program(px_runner *runner)
{
    runner->ops->on_again(runner->owner);
    runner->failure = PGW_ERROR_NONE;
    runner->own_block = !runner->in_block && !rw_program_is_single(runner->program);
    runner->committing = false;
    if (runner->own_block)
        run(runner, PX_RUNNER_BEGINNING, PGW_LITERAL("BEGIN"));
    else
        step(runner);
}

static void begin_program(px_runner *runner)
{
    rw_program_rewind(runner->program);
    go_on_with_program(runner);
}

static void begin_control(px_runner *runner)
{
    static const char *const words[] = {"BEGIN", "COMMIT", "ROLLBACK"};
    run(runner, PX_RUNNER_CONTROLLING, pgw_slice_str(words[runner->control]));
}

/* With an executor that is idle; if there is none, one is opened first. */
static void go(px_runner *runner)
{
    if (runner->executor == NULL) {
        open_one(runner);
    } else if (runner->thing == PX_RUNNER_STEPPING) {
        begin_program(runner);
    } else if (runner->thing == PX_RUNNER_CONTROLLING) {
        begin_control(runner);
    } else {
        runner->state = PX_RUNNER_DESCRIBING;
        runner->kind->describe(runner->executor, pgw_slice_buf(&runner->text));
    }
}

/* ---- what the executor tells ---- */

static void on_columns(void *owner, pgw_slice columns)
{
    px_runner *runner = owner;
    bool ours = runner->state == PX_RUNNER_STEPPING && runner->step.rows != RW_ROWS_CLIENT;
    if (ours || (runner->state != PX_RUNNER_STEPPING && runner->state != PX_RUNNER_DESCRIBING))
        return;
    runner->given = runner->given || runner->program == NULL || !rw_program_writes(runner->program);
    runner->ops->on_columns(runner->owner, columns);
}

static void on_row(void *owner, const pgw_slice *cells, size_t count)
{
    px_runner *runner = owner;
    pgw_error error;
    if (runner->state != PX_RUNNER_STEPPING)
        return;
    if (runner->step.rows == RW_ROWS_CLIENT)
        runner->ops->on_row(runner->owner, cells, count);
    else if (runner->step.rows == RW_ROWS_OURS &&
             !rw_program_row(runner->program, cells, count, &error))
        runner->failure = error; /* looked at behind the last one */
}

static void on_stepped(px_runner *runner, const px_executed *executed)
{
    if (runner->failure.sqlstate[0] != '\0') {
        px_executed wrong = *executed;
        wrong.fate = PX_YDB_REFUSED;
        wrong.error = runner->failure;
        take_failure(runner, &wrong);
        return;
    }
    rw_program_stepped(runner->program, pgw_slice_str(executed->tag));
    step(runner);
}

/* What has waited for it may find that its transaction is not there any more. */
static void on_kept(px_runner *runner, const px_executed *executed)
{
    if (executed->lost)
        drop_executor(runner);
    runner->state = executed->lost ? PX_RUNNER_CLOSED : PX_RUNNER_IDLE;
    if (runner->thing != PX_RUNNER_IDLE)
        take_up(runner);
}

static void on_undone(px_runner *runner, const px_executed *executed)
{
    if (executed->lost || runner->block != 'I')
        drop_executor(runner);
    decide(runner);
}

static void on_executed(void *owner, const px_executed *executed)
{
    px_runner *runner = owner;
    runner->block = executed->block;
    if (runner->state == PX_RUNNER_KEEPING)
        on_kept(runner, executed);
    else if (runner->state == PX_RUNNER_UNDOING)
        on_undone(runner, executed);
    else if (executed->failed)
        take_failure(runner, executed);
    else if (runner->state == PX_RUNNER_BEGINNING)
        step(runner);
    else if (runner->state == PX_RUNNER_STEPPING)
        on_stepped(runner, executed);
    else
        succeed(runner);
    end_cancel(runner);
}

static const px_executor_ops executor_ops = {
    .on_open = on_open,
    .on_refused = on_refused,
    .on_columns = on_columns,
    .on_row = on_row,
    .on_executed = on_executed,
    .on_idle_lost = on_idle_lost,
    .on_cancelled = on_cancelled,
    .on_closed = on_executor_closed,
};

/* ---- things ---- */

static void on_call(px_worker *worker, px_message *message)
{
    (void)worker;
    px_runner *runner = (px_runner *)((char *)message - offsetof(px_runner, call));
    runner->called_back = false;
    if (runner->closing)
        end_if_quiet(runner);
    else if (runner->failure.sqlstate[0] != '\0')
        fail(runner);
    else
        succeed(runner);
}

/* The thing is over without YDB's having been asked, with `failure` or well; the owner hears of it
 * on a later turn. */
static void answer(px_runner *runner)
{
    runner->called_back = true;
    runner->call.run = on_call;
    px_worker_send(runner->link->worker, &runner->call);
}

static void answer_lost(px_runner *runner)
{
    pgw_fail(&runner->failure, "08006",
             "the transaction ended when its connection to YDB was lost");
    pgw_error_hint(&runner->failure, "Nothing of it was committed: repeat it.");
    answer(runner);
}

static void answer_cancelled(px_runner *runner)
{
    pgw_fail(&runner->failure, "57014", "canceling statement due to user request");
    answer(runner);
}

/* The client's transaction goes with its connection: no other one may take what belongs to it. */
static void take_up(px_runner *runner)
{
    bool undoes = runner->thing == PX_RUNNER_CONTROLLING && runner->control == PX_CONTROL_ROLLBACK;
    if (runner->cancelled)
        answer_cancelled(runner);
    else if (undoes && runner->block == 'I')
        answer(runner);
    else if (runner->in_block && runner->executor == NULL)
        answer_lost(runner);
    else
        go(runner);
}

static void begin(px_runner *runner, px_runner_state thing)
{
    runner->thing = thing;
    runner->given = runner->cancelled = runner->timed_out = false;
    runner->tries = runner->stumbles = 0;
    runner->until =
        px_worker_now(runner->link->worker) + runner->link->worker->config->backend.retry_ms;
    runner->failure = PGW_ERROR_NONE;
    runner->tag[0] = '\0';
    if (runner->state == PX_RUNNER_IDLE || runner->state == PX_RUNNER_CLOSED)
        take_up(runner);
}

void px_runner_program(px_runner *runner, rw_program *program, uint64_t timeout)
{
    runner->program = program;
    if (timeout > 0)
        start(runner, &runner->limit, &runner->limited, on_limit, timeout);
    begin(runner, PX_RUNNER_STEPPING);
}

void px_runner_describe(px_runner *runner, pgw_slice text)
{
    pgw_buf_clear(&runner->text);
    pgw_buf_add_slice(&runner->text, text);
    begin(runner, PX_RUNNER_DESCRIBING);
}

void px_runner_control(px_runner *runner, px_control control)
{
    runner->control = control;
    begin(runner, PX_RUNNER_CONTROLLING);
}

/* ---- cancel, life ---- */

void px_runner_cancel(px_runner *runner)
{
    runner->cancelled = true;
    if (!px_runner_is_busy(runner) || runner->called_back || runner->cancelling)
        return;
    if (runner->state == PX_RUNNER_PAUSING || runner->state == PX_RUNNER_OPENING) {
        keep(runner);
        if (runner->state == PX_RUNNER_OPENING)
            drop_executor(runner);
        answer_cancelled(runner);
        return;
    }
    runner->cancelling = runner->kind->cancel(runner->executor);
}

void px_runner_open(px_runner *runner, px_link *link, const px_executor_kind *kind,
                    const px_runner_ops *ops, void *owner)
{
    *runner = (px_runner){.kind = kind, .ops = ops, .owner = owner, .link = link, .block = 'I'};
    runner->thing = PX_RUNNER_IDLE;
    open_one(runner);
}

static void on_timer_closed(uv_handle_t *handle)
{
    px_runner *runner = handle->data;
    *(handle == (uv_handle_t *)&runner->timer ? &runner->timed : &runner->limited) = false;
    end_if_quiet(runner);
}

void px_runner_close(px_runner *runner)
{
    runner->closing = true;
    if (runner->timed)
        uv_close((uv_handle_t *)&runner->timer, on_timer_closed);
    if (runner->limited)
        uv_close((uv_handle_t *)&runner->limit, on_timer_closed);
    runner->executors++; /* the end is below */
    drop_executor(runner);
    runner->executors--;
    end_if_quiet(runner);
}
