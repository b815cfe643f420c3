#include "ydb/endpoint/runner.h"

#include "config/config.h"
#include "ydb/endpoint/executors.h"
#include "ydb/endpoint/fate.h"
#include "ydb/endpoint/outcome.h"
#include "proxy/loop/worker.h"

#include <string.h>

static void go(px_runner *runner);
static void take_up(px_runner *runner);
static void decide(px_runner *runner);

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

/* Starts the time until the next SELECT 1, for YDB closes a connection that is silent for ten
 * minutes. */
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
    } else if (runner->state == PX_RUNNER_IDLE && !runner->called_back && runner->block != 'E') {
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

static const px_executor_ops executor_ops;

static void open_one(px_runner *runner)
{
    runner->state = PX_RUNNER_OPENING;
    runner->executors++;
    runner->executor = runner->kind->open(runner->link, &executor_ops, runner);
}

static void pause(px_runner *runner)
{
    runner->state = PX_RUNNER_PAUSING;
    start_timer(runner, px_runner_pause_ms(runner));
    runner->tries++;
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
    px_runner_drop(runner);
    runner->state = PX_RUNNER_CLOSED;
    px_runner_note_refusal(runner, error);
    if (runner->thing != PX_RUNNER_IDLE)
        decide(runner);
    else if (px_runner_may_be_let_in(runner))
        pause(runner);
    else
        runner->ops->on_refused(runner->owner, error);
}

/* ---- what goes wrong ---- */

static void go_on_with_program(px_runner *runner);

/* Decides what becomes of a failed thing, after ROLLBACK if that was due: another way, another try,
 * or its failure. */
static void decide(px_runner *runner)
{
    if (px_runner_has_another_way(runner)) {
        go_on_with_program(runner);
        return;
    }
    bool unknown = px_runner_may_be_done(runner);
    px_runner_doubt_maps(runner);
    if (px_runner_may_repeat(runner)) {
        runner->doubted = unknown;
        if (runner->fate == PX_YDB_ELSEWHERE)
            px_runner_drop(runner);
        if (runner->in_block)
            px_replay_rewind(&runner->replay, &runner->failure);
        pause(runner);
        runner->stumbles += runner->fate == PX_YDB_UNDETERMINED;
        return;
    }
    bool stopped = px_runner_was_stopped(runner);
    if (runner->fate == PX_YDB_ELSEWHERE && !runner->in_block)
        px_runner_drop(runner);
    if (stopped)
        px_runner_note_cancel(runner);
    else if (unknown)
        px_runner_say_unknown(runner);
    else if (pgw_error_is(&runner->failure, "08007"))
        memcpy(runner->failure.sqlstate, "40001", 6); /* nothing was committed */
    px_runner_fail(runner);
}

static void run(px_runner *runner, px_runner_state state, pgw_slice text)
{
    runner->state = state;
    runner->kind->run(runner->executor, text);
}

static void undo(px_runner *runner)
{
    if (px_runner_is_to_undo(runner))
        run(runner, PX_RUNNER_UNDOING, PGW_LITERAL("ROLLBACK"));
    else
        decide(runner);
}

/* Takes the failure of a text. If one that is replayed is refused now, the statement that waits for
 * it gets 40001, for the error is not its own. */
static void take_failure(px_runner *runner, const px_executed *executed)
{
    bool ours = runner->state == PX_RUNNER_STEPPING && runner->step.rows != RW_ROWS_NONE;
    runner->failure = executed->error;
    if (ours)
        rw_program_blame(px_runner_program_of(runner), &runner->failure);
    runner->fate = executed->fate;
    px_runner_note_overtaking(runner);
    if (executed->lost)
        px_runner_drop(runner);
    if (runner->fate == PX_YDB_REFUSED && runner->replay.due)
        px_runner_say_differs(runner);
    undo(runner);
}

/* ---- a program ---- */

static void go_on_replaying(px_runner *runner);

/* Ends the thing at hand without sending more of it. The owner may be inside a call, so that it is
 * told on a later turn. */
static void give_up(px_runner *runner)
{
    if (px_runner_is_to_undo(runner)) {
        undo(runner);
        return;
    }
    runner->state = PX_RUNNER_IDLE;
    px_runner_answer(runner);
}

/* Runs the next text, unless the thing was cancelled, perhaps between two texts, or the text is too
 * long for YDB. */
static void go_further(px_runner *runner, px_runner_state state, pgw_slice text)
{
    if (runner->cancelled)
        px_runner_note_cancel(runner);
    if (runner->cancelled || px_runner_refuses_overlong(runner, text))
        give_up(runner);
    else
        run(runner, state, text);
}

static void step(px_runner *runner)
{
    if (rw_program_next(px_runner_program_of(runner), &runner->step)) {
        go_further(runner, PX_RUNNER_STEPPING, runner->step.text);
        return;
    }
    rw_program_tag(px_runner_program_of(runner), runner->tag);
    px_replay_tag(&runner->replay, runner->tag);
    if (runner->replay.due) {
        go_on_replaying(runner);
        return;
    }
    if (!runner->own_block) {
        px_runner_succeed(runner);
        return;
    }
    runner->committing = !runner->cancelled;
    go_further(runner, PX_RUNNER_COMMITTING, PGW_LITERAL("COMMIT"));
}

/* Runs the program from the step at which it stands. */
static void go_on_with_program(px_runner *runner)
{
    runner->ops->on_again(runner->owner);
    px_replay_anew(&runner->replay);
    runner->failure = PGW_ERROR_NONE;
    runner->own_block = !runner->in_block && !rw_program_is_single(runner->program);
    runner->committing = false;
    if (runner->own_block)
        go_further(runner, PX_RUNNER_BEGINNING, PGW_LITERAL("BEGIN"));
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
    go_further(runner, PX_RUNNER_CONTROLLING, pgw_slice_str(words[runner->control]));
}

/* ---- a group's transaction, once more ---- */

/* Runs the next program of the transaction that is done once more; after the last one, the thing
 * that waits. */
static void replay(px_runner *runner)
{
    runner->failure = PGW_ERROR_NONE;
    if (px_replay_next(&runner->replay) != NULL)
        step(runner);
    else
        go(runner);
}

/* Goes on if the replayed program gave what the client was told before; else fails with 40001. */
static void go_on_replaying(px_runner *runner)
{
    runner->tag[0] = '\0';
    if (px_replay_agrees(&runner->replay)) {
        replay(runner);
        return;
    }
    px_runner_say_differs(runner);
    undo(runner);
}

static void replay_lost(px_runner *runner)
{
    px_runner_note_loss(runner);
    px_replay_rewind(&runner->replay, &runner->failure);
    go(runner);
}

static void on_begun(px_runner *runner)
{
    if (runner->replay.due)
        replay(runner);
    else
        step(runner);
}

/* ---- the thing at hand ---- */

/* Sends the thing at hand to the idle executor; if there is none, one is opened first. */
static void go(px_runner *runner)
{
    if (runner->executor == NULL) {
        open_one(runner);
    } else if (runner->replay.due) {
        run(runner, PX_RUNNER_BEGINNING, PGW_LITERAL("BEGIN"));
    } else if (runner->thing == PX_RUNNER_STEPPING) {
        begin_program(runner);
    } else if (runner->thing == PX_RUNNER_CONTROLLING) {
        begin_control(runner);
    } else if (px_runner_refuses_overlong(runner, pgw_slice_buf(&runner->text))) {
        give_up(runner);
    } else {
        runner->state = PX_RUNNER_DESCRIBING;
        runner->kind->describe(runner->executor, pgw_slice_buf(&runner->text));
    }
}

/* ---- what the executor tells ---- */

static void on_stepped(px_runner *runner, const px_executed *executed)
{
    if (runner->failure.sqlstate[0] != '\0') {
        px_executed wrong = *executed;
        wrong.fate = PX_YDB_REFUSED;
        wrong.error = runner->failure;
        take_failure(runner, &wrong);
        return;
    }
    rw_program_stepped(px_runner_program_of(runner), pgw_slice_str(executed->tag));
    step(runner);
}

/* SELECT 1 has ended. A thing that has waited for it may find its transaction gone. */
static void on_kept(px_runner *runner, const px_executed *executed)
{
    if (executed->failed && executed->fate != PX_YDB_UNDETERMINED)
        runner->unheard = executed->error;
    if (executed->lost)
        px_runner_drop(runner);
    runner->state = executed->lost ? PX_RUNNER_CLOSED : PX_RUNNER_IDLE;
    if (runner->thing != PX_RUNNER_IDLE)
        take_up(runner);
}

static void on_undone(px_runner *runner, const px_executed *executed)
{
    if (executed->lost || runner->block != 'I')
        px_runner_drop(runner);
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
        on_begun(runner);
    else if (runner->state == PX_RUNNER_STEPPING)
        on_stepped(runner, executed);
    else
        px_runner_succeed(runner);
    px_runner_end_cancel(runner);
}

static const px_executor_ops executor_ops = {
    .on_open = on_open,
    .on_refused = on_refused,
    .on_columns = px_runner_columns,
    .on_row = px_runner_row,
    .on_executed = on_executed,
    .on_idle_lost = px_runner_lost_idle,
    .on_cancelled = px_runner_cancel_heard,
    .on_closed = px_runner_executor_closed,
};

/* ---- things ---- */

/* Begins the thing at hand. The client's transaction is lost with its connection, and no part of it
 * may run on another one, but all of it may. */
static void take_up(px_runner *runner)
{
    bool controls = runner->thing == PX_RUNNER_CONTROLLING;
    bool undoes = controls && runner->control == PX_CONTROL_ROLLBACK;
    /* The client has not heard of the failure, and YDB would answer COMMIT with the tag COMMIT. */
    bool failed = runner->in_block && runner->block == 'E';
    if ((failed && !undoes) || (runner->cancelled && controls)) {
        px_runner_drop(runner);
        runner->state = PX_RUNNER_CLOSED;
    }
    bool lost = runner->in_block && runner->executor == NULL;
    if (runner->cancelled)
        px_runner_answer_cancelled(runner);
    else if (undoes && runner->block == 'I')
        px_runner_answer(runner);
    else if (lost && !px_replay_is_whole(&runner->replay))
        px_runner_answer_lost(runner);
    else if (lost)
        replay_lost(runner);
    else
        go(runner);
}

static void start_trying(px_runner *runner)
{
    const px_worker *worker = runner->link->worker;
    runner->tries = runner->stumbles = 0;
    runner->until = px_worker_now(worker) + worker->config->backend.retry_ms;
}

static void begin(px_runner *runner, px_runner_state thing)
{
    runner->thing = thing;
    runner->given = runner->cancelled = runner->timed_out = runner->doubted = false;
    runner->overtaken = false;
    start_trying(runner);
    runner->failure = PGW_ERROR_NONE;
    runner->tag[0] = '\0';
    if (runner->state == PX_RUNNER_IDLE || runner->state == PX_RUNNER_CLOSED)
        take_up(runner);
}

void px_runner_limit(px_runner *runner, uint64_t timeout)
{
    if (timeout > 0)
        start(runner, &runner->limit, &runner->limited, on_limit, timeout);
    else if (runner->limited)
        uv_timer_stop(&runner->limit);
}

void px_runner_program(px_runner *runner, rw_program *program, uint64_t timeout)
{
    runner->program = program;
    px_runner_limit(runner, timeout);
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

void px_runner_begin_group(px_runner *runner)
{
    if (runner->link->role != PX_LINK_BATCH)
        px_replay_begin(&runner->replay);
    px_runner_control(runner, PX_CONTROL_BEGIN);
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
            px_runner_drop(runner);
        px_runner_answer_cancelled(runner);
        return;
    }
    runner->cancelling = runner->kind->cancel(runner->executor);
}

void px_runner_open(px_runner *runner, px_link *link, const px_executor_kind *kind,
                    const px_runner_ops *ops, void *owner)
{
    *runner = (px_runner){.kind = kind, .ops = ops, .owner = owner, .link = link, .block = 'I'};
    runner->thing = PX_RUNNER_IDLE;
    start_trying(runner);
    open_one(runner);
}

void px_runner_lose_block(px_runner *runner, const pgw_error *error)
{
    if (!runner->in_block)
        return;
    runner->unheard = *error;
    px_runner_drop(runner);
    runner->state = PX_RUNNER_CLOSED;
}

static void on_timer_closed(uv_handle_t *handle)
{
    px_runner *runner = handle->data;
    *(handle == (uv_handle_t *)&runner->timer ? &runner->timed : &runner->limited) = false;
    px_runner_end_if_quiet(runner);
}

void px_runner_close(px_runner *runner)
{
    runner->closing = true;
    if (runner->timed)
        uv_close((uv_handle_t *)&runner->timer, on_timer_closed);
    if (runner->limited)
        uv_close((uv_handle_t *)&runner->limit, on_timer_closed);
    runner->executors++; /* px_runner_drop() must not tell on_closed yet */
    px_runner_drop(runner);
    runner->executors--;
    px_runner_end_if_quiet(runner);
}
