/*
 * reshaped: which statements of a text write a table that one before them may change.
 */
#ifndef PX_RESHAPED_H
#define PX_RESHAPED_H

#include "rewrite/statement/script/script.h"
#include "rewrite/statement/words/statement.h"

/* The table that a statement writes so that keyspread has to know its columns; NULL: none. */
const rw_table *px_written_by(const rw_statement *statement);
/* For each statement of the script of `text`, which was read with `tables`; in the arena. NULL:
 * there is none. What may change a table is read once for each table that is written. An INSERT
 * that as the table is cannot be right is among them, too: it may be, as the table will be. */
const bool *px_reshaped(const rw_script *script, pgw_slice text, const rw_catalog *tables,
                        const pgw_env *env, pgw_arena *arena);

#endif
