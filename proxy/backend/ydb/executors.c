#include "proxy/backend/ydb/executors.h"

#include "proxy/backend/ydb/outcome.h"

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
