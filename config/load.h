/*
 * load: the configuration file, read, checked and built. YAML by libcyaml; what YAML's types cannot
 * say is checked in check.c.
 */
#ifndef CFG_LOAD_H
#define CFG_LOAD_H

#include "config/config.h"
#include "config/must_check.h"

#include <stdio.h>

/* Loads and checks the file. On mistakes prints each to `errors` as `file:line: what, and what
 * would be right` and returns NULL. Warnings are printed too and do not fail. Freed by cfg_free().
 */
CFG_MUST_CHECK cfg_config *cfg_load(const char *path, FILE *errors);

#endif
