/*
 * effects: what a statement leaves behind in its session: settings, names, locks, transactions.
 * Reads the first words with the lexer and the marks of splitter.h; errs on the side of an effect.
 */
#ifndef RW_EFFECTS_H
#define RW_EFFECTS_H

#include "rewrite/lex/splitter.h"
#include "rewrite/statement/words/statement.h"

/* Fills effects, name and setting… of `out` for the statement at whose begin the lexer is (without
 * its semicolon). */
void rw_effects(rw_lexer lexer, const rw_piece *piece, pgw_arena *arena, rw_statement *out);

#endif
