/*
 * advice: warns of a table's configured key, partitions or indexes where YDB's documentation
 * advises against them: the table may be slower than it could be, or the server may refuse to make
 * it.
 */
#ifndef PX_COMMAND_ADVICE_H
#define PX_COMMAND_ADVICE_H

#include <stdio.h>

#include "config/config.h"
#include "rewrite/hash/table.h"

/* Prints warnings about one table, such as `file:line: warning: table t: reason`. */
void px_advice_print(const cfg_config *config, const cfg_table *written, const rw_table *table,
                     FILE *errors);
/* Prints warnings about all tables whose columns are in the file; none unless the dialect is YDB's.
 */
void px_advice_check(const cfg_config *config, FILE *errors);

#endif
