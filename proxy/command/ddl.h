/*
 * ddl: `keyspread ddl` prints the statements that make a spread table, for PostgreSQL or YDB.
 */
#ifndef PX_COMMAND_DDL_H
#define PX_COMMAND_DDL_H

#include "proxy/command/base/command.h"

int px_command_ddl(const px_command *command);

#endif
