/*
 * migrate: `keyspread migrate` makes spread tables of tables that have rows, while applications go
 * on writing them.
 */
#ifndef PX_COMMAND_MIGRATE_H
#define PX_COMMAND_MIGRATE_H

#include "proxy/command/base/command.h"

int px_command_migrate(const px_command *command);

#endif
