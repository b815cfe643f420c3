/*
 * schema_query: what a backend is asked about the configured tables: all of schema.h's cells, or a
 * short text that tells whether any of them has changed.
 */
#ifndef PX_SCHEMA_QUERY_H
#define PX_SCHEMA_QUERY_H

#include "config/config.h"
#include "protocol/bytes.h"

/* Appends one SELECT for the simple protocol, without ';', that asks for all configured tables.
 * PostgreSQL 12 or newer. */
void px_schema_query(const cfg_config *config, pgw_buf *sql);
/* The same for a short text that is another one after any change of what px_schema_query() says, or
 * of the relations of these names in other schemas. Second column: t if a connection may be kept,
 * f if their number is limited for the role or the database. Waits for no lock. */
void px_schema_fingerprint_query(const cfg_config *config, pgw_buf *sql);

/* … for the schema and name of tables that have the name of a pattern and are none of it: ordinary
 * ones, the oldest if there are many. */
void px_schema_unspread_query(const cfg_config *config, pgw_buf *sql);
/* … for how many tables the configuration covers: those of entries that are there, and those of
 * patterns that have the hash column. */
void px_schema_count_query(const cfg_config *config, pgw_buf *sql);
/* A question for tables that are configured or of a pattern: schema, name, and the first column of
 * the primary key; of the oldest 100 at most. */
void px_schema_first_query(const cfg_config *config, pgw_buf *sql);

#endif
