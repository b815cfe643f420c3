/*
 * reshaped: which statements of a text write a table that one before them may change.
 */
#ifndef PX_RESHAPED_H
#define PX_RESHAPED_H

#include "rewrite/statement/script/script.h"
#include "rewrite/statement/words/statement.h"

/* The table that a statement writes so that keyspread has to know its columns; NULL: none. */
const rw_table *px_written_by(const rw_statement *statement);
/* A flag for each statement of the script of `text`, which was read with `tables`: it writes a
 * table that one before it may change. In the arena; NULL: no statement does. An INSERT that is
 * wrong for the table as it is counts, too: it may be right for the table as it will be. */
const bool *px_reshaped(const rw_script *script, pgw_slice text, const rw_catalog *tables,
                        const pgw_env *env, pgw_arena *arena);

#endif
