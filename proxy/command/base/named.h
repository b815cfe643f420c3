/*
 * named: the tables that a command is given the name of: one that the file has an entry for, or
 * tables of a pattern, of which the backend is asked, each as if it had an entry of its own.
 */
#ifndef PX_COMMAND_NAMED_H
#define PX_COMMAND_NAMED_H

#include <stdio.h>

#include "config/config.h"
#include "protocol/bytes.h"

typedef struct px_named {
    cfg_config config; /* the file's, but with these tables alone, and without patterns; what they
                          are made of stays the file's */
    bool *spread;      /* one a table: it has the hash column, first in its key, or an entry */
    bool pattern;      /* all of a pattern's were asked for */
    pgw_arena arena;
} px_named;

/* The table of that name, with or without its schema; where `name` is a pattern as the file writes
 * it, all that are there and have a key. False with a message. Freed by px_named_free() in any
 * case. */
bool px_named_find(px_named *named, const cfg_config *config, const char *name, FILE *errors);
void px_named_free(px_named *named);

#endif
