#include "proxy/command/unspread.h"

#include <stdlib.h>
#include <string.h>

#include "proxy/backend/schema/schema_query.h"
#include "proxy/command/base/tables.h"

/* $1 schema, $2 name, $3 hash column: a row if the table is there without it, or with a key that
 * does not hold it. */
static const char entry_question[] =
    "select from pg_catalog.pg_class c"
    " join pg_catalog.pg_namespace n on n.oid = c.relnamespace"
    " left join pg_catalog.pg_index i on i.indrelid = c.oid and i.indisprimary"
    " left join pg_catalog.pg_attribute h on h.attrelid = c.oid and h.attname = $3"
    " and h.attnum > 0 and not h.attisdropped"
    " where n.nspname = $1 and c.relname = $2 and c.relkind in ('r', 'p')"
    " and (h.attnum is null or h.attnum <> all (i.indkey))";

/* The rows of an answer; NULL: it has none, for whatever reason: this is no mistake of the file. */
static PGresult *rows_of(PGresult *answer)
{
    if (PQresultStatus(answer) == PGRES_TUPLES_OK)
        return answer;
    PQclear(answer);
    return NULL;
}

static void warn(const cfg_config *config, const cfg_table *table, const char *schema,
                 const char *name, FILE *errors)
{
    fprintf(errors,
            "%s:%u: warning: table %s.%s is not spread: the backend has it without the hash "
            "column %s in its primary key\n",
            config->path, table->line, schema, name, table->hash_column);
}

static void check_entry(const cfg_config *config, const cfg_table *table, PGconn *link,
                        FILE *errors)
{
    const char *schema = table->schema != NULL ? table->schema : "public";
    const char *const values[] = {schema, table->name, table->hash_column};
    PGresult *rows = rows_of(PQexecParams(link, entry_question, 3, NULL, values, NULL, NULL, 0));
    if (rows != NULL && PQntuples(rows) > 0)
        warn(config, table, schema, table->name, errors);
    PQclear(rows);
}

/* The entry of a table, or the pattern that it is of; NULL: neither. */
static const cfg_table *written_table(const cfg_config *config, const char *schema,
                                      const char *name)
{
    for (size_t i = 0; i < config->table_count; i++) {
        const cfg_table *table = &config->tables[i];
        if (strcmp(table->schema != NULL ? table->schema : "public", schema) == 0 &&
            strcmp(table->name, name) == 0)
            return table;
    }
    return cfg_find_pattern(config, schema, name);
}

/* Warns of keys that begin with the hash; where the file asks for that, it has been warned of. */
static void check_orders(const cfg_config *config, PGconn *link, FILE *errors)
{
    pgw_buf sql = {0};
    px_schema_first_query(config, &sql);
    pgw_buf_add_byte(&sql, '\0');
    PGresult *rows = rows_of(PQexec(link, sql.ptr));
    for (int i = 0; rows != NULL && i < PQntuples(rows); i++) {
        const char *schema = PQgetvalue(rows, i, 0), *name = PQgetvalue(rows, i, 1);
        const cfg_table *table = written_table(config, schema, name);
        if (table == NULL || table->key_order == CFG_HASH_FIRST ||
            strcmp(PQgetvalue(rows, i, 2), table->hash_column) != 0)
            continue;
        fprintf(errors,
                "%s:%u: warning: the primary key of table %s.%s begins with the hash column %s: "
                "reads in the order of the key or by a range of it (ORDER BY, max(), BETWEEN) read "
                "the whole table; docs/migrate.md says how the hash comes last\n",
                config->path, table->line, schema, name, table->hash_column);
    }
    PQclear(rows);
    pgw_buf_free(&sql);
}

static void check_patterns(const cfg_config *config, PGconn *link, FILE *errors)
{
    pgw_buf sql = {0};
    px_schema_unspread_query(config, &sql);
    pgw_buf_add_byte(&sql, '\0');
    PGresult *rows = rows_of(PQexec(link, sql.ptr));
    for (int i = 0; rows != NULL && i < PQntuples(rows); i++) {
        const char *schema = PQgetvalue(rows, i, 0), *name = PQgetvalue(rows, i, 1);
        const cfg_table *pattern = cfg_find_pattern(config, schema, name);
        if (pattern != NULL)
            warn(config, pattern, schema, name, errors);
    }
    PQclear(rows);
    pgw_buf_free(&sql);
}

static bool count_tables(const cfg_config *config, PGconn *link, unsigned long *tables)
{
    pgw_buf sql = {0};
    px_schema_count_query(config, &sql);
    pgw_buf_add_byte(&sql, '\0');
    PGresult *rows = rows_of(PQexec(link, sql.ptr));
    bool known = rows != NULL && PQntuples(rows) == 1 && !PQgetisnull(rows, 0, 0);
    if (known)
        *tables = strtoul(PQgetvalue(rows, 0, 0), NULL, 10);
    PQclear(rows);
    pgw_buf_free(&sql);
    return known;
}

bool px_unspread_check(const cfg_config *config, FILE *errors, unsigned long *tables)
{
    bool asked = config->backend.dialect == CFG_DIALECT_POSTGRES &&
                 config->table_count + config->pattern_count > 0;
    PGconn *link = asked ? px_backend_open(config, NULL) : NULL;
    for (size_t i = 0; link != NULL && i < config->table_count; i++)
        check_entry(config, &config->tables[i], link, errors);
    if (link != NULL && config->pattern_count > 0)
        check_patterns(config, link, errors);
    if (link != NULL)
        check_orders(config, link, errors);
    bool counted = link != NULL && config->pattern_count > 0 && count_tables(config, link, tables);
    PQfinish(link);
    return counted;
}
