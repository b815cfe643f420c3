/*
 * unspread: what `check` warns of in the backend's tables: that they have no hash column, so that
 * no INSERT into them is spread, or even done; or that their keys begin with it, so that nothing is
 * read in the order of the key.
 */
#ifndef PX_COMMAND_UNSPREAD_H
#define PX_COMMAND_UNSPREAD_H

#include <stdio.h>

#include "config/config.h"

/* Warnings as `file:line: warning: …`: of entries, of tables that have the name of a pattern, and
 * of those that are of one. Nothing if the backend cannot be asked, or is YDB's. If the file has
 * patterns, `tables` gets how many tables the backend has of all entries; false: it does not say.
 */
bool px_unspread_check(const cfg_config *config, FILE *errors, unsigned long *tables);

#endif
