/*
 * tables: the tables of the configuration for commands that run once: their columns from
 * the file, else from the backend, asked over a connection that libpq opens and waits for.
 */
#ifndef PX_COMMAND_TABLES_H
#define PX_COMMAND_TABLES_H

#include <stdio.h>

#include <libpq-fe.h>

#include "config/config.h"
#include "proxy/backend/schema/schema_rows.h"
#include "rewrite/hash/table.h"

/* Opens a connection whose values come as text that reads back exactly (UTF-8, ISO dates, UTC).
 * NULL with a message, unless `errors` is; closed by PQfinish(). */
PGconn *px_backend_open(const cfg_config *config, FILE *errors);
/* Says what it did not do, and why, in libpq's words. */
void px_backend_failed(const cfg_config *config, const char *what, const char *message,
                       FILE *errors);
/* Asks the backend about all tables and patterns, over a connection of its own; NULL with a
 * message. Freed by px_schema_rows_free(). */
px_schema_rows *px_backend_rows(const cfg_config *config, FILE *errors);
/* The table as the backend has it; NULL with a message. Freed by rw_table_free(). */
rw_table *px_backend_table(const cfg_config *config, const cfg_table *table, PGconn *link,
                           FILE *errors);

/* Whether the table's key can be hashed, so that a table that lacks its hash column, or has it with
 * another type, can be made anew with it. False: the error says what is wrong with the key. */
PGW_MUST_CHECK bool px_table_can_hash(const rw_table *table, pgw_error *error);

/* Tables of the configuration, made one by one; freed by px_tables_free(). */
typedef struct px_tables {
    rw_table **tables;
    const cfg_table **written; /* the file's entry or pattern of each table */
    size_t count;
    const cfg_config *config;
} px_tables;

/* Loads all tables with entries: by the file's columns where it has them; the backend is asked only
 * if it must be. False with a message. */
bool px_tables_load(px_tables *tables, const cfg_config *config, FILE *errors);
void px_tables_free(px_tables *tables);

#endif
