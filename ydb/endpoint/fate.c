#include "ydb/endpoint/fate.h"

#include "config/config.h"
#include "proxy/backend/base/classify.h"
#include "ydb/places/discovery.h"
#include "ydb/endpoint/pause.h"
#include "ydb/endpoint/text_most.h"
#include "proxy/base/shared.h"
#include "proxy/loop/worker.h"

#include <stdio.h>

enum { STUMBLES = 3 };

uint64_t px_runner_pause_ms(const px_runner *runner)
{
    return px_ydb_pause_ms(runner->tries, runner->fate == PX_YDB_SLOWLY, runner);
}

/* Only a commit can be done without an answer: COMMIT, or a text that writes outside of a
 * transaction. */
bool px_runner_may_be_done(const px_runner *runner)
{
    if (runner->doubted)
        return true;
    if (runner->fate != PX_YDB_UNDETERMINED || runner->replay.due)
        return false;
    if (runner->thing == PX_RUNNER_CONTROLLING)
        return runner->control == PX_CONTROL_COMMIT;
    if (runner->thing != PX_RUNNER_STEPPING || runner->in_block)
        return false;
    return runner->own_block ? runner->committing : runner->step.writes;
}

/* Whether another try may get another answer. What YDB stumbles over may be the statement's own
 * fault, and is tried again STUMBLES times; what takes too long is not tried again. */
static bool is_worth_it(const px_runner *runner)
{
    bool ended = pgw_error_is(&runner->failure, "57014") && !px_runner_may_be_done(runner);
    bool undetermined = runner->fate == PX_YDB_UNDETERMINED && !ended;
    bool silence =
        undetermined && (runner->stumbles < STUMBLES || pgw_error_is(&runner->failure, "08006"));
    return runner->fate == PX_YDB_AGAIN || runner->fate == PX_YDB_SLOWLY ||
           runner->fate == PX_YDB_ELSEWHERE || silence;
}

/* Whether a batch link leaves another try to its writer, and serves other rows meanwhile: if the
 * rows are certainly not done. An overtaken INSERT is tried at once, for the writer would take its
 * 23505 for the rows' own fault. */
static bool gives_back(const px_runner *runner)
{
    return runner->link->role == PX_LINK_BATCH && !px_runner_may_be_done(runner) &&
           !runner->overtaken;
}

/* Whether the thing can be sent again: outside of a transaction, unless it is COMMIT or ROLLBACK;
 * inside a group's that is kept as a whole, unless it is ROLLBACK. */
static bool is_repeatable(const px_runner *runner)
{
    bool ends = runner->thing == PX_RUNNER_CONTROLLING && runner->control != PX_CONTROL_BEGIN;
    bool undoes = ends && runner->control == PX_CONTROL_ROLLBACK;
    return runner->in_block ? px_replay_is_whole(&runner->replay) && !undoes : !ends;
}

/* Whether the first try was not committed, or another one comes to the same if it was. */
static bool comes_to_the_same(const px_runner *runner)
{
    bool program = runner->thing == PX_RUNNER_STEPPING && runner->own_block;
    return !px_runner_may_be_done(runner) || (program && rw_program_is_repeatable(runner->program));
}

static bool would_repeat(const px_runner *runner)
{
    return is_repeatable(runner) && comes_to_the_same(runner) && !gives_back(runner) &&
           !runner->given && is_worth_it(runner) &&
           px_worker_now(runner->link->worker) < runner->until;
}

bool px_runner_may_repeat(const px_runner *runner)
{
    return !runner->cancelled && would_repeat(runner);
}

bool px_runner_was_stopped(const px_runner *runner)
{
    return runner->cancelled && would_repeat(runner) && !px_runner_may_be_done(runner);
}

bool px_runner_is_to_undo(const px_runner *runner)
{
    bool owners = runner->in_block && runner->thing != PX_RUNNER_CONTROLLING;
    return runner->block != 'I' && (!owners || px_runner_may_repeat(runner));
}

bool px_runner_has_another_way(px_runner *runner)
{
    return runner->thing == PX_RUNNER_STEPPING && runner->fate == PX_YDB_REFUSED &&
           !runner->in_block && !runner->given && runner->executor != NULL &&
           rw_program_failed(runner->program, runner->failure.sqlstate);
}

void px_runner_note_overtaking(px_runner *runner)
{
    runner->overtaken =
        runner->state == PX_RUNNER_STEPPING && runner->fate == PX_YDB_REFUSED &&
        rw_program_was_overtaken(px_runner_program_of(runner), runner->failure.sqlstate);
    if (runner->overtaken)
        runner->fate = PX_YDB_AGAIN;
}

void px_runner_note_refusal(px_runner *runner, const pgw_error *error)
{
    bool passes = px_error_is_absence(error) || px_error_is_full(error);
    runner->failure = *error;
    runner->overtaken = false;
    runner->fate = passes ? PX_YDB_SLOWLY : PX_YDB_REFUSED;
}

void px_runner_note_cancel(px_runner *runner)
{
    runner->fate = PX_YDB_REFUSED;
    pgw_fail(&runner->failure, "57014", "canceling statement due to user request");
}

bool px_runner_may_be_let_in(const px_runner *runner)
{
    return runner->link->role == PX_LINK_BATCH && px_error_is_absence(&runner->failure) &&
           px_worker_now(runner->link->worker) < runner->until;
}

bool px_runner_refuses_overlong(px_runner *runner, pgw_slice text)
{
    const cfg_config *config = runner->link->worker->config;
    if (text.len <= px_ydb_text_most(config))
        return false;
    runner->fate = PX_YDB_REFUSED;
    pgw_fail(
        &runner->failure, "54000",
        "what YDB would be sent for the statement is longer than it takes, which is %llu bytes",
        (unsigned long long)config->backend.capabilities.max_message);
    pgw_error_hint(&runner->failure, "Send less at once: fewer rows, or shorter values.");
    return true;
}

void px_runner_say_unknown(px_runner *runner)
{
    pgw_error was = runner->failure;
    pgw_fail(&runner->failure, "08007", "it is not known whether the statement was committed");
    pgw_error_detail(&runner->failure, "%s", was.detail[0] != '\0' ? was.detail : was.message);
}

void px_runner_say_differs(px_runner *runner)
{
    const pgw_error *cause = &runner->replay.cause;
    runner->fate = PX_YDB_REFUSED;
    pgw_fail(&runner->failure, "40001",
             "could not serialize access: what the client was told would not be true any more");
    pgw_error_detail(&runner->failure, "%s",
                     cause->detail[0] != '\0' ? cause->detail : cause->message);
    pgw_error_hint(&runner->failure, "The transaction might succeed if retried.");
}

void px_runner_doubt_maps(const px_runner *runner)
{
    const px_worker *worker = runner->link->worker;
    if (!pgw_error_is(&runner->failure, "53000") && !pgw_error_is(&runner->failure, "57P03"))
        return;
    for (size_t i = 0; i < worker->config->table_count; i++) {
        const cfg_table *table = &worker->config->tables[i];
        char label[2 * 64 + 2];
        snprintf(label, sizeof label, "%s.%s", table->schema != NULL ? table->schema : "public",
                 table->name);
        if (table->partitions.discover)
            px_discovery_doubt(worker->server->discovery, label);
    }
}

void px_runner_name_cancel(px_runner *runner)
{
    if (runner->cancelled && pgw_error_is(&runner->failure, "57014"))
        pgw_fail(&runner->failure, "57014", "canceling statement due to %s",
                 runner->timed_out ? "statement timeout" : "user request");
}
