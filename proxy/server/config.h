/*
 * config: the configuration file with all checks that need no backend: those of its layer, and of
 * what libpq and the hashes make of it.
 */
#ifndef PX_CONFIG_H
#define PX_CONFIG_H

#include <stdio.h>

#include "config/config.h"

/* cfg_load() and what needs more than the file's layer to be checked: the connection string and the
 * types that `columns` give. NULL with each mistake printed as file:line. The files that it names
 * are those of a server: see px_credentials_load(). Freed by cfg_free(). */
cfg_config *px_config_load(const char *path, FILE *errors);

/* Says which facts about the backend are relied on that nobody has confirmed; nothing for
 * PostgreSQL. */
void px_config_log_unconfirmed(const cfg_config *config);

#endif
