/*
 * commands: what `keyspread WORD …` does. Each command reads and writes the given streams only and
 * returns the exit code: 0 done, 1 the input is wrong, 2 usage.
 */
#ifndef PX_COMMANDS_H
#define PX_COMMANDS_H

#include <stdbool.h>
#include <stdio.h>

#include "config/config.h"

enum { PX_DONE = 0, PX_WRONG = 1, PX_USAGE = 2 };

/* `argv` holds the words behind the command's own. */
typedef struct px_command {
    int argc;
    char **argv;
    FILE *in, *out, *errors;
} px_command;

/* Finds the command that argv[1] names and runs it. */
int px_commands_run(int argc, char **argv, FILE *in, FILE *out, FILE *errors);

int px_command_ddl(const px_command *command);
int px_command_explain(const px_command *command);
int px_command_hash(const px_command *command);
int px_command_verify(const px_command *command);

/* cfg_load() and what needs more than the file's layer to be checked: the connection string and the
 * types that `columns` give. NULL with each mistake printed as file:line. The files that it names
 * are those of a server: see px_door_load(). */
cfg_config *px_config_load(const char *path, FILE *errors);
/* The table of that name; NULL with a message that lists what there is. */
const cfg_table *px_config_table(const cfg_config *config, const char *name, FILE *errors);

#endif
