/*
 * command_name: what PostgreSQL calls a statement that writes, in errors about it: "INSERT",
 * "CREATE TABLE" (CreateCommandName()).
 */
#ifndef RW_COMMAND_NAME_H
#define RW_COMMAND_NAME_H

#include "protocol/bytes.h"

enum { RW_COMMAND_NAME_MOST = 64 };

/* By its words alone: of CREATE, DROP and ALTER the first two, and behind WITH the word of the
 * statement that it belongs to. */
void rw_command_name(pgw_slice text, bool conforming, char name[RW_COMMAND_NAME_MOST]);

#endif
