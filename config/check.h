/*
 * check: what YAML's types cannot say: what belongs together, what excludes each other, what is
 * not available in this version, what is safe.
 */
#ifndef CFG_CHECK_H
#define CFG_CHECK_H

#include "config/document.h"
#include "config/schema.h"

/* Notes mistakes in the loaded configuration, values out of range excepted. */
void cfg_check(cfg_document *document, const cfg_raw *raw, const cfg_config *config);

#endif
