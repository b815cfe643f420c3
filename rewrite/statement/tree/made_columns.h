/*
 * made_columns: the columns of a table as its CREATE TABLE writes them, before the table is there.
 */
#ifndef RW_MADE_COLUMNS_H
#define RW_MADE_COLUMNS_H

#include "protocol/value.h"

typedef struct rw_made_column {
    char *name, *type; /* the type as the text has it, a serial as the integer that it is */
    bool not_null;     /* the column's own definition says so, or it is a serial */
    bool serial;       /* a serial or an identity: numbers of a sequence are its default */
} rw_made_column;

/* The columns that a CREATE TABLE lists, in its order, in the arena; how many. 0: the text is none,
 * or needs more stack than there is (rw_tree_can_read()). */
size_t rw_made_columns(pgw_slice text, const pgw_env *env, pgw_arena *arena, rw_made_column **out);

#endif
