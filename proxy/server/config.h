/*
 * config: loads the configuration file with all checks that need no backend: those of cfg_load(),
 * and those that need libpq or the hash functions.
 */
#ifndef PX_CONFIG_H
#define PX_CONFIG_H

#include <stdio.h>

#include "config/config.h"

/* Calls cfg_load(), and checks the connection string and the types that `columns` give. NULL with
 * each mistake printed as file:line. The files that the configuration names are not read: see
 * px_credentials_load(). Freed by cfg_free(). */
cfg_config *px_config_load(const char *path, FILE *errors);

/* Logs which unconfirmed facts about the backend keyspread relies on; none about PostgreSQL. */
void px_config_log_unconfirmed(const cfg_config *config);

#endif
