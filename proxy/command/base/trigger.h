/*
 * trigger: a trigger that gives rows their hash that come to a table past keyspread, from functions
 * of the application or from psql. Only a table without partitions can have one: a row is routed to
 * its partition before its triggers run.
 */
#ifndef PX_COMMAND_TRIGGER_H
#define PX_COMMAND_TRIGGER_H

#include <stdio.h>

#include "proxy/command/base/command.h"
#include "rewrite/hash/table.h"

/* The hash of the row `new` as an expression for the function of such a trigger, in the arena.
 * NULL: the table can have none, and `why` says it. */
const char *px_trigger_hash(const rw_table *table, pgw_arena *arena, const char **why);
/* Prints the SQL that makes the function and the trigger. False, and why on `errors`: the table
 * cannot have one. */
bool px_trigger_print(const rw_table *table, FILE *out, FILE *errors);

#endif
