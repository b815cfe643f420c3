/*
 * walk: the document held against the schema, node by node, so that every unknown key, wrong type
 * and missing key is told at once. libcyaml itself stops at the first, takes any word but "false"
 * for a true, `010` for eight, and the last of two equal keys.
 */
#ifndef CFG_WALK_H
#define CFG_WALK_H

#include "config/document.h"
#include "config/must_check.h"
#include "config/schema.h"

/* Notes all mistakes of form; true if there are none but unknown keys, so that
 * libcyaml can load the file. */
CFG_MUST_CHECK bool cfg_walk(cfg_document *document, const cyaml_schema_value_t *schema);

#endif
