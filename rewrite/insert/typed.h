/*
 * typed: expressions of a key that are asked for at Bind stay in the prepared statement, never
 * evaluated, so that its parameters keep their types, and Parse its errors.
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
