#include "ydb/endpoint/outcome.h"

#include "ydb/endpoint/fate.h"
#include "proxy/loop/worker.h"

#include <stddef.h>

static void finish(px_runner *runner, bool failed)
{
    if (runner->thing == PX_RUNNER_CONTROLLING) {
        runner->unheard = PGW_ERROR_NONE;
        runner->in_block = runner->control == PX_CONTROL_BEGIN && !failed;
    }
    if (failed || !runner->in_block)
        px_replay_forget(&runner->replay);
    runner->state = runner->executor != NULL ? PX_RUNNER_IDLE : PX_RUNNER_CLOSED;
    runner->thing = PX_RUNNER_IDLE;
    runner->program = NULL;
    if (runner->limited)
        uv_timer_stop(&runner->limit);
}

void px_runner_succeed(px_runner *runner)
{
    finish(runner, false);
    runner->ops->on_done(runner->owner, runner->tag);
}

void px_runner_fail(px_runner *runner)
{
    px_runner_name_cancel(runner);
    if (runner->doubted)
        px_runner_say_unknown(runner);
    pgw_error error = runner->failure;
    finish(runner, true);
    runner->ops->on_failed(runner->owner, &error);
}

static void on_call(px_worker *worker, px_message *message)
{
    (void)worker;
    px_runner *runner = (px_runner *)((char *)message - offsetof(px_runner, call));
    runner->called_back = false;
    if (runner->closing)
        px_runner_end_if_quiet(runner);
    else if (runner->failure.sqlstate[0] != '\0')
        px_runner_fail(runner);
    else
        px_runner_succeed(runner);
}

void px_runner_answer(px_runner *runner)
{
    runner->called_back = true;
    runner->call.run = on_call;
    px_worker_send(runner->link->worker, &runner->call);
}

void px_runner_note_loss(px_runner *runner)
{
    runner->failure = runner->unheard;
    if (runner->unheard.sqlstate[0] != '\0')
        return;
    pgw_fail(&runner->failure, "08006",
             "the transaction ended when its connection to YDB was lost");
    pgw_error_hint(&runner->failure, "Nothing of it was committed: repeat it.");
}

void px_runner_answer_lost(px_runner *runner)
{
    px_runner_note_loss(runner);
    px_runner_answer(runner);
}

void px_runner_answer_cancelled(px_runner *runner)
{
    px_runner_note_cancel(runner);
    px_runner_answer(runner);
}

void px_runner_end_if_quiet(px_runner *runner)
{
    if (!runner->closing || runner->executors > 0 || runner->timed || runner->limited ||
        runner->called_back)
        return;
    px_replay_forget(&runner->replay);
    pgw_buf_free(&runner->text);
    runner->ops->on_closed(runner->owner);
}
