/*
 * commands: finds what `keyspread WORD …` asks for: run, check, explain, hash, ddl, verify,
 * migrate, version.
 */
#ifndef PX_COMMANDS_H
#define PX_COMMANDS_H

#include <stdio.h>

/* Finds the command that argv[1] names and runs it. Returns the exit code of command.h. */
int px_commands_run(int argc, char **argv, FILE *in, FILE *out, FILE *errors);

#endif
