/*
 * cells: whether a column takes what stands in a row of VALUES for it, where nobody else looks at
 * it: PostgreSQL does, also for rows that ON CONFLICT leaves out.
 */
#ifndef RW_CELLS_H
#define RW_CELLS_H

#include "ydb/plain/values.h"

/* Of each cell, row by row, whether it can only be told by evaluating it; in the reading's arena.
 * NULL: one is certainly not taken, and the error is PostgreSQL's. Columns that are not known take
 * anything. */
PGW_MUST_CHECK bool *rw_cells_unsure(const rw_subject *subject, const rw_values *values);

#endif
