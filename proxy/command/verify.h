/*
 * verify: `keyspread verify` counts the rows of a table whose stored hash is wrong.
 */
#ifndef PX_COMMAND_VERIFY_H
#define PX_COMMAND_VERIFY_H

#include "proxy/command/base/command.h"

int px_command_verify(const px_command *command);

#endif
