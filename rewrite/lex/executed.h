/*
 * executed: the names of prepared statements that a text gives to EXECUTE, one after another.
 */
#ifndef RW_EXECUTED_H
#define RW_EXECUTED_H

#include "rewrite/lex/lexer.h"

typedef struct rw_executed {
    rw_lexer lexer;
    rw_token token; /* the next token of the text */
} rw_executed;

/* `conforming`: as standard_conforming_strings is. */
rw_executed rw_executed_in(pgw_slice text, bool conforming);
/* The next name, as the server folds and cuts it, in the arena. False: there is none. */
PGW_MUST_CHECK bool rw_executed_next(rw_executed *it, pgw_arena *arena, pgw_slice *name);

#endif
