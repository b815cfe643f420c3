/*
 * build: from the bare structures that libcyaml filled to the configuration: defaults, ranges,
 * and the values that YAML knows only as text.
 */
#ifndef CFG_BUILD_H
#define CFG_BUILD_H

#include "config/document.h"
#include "config/schema.h"

/* Mistakes are noted; the configuration is returned in any case, freed by cfg_free(). Where a value
 * is wrong its default stands, so that the checks can go on. */
cfg_config *cfg_build(cfg_document *document, const cfg_raw *raw);

#endif
