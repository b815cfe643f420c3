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

/* The table for the rewriter, freed by rw_table_free(). With `rows` NULL nothing was asked: the
 * columns are those of the file.
 * NULL with 42P01 if the backend has no such table, or nothing was asked and the file has no
 * columns. What is there but cannot be worked with has `unusable` set; its missing columns are
 * appended, so that all indexes hold. */
rw_table *px_schema_build(const cfg_table *table, const px_schema_rows *rows, uint64_t epoch,
                          pgw_error *error);
/* … which these rows are of. */
rw_table *px_schema_build_part(const cfg_table *table, const px_schema_rows *rows,
                               px_schema_part part, uint64_t epoch);
/* The table by its names and rules alone, whether it is there or not: of its columns those of the
 * key, of no type, and the hash column. Freed by rw_table_free(). */
rw_table *px_schema_plan(const cfg_table *table);
/* Whether both say the same but for the epoch. */
bool px_schema_same(const rw_table *a, const rw_table *b);

#endif
