/*
 * outcome: how the thing that a runner does ends, and how the runner's owner hears of that.
 */
#ifndef PX_YDB_OUTCOME_H
#define PX_YDB_OUTCOME_H

#include "ydb/endpoint/runner_state.h"

/* The end of the thing at hand, with the runner's tag or failure. The owner may begin the next
 * thing in its callback. */
void px_runner_succeed(px_runner *runner);
void px_runner_fail(px_runner *runner);

/* Ends the thing at hand without asking YDB: with the runner's failure, or well if it has none. The
 * owner hears of it on a later turn. */
void px_runner_answer(px_runner *runner);
/* As px_runner_answer(), with the error that the transaction was lost with its executor. */
void px_runner_answer_lost(px_runner *runner);
/* As px_runner_answer(), with the error that the thing at hand was cancelled. */
void px_runner_answer_cancelled(px_runner *runner);

/* Makes the failure the reason why the transaction has ended: runner->unheard, or that it was lost
 * with its executor. */
void px_runner_note_loss(px_runner *runner);

/* Tells the owner on_closed, once the runner was closed and nothing of it is under way. */
void px_runner_end_if_quiet(px_runner *runner);

#endif
