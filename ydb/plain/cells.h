/*
 * cells: whether columns take the cells of VALUES that no statement evaluates. PostgreSQL evaluates
 * them all, even in rows that ON CONFLICT leaves out.
 */
#ifndef RW_CELLS_H
#define RW_CELLS_H

#include "ydb/plain/values.h"

/* For each cell, row by row: whether only evaluating it tells that its column takes it; in the
 * reading's arena. NULL: a column does not take its cell, and the error is PostgreSQL's. Columns
 * that are not known take anything. */
PGW_MUST_CHECK bool *rw_cells_unsure(const rw_subject *subject, const rw_values *values);

#endif
