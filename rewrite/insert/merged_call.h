/*
 * merged_call: functions and operators of PostgreSQL's own that a row may hold and still be merged
 * with others' rows: their results depend on arguments, and on settings that all rows of a batch
 * share. An error in one is the error of its row.
 */
#ifndef RW_MERGED_CALL_H
#define RW_MERGED_CALL_H

#include "protocol/bytes.h"

/* The names of functions and operators, from 0; NULL: there are no more. */
const char *rw_merged_function(size_t i);
const char *rw_merged_operator(size_t i);
/* Whether a call of `name`, in any case, is one of the grammar's own, which nobody can define anew:
 * COALESCE, NULLIF and their like. */
bool rw_is_grammar_call(pgw_slice name);
/* Whether `name`, in any case, is a function that merged rows may call; whether it is such an
 * operator. */
bool rw_is_merged_function(pgw_slice name);
bool rw_is_merged_operator(pgw_slice name);

#endif
