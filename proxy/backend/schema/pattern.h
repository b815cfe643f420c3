/*
 * pattern: tables that the configuration knows only by the beginning of their names, or by their
 * schema. One is ours if it has the hash column, in its primary key: others of such a name are left
 * alone.
 */
#ifndef PX_PATTERN_H
#define PX_PATTERN_H

#include "proxy/backend/schema/schema.h"

/* No more tables than so many are found in `rows`, which may be NULL. */
size_t px_pattern_most(const cfg_config *config, const px_schema_rows *rows);
/* Puts them into `tables`, to be freed by rw_table_free(), in the order of their oids, and their
 * patterns into `patterns`; returns how many they are. */
size_t px_pattern_tables(const cfg_config *config, const px_schema_rows *rows, uint64_t epoch,
                         rw_table **tables, const cfg_table **patterns);

#endif
