/*
 * schema_query: what a backend is asked about the configured tables: all cells of schema_rows.h, or
 * a short text that tells whether any of them has changed.
 */
#ifndef PX_SCHEMA_QUERY_H
#define PX_SCHEMA_QUERY_H

#include "config/config.h"
#include "protocol/bytes.h"

/* Appends one SELECT for the simple protocol, without ';', that asks for all configured tables. For
 * PostgreSQL 12 or newer. */
void px_schema_query(const cfg_config *config, pgw_buf *sql);
/* Appends a SELECT of one row. First column: a short text that changes with all that
 * px_schema_query() says, and with relations of the same names in other schemas. Second: t, or f if
 * the connections of the role or the database are limited. Third: a hash of the schemas of these
 * relations. Waits for no lock. */
void px_schema_fingerprint_query(const cfg_config *config, pgw_buf *sql);

/* Appends a SELECT for the schema and name of tables that have the name of a pattern and no hash
 * column in their primary key: the oldest 100 at most. */
void px_schema_unspread_query(const cfg_config *config, pgw_buf *sql);
/* Appends a SELECT for the number of tables that the configuration covers: by entries of their own,
 * or by a pattern and with the hash column. */
void px_schema_count_query(const cfg_config *config, pgw_buf *sql);
/* Appends a SELECT for schema, name and first column of the primary key of the tables that the
 * configuration covers: the oldest 100 at most. */
void px_schema_first_query(const cfg_config *config, pgw_buf *sql);

#endif
