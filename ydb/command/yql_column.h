/*
 * yql_column: prints CREATE TABLE in YQL of a column-oriented table, which YDB itself spreads by a
 * hash of its partition key, and warns where YDB's documentation advises against the table.
 */
#ifndef PX_COMMAND_YQL_COLUMN_H
#define PX_COMMAND_YQL_COLUMN_H

#include <stdio.h>

#include "config/config.h"

void px_yql_column_print(const cfg_config *config, const cfg_table *table, FILE *out);
void px_yql_column_advise(const cfg_config *config, const cfg_table *table, FILE *errors);

#endif
