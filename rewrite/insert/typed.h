/*
 * typed: expressions of a key that are asked for when their parameters are bound stay in the
 * statement that is prepared, never evaluated, so that the parameters have the types, and Parse the
 * errors, that they had.
 */
#ifndef RW_TYPED_H
#define RW_TYPED_H

#include "rewrite/insert/answers.h"

/* Puts the expressions of `asked` that have parameters back into `insert`, which is parsed of
 * `filled`, as rw_fill_parameters() made it. */
void rw_keep_expressions(const rw_insert *asked, const rw_filled *filled, pgw_arena *arena,
                         rw_insert *insert);
/* A flag for each of the statement's parameters: an expression that is asked for has it. */
const bool *rw_asked_parameters(const rw_insert *asked, bool conforming, pgw_arena *arena);

#endif
