/*
 * wanting: the INSERTs of a text whose keys are to be asked for. Where it has several statements
 * all are asked for before any of them is run, which is right only of what those that stand before
 * have no part in.
 */
#ifndef RW_WANTING_H
#define RW_WANTING_H

#include "rewrite/statement/script/script.h"

/* Refuses the statements of a text of several whose key is to be asked for, unless only defaults
 * are wanted, and nothing stands before the last of these statements but INSERTs that run no code
 * and the beginning of a transaction. */
void rw_wanting_check(pgw_slice text, rw_script *script, pgw_arena *arena);
/* Makes statement `i`, an INSERT, fail with this error, which is copied. */
void rw_wanting_refuse(rw_script *script, size_t i, const pgw_error *error, pgw_arena *arena);

#endif
