/*
 * runner: does one thing at a time at YDB for a link: runs a program, asks for a text's columns, or
 * begins or ends a transaction. It opens and replaces executors, and repeats with growing pauses
 * what YDB has not done, though never in a client's transaction, nor when rows have been given.
 */
#ifndef PX_YDB_RUNNER_H
#define PX_YDB_RUNNER_H

#include "ydb/endpoint/runner_state.h"

/* Opens the first executor. `runner` is all zero, and stays until on_closed. */
void px_runner_open(px_runner *runner, px_link *link, const px_executor_kind *kind,
                    const px_runner_ops *ops, void *owner);
void px_runner_close(px_runner *runner);

/* Things begin only while the runner is not busy: a program, describe, control and begin_group. */

/* Runs a program; if it takes longer than `timeout` ms (0: any time), it ends with 57014. */
void px_runner_program(px_runner *runner, rw_program *program, uint64_t timeout);
/* Gives the program at hand `timeout` ms from now on (0: any time). */
void px_runner_limit(px_runner *runner, uint64_t timeout);
void px_runner_describe(px_runner *runner, pgw_slice text);
void px_runner_control(px_runner *runner, px_control control);
/* BEGIN of a group's transaction, for which no client has asked. If YDB takes it back, its programs
 * are run once more, as long as their results are the same. */
void px_runner_begin_group(px_runner *runner);
/* The client has made the group's transaction its own: it is not done once more. */
static inline void px_runner_end_group(px_runner *runner)
{
    px_replay_forget(&runner->replay);
}

/* In on_done of a program: the runner takes it over, and the memory of its text. False: both stay
 * the caller's. */
PGW_MUST_CHECK static inline bool px_runner_keep(px_runner *runner, rw_program *program,
                                                 pgw_arena *arena)
{
    return px_replay_keep(&runner->replay, program, arena);
}

/* Ends the thing at hand with 57014, if it is not done before. If the runner is `cancelling` then,
 * on_cancelled comes, and nothing may be begun before. */
void px_runner_cancel(px_runner *runner);

static inline bool px_runner_is_busy(const px_runner *runner)
{
    return runner->thing != PX_RUNNER_IDLE;
}

/* Whether a transaction of the client's or a group's is open. */
static inline bool px_runner_is_in_block(const px_runner *runner)
{
    return runner->in_block;
}

/* In on_failed: ends the client's transaction with an error that the client is not told now, but by
 * its next statement. */
void px_runner_lose_block(px_runner *runner, const pgw_error *error);

/* In on_columns and on_row: the program fails with this error when the step at hand has ended. */
static inline void px_runner_refuse(px_runner *runner, const pgw_error *error)
{
    runner->failure = *error;
}

/* Stops the rows of the executor until px_runner_resume(). */
static inline void px_runner_pause(px_runner *runner)
{
    if (runner->executor != NULL)
        runner->kind->pause(runner->executor);
}

static inline void px_runner_resume(px_runner *runner)
{
    if (runner->executor != NULL)
        runner->kind->resume(runner->executor);
}

static inline const char *px_runner_parameter(const px_runner *runner, const char *name)
{
    return runner->executor != NULL ? runner->kind->parameter(runner->executor, name) : NULL;
}

#endif
