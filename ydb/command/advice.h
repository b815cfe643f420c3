/*
 * advice: what YDB's documentation says against a table's key, partitions or indexes as they are
 * configured. Nothing of it is a mistake: the table works, and is slower than it could be, or the
 * server may refuse to make it.
 */
#ifndef PX_COMMAND_ADVICE_H
#define PX_COMMAND_ADVICE_H

#include <stdio.h>

#include "config/config.h"
#include "rewrite/hash/table.h"

/* Warnings of one table, as `file:line: warning: …`. */
void px_advice_print(const cfg_config *config, const cfg_table *written, const rw_table *table,
                     FILE *errors);
/* Of all tables whose columns are in the file; nothing unless the dialect is YDB's. */
void px_advice_check(const cfg_config *config, FILE *errors);

#endif
