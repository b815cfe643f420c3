#include "proxy/command/base/tables.h"

#include <stdlib.h>
#include <string.h>

#include "protocol/printable.h"
#include "proxy/backend/schema/audit.h"
#include "proxy/backend/schema/schema.h"
#include "proxy/backend/schema/schema_query.h"
#include "rewrite/hash/hash.h"

void px_backend_failed(const cfg_config *config, const char *what, const char *message,
                       FILE *errors)
{
    size_t len = strlen(message);
    if (errors == NULL)
        return;
    while (len > 0 && message[len - 1] == '\n')
        len--;
    pgw_buf shown = {0};
    pgw_add_printable((pgw_slice){message, len}, true, &shown);
    fprintf(errors, "%s:%u: %s: %.*s\n", config->path, config->backend.dsn_line, what,
            (int)shown.len, shown.ptr);
    pgw_buf_free(&shown);
}

PGconn *px_backend_open(const cfg_config *config, FILE *errors)
{
    char seconds[16];
    snprintf(seconds, sizeof seconds, "%u", (config->backend.connect_ms + 999) / 1000);
    const char *const keywords[] = {"connect_timeout", "dbname", "fallback_application_name", NULL};
    const char *const values[] = {seconds, config->backend.dsn, "keyspread", NULL};
    PGconn *link = PQconnectdbParams(keywords, values, 1);
    if (PQstatus(link) != CONNECTION_OK) {
        px_backend_failed(config, "the backend of backend.dsn cannot be reached",
                          PQerrorMessage(link), errors);
        PQfinish(link);
        return NULL;
    }
    PGresult *result = PQexec(link, "set client_encoding = 'UTF8'; set datestyle = 'ISO, YMD'; "
                                    "set timezone = 'UTC'; set bytea_output = 'hex'; "
                                    "set extra_float_digits = 1; "
                                    "set standard_conforming_strings = on");
    bool good = PQresultStatus(result) == PGRES_COMMAND_OK;
    PQclear(result);
    if (good)
        return link;
    px_backend_failed(config, "the backend refused a setting", PQerrorMessage(link), errors);
    PQfinish(link);
    return NULL;
}

static void add_row(px_schema_rows *rows, const PGresult *result, int row)
{
    pgw_slice cells[PX_SCHEMA_CELLS];
    bool nulls[PX_SCHEMA_CELLS];
    int count = PQnfields(result);
    if (count != PX_SCHEMA_CELLS)
        return;
    for (int i = 0; i < count; i++) {
        cells[i] = (pgw_slice){PQgetvalue(result, row, i), (size_t)PQgetlength(result, row, i)};
        nulls[i] = PQgetisnull(result, row, i);
    }
    px_schema_rows_add(rows, cells, nulls, (size_t)count);
}

static px_schema_rows *ask(const cfg_config *config, PGconn *link, FILE *errors)
{
    pgw_buf sql = {0};
    px_schema_query(config, &sql);
    pgw_buf_add_byte(&sql, '\0');
    PGresult *result = PQexec(link, sql.ptr);
    pgw_buf_free(&sql);
    px_schema_rows *rows = NULL;
    if (PQresultStatus(result) == PGRES_TUPLES_OK) {
        rows = px_schema_rows_new();
        for (int i = 0; i < PQntuples(result); i++)
            add_row(rows, result, i);
    } else {
        px_backend_failed(config, "the backend could not be asked for its tables",
                          PQerrorMessage(link), errors);
    }
    PQclear(result);
    return rows;
}

static rw_table *build(const cfg_config *config, const cfg_table *table, const px_schema_rows *rows,
                       FILE *errors)
{
    pgw_error error = PGW_ERROR_NONE;
    rw_table *built = px_schema_build(table, rows, 0, &error);
    if (built == NULL)
        fprintf(errors, "%s:%u: %s. %s\n", config->path, table->line, error.message, error.hint);
    else
        built->listed |= config->backend.dialect == CFG_DIALECT_YDB; /* listed before YDB, too */
    return built;
}

rw_table *px_backend_table(const cfg_config *config, const cfg_table *table, PGconn *link,
                           FILE *errors)
{
    px_schema_rows *rows = ask(config, link, errors);
    rw_table *built = rows ? build(config, table, rows, errors) : NULL;
    px_schema_rows_free(rows);
    return built;
}

px_schema_rows *px_backend_rows(const cfg_config *config, FILE *errors)
{
    PGconn *link = px_backend_open(config, errors);
    if (link == NULL)
        return NULL;
    px_schema_rows *rows = ask(config, link, errors);
    PQfinish(link);
    return rows;
}

bool px_table_can_hash(const rw_table *table, pgw_error *error)
{
    uint32_t types[64];
    for (size_t i = 0; i < table->primary_key_count; i++)
        if (!pgw_type_is_key(table->columns[table->primary_key[i]].type))
            return pgw_fail(error, "0A000", "%s", table->unusable);
    for (size_t i = 0; i < table->hash_key_count && i < 64; i++)
        types[i] = table->columns[table->hash_key[i]].type;
    return rw_hash_supports(table->hash_function, types, table->hash_key_count, error);
}

bool px_tables_load(px_tables *tables, const cfg_config *config, FILE *errors)
{
    px_schema_rows *rows = NULL;
    bool good = true;
    *tables = (px_tables){pgw_calloc(config->table_count, sizeof *tables->tables),
                          pgw_calloc(config->table_count, sizeof *tables->written), 0, config};
    for (size_t i = 0; good && i < config->table_count; i++) {
        const cfg_table *table = &config->tables[i];
        bool asked = table->column_count == 0;
        if (asked && rows == NULL)
            rows = px_backend_rows(config, errors);
        rw_table *built =
            asked && rows == NULL ? NULL : build(config, table, asked ? rows : NULL, errors);
        good = built != NULL;
        if (good) {
            tables->written[tables->count] = table;
            tables->tables[tables->count++] = built;
        }
    }
    px_schema_rows_free(rows);
    if (!good)
        px_tables_free(tables);
    return good;
}

void px_tables_free(px_tables *tables)
{
    for (size_t i = 0; i < tables->count; i++)
        rw_table_free(tables->tables[i]);
    free(tables->tables);
    free(tables->written);
    *tables = (px_tables){0};
}
