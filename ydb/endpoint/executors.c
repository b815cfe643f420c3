#include "ydb/endpoint/executors.h"

#include "ydb/endpoint/outcome.h"

void px_runner_executor_closed(void *owner)
{
    px_runner *runner = owner;
    runner->executors--;
    px_runner_end_if_quiet(runner);
}

void px_runner_drop(px_runner *runner)
{
    px_executor *executor = runner->executor;
    runner->executor = NULL;
    runner->block = 'I';
    if (executor != NULL)
        runner->kind->close(executor);
}

void px_runner_cancel_heard(void *owner)
{
    px_runner *runner = owner;
    runner->cancelling = false;
    runner->ops->on_cancelled(runner->owner);
}

void px_runner_end_cancel(px_runner *runner)
{
    if (runner->cancelling && runner->executor == NULL && !runner->closing)
        px_runner_cancel_heard(runner);
}

void px_runner_lost_idle(void *owner)
{
    px_runner *runner = owner;
    px_runner_drop(runner);
    if (runner->state == PX_RUNNER_IDLE)
        runner->state = PX_RUNNER_CLOSED;
    px_runner_end_cancel(runner);
}

void px_runner_columns(void *owner, pgw_slice columns)
{
    px_runner *runner = owner;
    bool ours = runner->state == PX_RUNNER_STEPPING && runner->step.rows != RW_ROWS_CLIENT;
    if (ours || (runner->state != PX_RUNNER_STEPPING && runner->state != PX_RUNNER_DESCRIBING))
        return;
    px_replay_columns(&runner->replay, columns);
    if (runner->replay.due)
        return;
    runner->given = runner->given || runner->program == NULL || !rw_program_writes(runner->program);
    runner->ops->on_columns(runner->owner, columns);
}

static void give_row(px_runner *runner, const pgw_slice *cells, size_t count)
{
    px_replay_row(&runner->replay, cells, count);
    if (!runner->replay.due)
        runner->ops->on_row(runner->owner, cells, count);
}

void px_runner_row(void *owner, const pgw_slice *cells, size_t count)
{
    px_runner *runner = owner;
    pgw_error error;
    if (runner->state != PX_RUNNER_STEPPING)
        return;
    if (runner->step.rows == RW_ROWS_CLIENT)
        give_row(runner, cells, count);
    else if (runner->step.rows == RW_ROWS_OURS &&
             !rw_program_row(px_runner_program_of(runner), cells, count, &error))
        runner->failure = error; /* on_stepped() looks at it when all rows have come */
}
