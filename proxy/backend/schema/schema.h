/*
 * schema: a configured table and what the backend's catalog says of it, made into the table that
 * the rewriter works with. No I/O: the caller sends the query and feeds the rows.
 */
#ifndef PX_SCHEMA_H
#define PX_SCHEMA_H

#include "config/config.h"
#include "protocol/error.h"
#include "proxy/backend/schema/schema_rows.h"
#include "rewrite/hash/table.h"

/* The table for the rewriter, freed by rw_table_free(). `rows` NULL: the backend was not asked, and
 * the columns are those of the file. NULL with 42P01 if the backend has no such table, or was not
 * asked and the file has no columns. A table that cannot be worked with has `unusable` set; missing
 * columns are appended, so that all indexes hold. */
rw_table *px_schema_build(const cfg_table *table, const px_schema_rows *rows, uint64_t epoch,
                          pgw_error *error);
/* The same for the table whose rows are `part`; NULL: it has none. */
rw_table *px_schema_build_part(const cfg_table *table, const px_schema_rows *rows,
                               px_schema_part part, uint64_t epoch);
/* The table by its names and rules alone, whether the database has it or not: its columns are the
 * key's, without types, and the hash column. Freed by rw_table_free(). */
rw_table *px_schema_plan(const cfg_table *table);
/* Whether both pictures of a table are the same but for the epoch. */
bool px_schema_same(const rw_table *a, const rw_table *b);

#endif
