/*
 * hash: `keyspread hash` prints the hash and the partition of keys.
 */
#ifndef PX_COMMAND_HASH_H
#define PX_COMMAND_HASH_H

#include "proxy/command/base/command.h"

int px_command_hash(const px_command *command);

#endif
