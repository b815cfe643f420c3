/*
 * explain: `keyspread explain` shows offline what becomes of statements, read from standard input
 * or a file.
 */
#ifndef PX_COMMAND_EXPLAIN_H
#define PX_COMMAND_EXPLAIN_H

#include "proxy/command/base/command.h"

int px_command_explain(const px_command *command);

#endif
