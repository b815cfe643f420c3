/*
 * executors: what a runner hears of the executor that it has, but for how texts end; and how it
 * parts with it: one a time, for all it does.
 */
#ifndef PX_YDB_EXECUTORS_H
#define PX_YDB_EXECUTORS_H

#include "ydb/endpoint/runner_state.h"

/* It is not the runner's any more; nor is what was begun on it. Without one nothing is done. */
void px_runner_drop(px_runner *runner);
/* Nobody tells of the cancel of an executor that is gone: if that is so, the owner hears of it. */
void px_runner_end_cancel(px_runner *runner);

/* What executors tell (executor.h), with the runner as their owner. */
void px_runner_executor_closed(void *owner);
void px_runner_cancel_heard(void *owner);
void px_runner_lost_idle(void *owner);
void px_runner_columns(void *owner, pgw_slice columns);
void px_runner_row(void *owner, const pgw_slice *cells, size_t count);

#endif
