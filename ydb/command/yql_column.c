#include "ydb/command/yql_column.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/backend/schema/schema_type.h"
#include "ydb/command/yql.h"

enum {
    SHARDS = 64, /* AUTO_PARTITIONING_MIN_PARTITIONS_COUNT of a column-oriented table, as YDB
                    documents */
    MANY = 128
};

/* -- the statement -- */

/* The YDB type of a column; column-oriented tables have only YDB's own types. */
static const char *type_of(const cfg_column *column)
{
    const rw_table own = {.hash_type = RW_HASH_UINT64};
    rw_column read = {0};
    const char *type = px_schema_type(column->type, &read) ? px_yql_type(&own, &read) : NULL;
    free(read.type_name);
    return type;
}

static bool in_key(const cfg_table *table, const char *name)
{
    for (size_t i = 0; i < table->primary_key_count; i++)
        if (strcmp(table->primary_key[i], name) == 0)
            return true;
    return false;
}

static void print_column(const cfg_table *table, const cfg_column *column, FILE *out)
{
    const char *type = type_of(column);
    fputs("    ", out);
    px_yql_name_print(column->name, out);
    fprintf(out, " %s%s,", type != NULL ? type : "Utf8",
            column->not_null || in_key(table, column->name) ? " NOT NULL" : "");
    if (type == NULL)
        fprintf(out, " -- %s: choose a type", column->type);
    px_yql_default_print(column->by_default, out);
    fputc('\n', out);
}

static void print_names(char *const *names, size_t count, FILE *out)
{
    for (size_t i = 0; i < count; i++) {
        fputs(i > 0 ? ", " : "(", out);
        px_yql_name_print(names[i], out);
    }
    fputc(')', out);
}

void px_yql_column_print(const cfg_config *config, const cfg_table *table, FILE *out)
{
    const cfg_ydb *ydb = &table->ydb;
    bool confirmed = config->backend.capabilities.can[CFG_CAN_COLUMN_TABLES];
    fprintf(out, "-- %s: column-oriented.%s\nCREATE TABLE ", cfg_table_label(table),
            confirmed ? ""
                      : " Nobody has confirmed that it can be written over the PostgreSQL "
                        "endpoint.");
    px_yql_name_print(table->name, out);
    fputs(" (\n", out);
    for (size_t i = 0; i < table->column_count; i++)
        print_column(table, &table->columns[i], out);
    fputs("    PRIMARY KEY ", out);
    print_names(table->primary_key, table->primary_key_count, out);
    fputs("\n) PARTITION BY HASH", out);
    print_names(table->partition_key, table->partition_key_count, out);
    fprintf(out, " WITH (\n    STORE = COLUMN,\n    AUTO_PARTITIONING_MIN_PARTITIONS_COUNT = %u",
            ydb->min_partitions > 0 ? ydb->min_partitions : SHARDS);
    px_yql_ttl_print(ydb, ",\n    ", out);
    fputs("\n);\n", out);
}

/* -- advice -- */

typedef struct advice {
    const cfg_config *config;
    const cfg_table *table;
    FILE *errors;
} advice;

__attribute__((format(printf, 2, 3))) static void warn(const advice *a, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(a->errors, "%s:%u: warning: table %s: ", a->config->path, a->table->line,
            cfg_table_label(a->table));
    vfprintf(a->errors, format, arguments);
    fputc('\n', a->errors);
    va_end(arguments);
}

static uint32_t type_named(const cfg_table *table, const char *name)
{
    rw_column read = {0};
    for (size_t i = 0; i < table->column_count; i++)
        if (strcmp(table->columns[i].name, name) == 0 &&
            !px_schema_type(table->columns[i].type, &read))
            read.type = PGW_UNSPECIFIED;
    free(read.type_name);
    return read.type;
}

static bool is_time(uint32_t type)
{
    return type == PGW_DATE || type == PGW_TIMESTAMP || type == PGW_TIMESTAMPTZ;
}

static bool is_boolean(uint32_t type)
{
    return type == PGW_BOOL;
}

static bool parts_only_by(const cfg_table *table, bool (*is)(uint32_t type))
{
    for (size_t i = 0; i < table->partition_key_count; i++)
        if (!is(type_named(table, table->partition_key[i])))
            return false;
    return true;
}

void px_yql_column_advise(const cfg_config *config, const cfg_table *table, FILE *errors)
{
    const advice a = {config, table, errors};
    const char *first = table->partition_key[0];
    if (parts_only_by(table, is_time))
        warn(&a,
             "partition_key is of time alone (%s): all rows of one moment go to one partition; add "
             "a column with many values at any moment, such as whose event it is",
             first);
    if (parts_only_by(table, is_boolean))
        warn(&a, "partition_key %s has two values, so that all rows go to two partitions", first);
    if (table->ydb.min_partitions > MANY)
        warn(&a,
             "%u partitions: a large reserve costs resources and slows queries; count on about 1 "
             "MB/s a partition, or four a node, for their number does not change by itself",
             table->ydb.min_partitions);
    if (!config->backend.capabilities.can[CFG_CAN_COLUMN_TABLES])
        warn(&a, "nobody has confirmed that column-oriented tables can be written over the "
                 "PostgreSQL endpoint; say backend.capabilities: { column_tables: yes } if your "
                 "server takes it");
}
