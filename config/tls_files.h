/*
 * tls_files: the files that client_tls names, which only a server has to have.
 */
#ifndef CFG_TLS_FILES_H
#define CFG_TLS_FILES_H

#include "config/config.h"
#include "config/must_check.h"

#include <stdio.h>

/* Checks that the files are there and that others cannot read the key. False: each mistake is
 * printed, as those of cfg_load(). */
CFG_MUST_CHECK bool cfg_check_files(const cfg_config *config, FILE *errors);

#endif
