/*
 * simple: the executor over YDB's PostgreSQL-compatible endpoint: a text is one simple Query. The
 * endpoint's extended protocol loses NULLs, and runs the statement before when a Parse fails: no
 * parameters are sent, and neither BEGIN, COMMIT nor ROLLBACK by Parse.
 */
#ifndef PX_YDB_SIMPLE_H
#define PX_YDB_SIMPLE_H

#include "ydb/endpoint/executor.h"

extern const px_executor_kind px_simple_executor;

#endif
