/*
 * unspread: tables of the configuration that the backend has without their hash column, of which
 * `check` warns: no INSERT into them is spread, or even done.
 */
#ifndef PX_COMMAND_UNSPREAD_H
#define PX_COMMAND_UNSPREAD_H

#include <stdio.h>

#include "config/config.h"

/* Warnings as `file:line: warning: …`: of entries, and of tables that have the name of a pattern.
 * Nothing if the backend cannot be asked, or is YDB's. */
void px_unspread_check(const cfg_config *config, FILE *errors);

#endif
