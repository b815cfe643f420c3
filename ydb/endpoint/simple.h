/*
 * simple: the executor over YDB's PostgreSQL-compatible endpoint: a text is one simple Query.
 * Parameters never travel, nor does a transaction's word in Parse: its extended protocol loses
 * NULLs, and runs the statement before when a Parse fails.
 */
#ifndef PX_YDB_SIMPLE_H
#define PX_YDB_SIMPLE_H

#include "ydb/endpoint/executor.h"

extern const px_executor_kind px_simple_executor;

#endif
