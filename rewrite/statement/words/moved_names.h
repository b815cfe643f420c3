/*
 * moved_names: what names of tables mean from one statement of a text to the next: what one may
 * have moved is not known behind it.
 */
#ifndef RW_MOVED_NAMES_H
#define RW_MOVED_NAMES_H

#include "rewrite/statement/words/statement.h"

/* It must not move in memory once it has followed a statement. */
typedef struct rw_names {
    rw_catalog view;
    pgw_arena *arena;
    rw_meaning *meanings; /* those of `view`, once one of them has moved */
    rw_catalog planned;   /* that of `view`, once tables may be made in another schema */
} rw_names;

/* Behind this statement, whose text this is. */
void rw_names_follow(rw_names *names, const rw_statement *statement, pgw_slice text);

#endif
