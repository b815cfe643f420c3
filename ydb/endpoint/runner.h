/*
 * runner: does one thing at a time at YDB for a link: a program of texts, in a transaction of its
 * own if there are several; the columns of a text; a word that begins or ends the client's
 * transaction. It opens executors, replaces those that are lost, and repeats, with growing pauses,
 * what YDB has not done and may do: never in a client's transaction, nor when rows have been given.
 */
#ifndef PX_YDB_RUNNER_H
#define PX_YDB_RUNNER_H

#include "ydb/endpoint/runner_state.h"

/* Opens the first executor. `runner` is all zero, and stays until on_closed. */
void px_runner_open(px_runner *runner, px_link *link, const px_executor_kind *kind,
                    const px_runner_ops *ops, void *owner);
void px_runner_close(px_runner *runner);

/* Nothing is at hand: */
/* `timeout` in ms, 0: none. What takes longer is ended with 57014. */
void px_runner_program(px_runner *runner, rw_program *program, uint64_t timeout);
/* … of the program at hand, from now on anew. */
void px_runner_limit(px_runner *runner, uint64_t timeout);
void px_runner_describe(px_runner *runner, pgw_slice text);
void px_runner_control(px_runner *runner, px_control control);
/* BEGIN, of a transaction that no client has asked for. What is done in it is done once more if YDB
 * takes it back, as long as the same comes of it. */
void px_runner_begin_group(px_runner *runner);
/* … the client has made it its own. */
static inline void px_runner_end_group(px_runner *runner)
{
    px_replay_forget(&runner->replay);
}

/* In on_done of a program: takes it over, and the memory of its text. False: it has no use for
 * them. */
PGW_MUST_CHECK static inline bool px_runner_keep(px_runner *runner, rw_program *program,
                                                 pgw_arena *arena)
{
    return px_replay_keep(&runner->replay, program, arena);
}

/* What is at hand is to end with 57014. If it is `cancelling` then, on_cancelled comes, and nothing
 * is begun before. */
void px_runner_cancel(px_runner *runner);

static inline bool px_runner_is_busy(const px_runner *runner)
{
    return runner->thing != PX_RUNNER_IDLE;
}

/* BEGIN was done, and no end of it. */
static inline bool px_runner_is_in_block(const px_runner *runner)
{
    return runner->in_block;
}

/* In on_failed: the client's transaction has ended with an error that it was not told of; its next
 * statement is. */
void px_runner_lose_block(px_runner *runner, const pgw_error *error);

/* In on_columns and on_row: the program fails with this behind the step whose rows they are. */
static inline void px_runner_refuse(px_runner *runner, const pgw_error *error)
{
    runner->failure = *error;
}

/* No more rows, until it goes on. */
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
