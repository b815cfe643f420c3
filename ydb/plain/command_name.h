/*
 * command_name: what PostgreSQL calls a statement that writes, in errors about it: "INSERT",
 * "CREATE TABLE" (CreateCommandName()).
 */
#ifndef RW_COMMAND_NAME_H
#define RW_COMMAND_NAME_H

#include "protocol/bytes.h"

enum { RW_COMMAND_NAME_MOST = 64 };

/* Finds the name by the statement's words alone: the first two of CREATE, DROP and ALTER; behind
 * WITH, the word of the statement that WITH belongs to. */
void rw_command_name(pgw_slice text, bool conforming, char name[RW_COMMAND_NAME_MOST]);

#endif
