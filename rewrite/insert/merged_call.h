/*
 * merged_call: PostgreSQL's own functions and operators that a row may hold and still be merged
 * with others: their results depend on arguments, and on settings that all rows of a batch share.
 * An error in one is its row's own.
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
/* Whether merged rows may call the function or operator `name`, in any case. */
bool rw_is_merged_function(pgw_slice name);
bool rw_is_merged_operator(pgw_slice name);

#endif
