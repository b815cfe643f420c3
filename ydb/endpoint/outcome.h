/*
 * outcome: how what a runner does ends, and how its owner hears of that.
 */
#ifndef PX_YDB_OUTCOME_H
#define PX_YDB_OUTCOME_H

#include "ydb/endpoint/runner_state.h"

/* The thing at hand is over, with the runner's tag or failure; whoever hears of it may begin the
 * next. */
void px_runner_succeed(px_runner *runner);
void px_runner_fail(px_runner *runner);

/* … without YDB's having been asked: well, or with an error. The owner hears of it on a later
 * turn. */
void px_runner_answer(px_runner *runner);
void px_runner_answer_lost(px_runner *runner); /* the transaction, with its executor */
void px_runner_answer_cancelled(px_runner *runner);

/* The failure is why the transaction is not there any more: what YDB said of it unheard, or that it
 * was lost with its executor. */
void px_runner_note_loss(px_runner *runner);

/* It was closed, and nothing of it is under way any more: then the owner hears that. */
void px_runner_end_if_quiet(px_runner *runner);

#endif
