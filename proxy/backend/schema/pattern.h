/*
 * pattern: tables that the configuration covers only by the beginning of their names, or by their
 * schema. Such a table is spread if it has the hash column in its primary key; others are left
 * alone.
 */
#ifndef PX_PATTERN_H
#define PX_PATTERN_H

#include "proxy/backend/schema/schema.h"

/* The most tables that px_pattern_tables() may find in `rows`, which may be NULL. */
size_t px_pattern_most(const cfg_config *config, const px_schema_rows *rows);
/* Puts the tables of patterns into `tables`, in the order of their oids, to be freed by
 * rw_table_free(), and their patterns into `patterns`; returns how many there are. */
size_t px_pattern_tables(const cfg_config *config, const px_schema_rows *rows, uint64_t epoch,
                         rw_table **tables, const cfg_table **patterns);

#endif
