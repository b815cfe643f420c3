/*
 * command: what each `keyspread WORD …` is given, and what it returns. It reads and writes the
 * given streams only.
 */
#ifndef PX_COMMAND_H
#define PX_COMMAND_H

#include <stdio.h>

/* Exit codes. */
enum { PX_DONE = 0, PX_WRONG = 1 /* the input is wrong */, PX_USAGE = 2 };

/* `argv` holds the words behind the command's own. */
typedef struct px_command {
    int argc;
    char **argv;
    FILE *in, *out, *errors;
} px_command;

#endif
