/*
 * effects: what a statement leaves behind in its session: settings, names, locks, transactions.
 * Reads the first words with the lexer and the marks of splitter.h; errs on the side of an effect.
 */
#ifndef RW_EFFECTS_H
#define RW_EFFECTS_H

#include "rewrite/lex/splitter.h"
#include "rewrite/read/statement.h"

/* Fills effects, name and setting… of `out` for the statement `text` (without its semicolon). */
void rw_effects(pgw_slice text, const rw_piece *piece, const pgw_env *env, pgw_arena *arena,
                rw_statement *out);

#endif
