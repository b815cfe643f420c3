/*
 * moved_names: what names of tables mean from one statement of a text to the next: what one may
 * have moved is not known behind it.
 */
#ifndef RW_MOVED_NAMES_H
#define RW_MOVED_NAMES_H

#include "rewrite/statement/words/statement.h"

/* The struct must not move in memory once it has followed a statement. */
typedef struct rw_names {
    rw_catalog view;
    pgw_arena *arena;
    rw_meaning *meanings; /* meanings in `view`, once one may have changed; NULL before */
    rw_catalog planned;   /* what view.planned points to, once a statement has changed it */
} rw_names;

/* Notes what names may mean behind the statement, whose text is `text`. */
void rw_names_follow(rw_names *names, const rw_statement *statement, pgw_slice text);

#endif
