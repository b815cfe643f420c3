/*
 * executors: the callbacks by which a runner hears of its one executor, except how texts end, and
 * how the runner gives that executor up.
 */
#ifndef PX_YDB_EXECUTORS_H
#define PX_YDB_EXECUTORS_H

#include "ydb/endpoint/runner_state.h"

/* Closes the runner's executor, and with it the transaction begun there. Without one: nothing. */
void px_runner_drop(px_runner *runner);
/* Tells the owner on_cancelled if the executor whose cancel is under way is gone: it cannot. */
void px_runner_end_cancel(px_runner *runner);

/* Callbacks of executors (executor.h) whose owner is a runner. */
void px_runner_executor_closed(void *owner);
void px_runner_cancel_heard(void *owner);
void px_runner_lost_idle(void *owner);
void px_runner_columns(void *owner, pgw_slice columns);
void px_runner_row(void *owner, const pgw_slice *cells, size_t count);

#endif
