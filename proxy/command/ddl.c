#include "proxy/command/ddl.h"

#include "proxy/server/config.h"

#include <stdlib.h>
#include <string.h>

#include "proxy/command/carry.h"
#include "proxy/command/tables.h"
#include "rewrite/hash/hash.h"
#include "rewrite/hash/hash_column.h"
#include "rewrite/hash/partition.h"
#include "rewrite/lex/quote.h"

typedef struct ddl_writer {
    const rw_table *table;
    FILE *out;
    pgw_arena arena;
    const char *margin; /* before each line of YQL: "" or "-- " */
} ddl_writer;

static const rw_column *hash_column(const ddl_writer *ddl)
{
    return &ddl->table->columns[ddl->table->hash_column];
}

static const char *quoted(ddl_writer *ddl, const char *name)
{
    pgw_buf text = {0};
    rw_add_identifier(&text, name);
    const char *copy = pgw_arena_copy(&ddl->arena, pgw_slice_buf(&text)).ptr;
    pgw_buf_free(&text);
    return copy;
}

static const char *back_quoted(ddl_writer *ddl, const char *name)
{
    char *text = pgw_arena_alloc(&ddl->arena, strlen(name) * 2 + 3), *at = text;
    *at++ = '`';
    for (; *name != '\0'; name++) {
        bool newline = *name == '\n'; /* it would end the comment that the line may stand in */
        if (*name == '`' || *name == '\\' || newline)
            *at++ = '\\';
        *at++ = newline ? 'n' : *name;
    }
    *at = '`';
    return text;
}

/* A name may hold a line's end, and a comment may not. */
static void comment(const ddl_writer *ddl, const char *key, const char *value)
{
    fprintf(ddl->out, "-- %s", key);
    for (; *value != '\0'; value++)
        fputc(*value == '\n' || *value == '\r' ? ' ' : *value, ddl->out);
    fputc('\n', ddl->out);
}

static void comment_expression(ddl_writer *ddl, bool yql)
{
    const char *expression = rw_hash_expression(ddl->table, yql, &ddl->arena);
    comment(ddl, yql ? "recompute the hash in YQL:        " : "recompute the hash in PostgreSQL: ",
            expression ? expression : "no expression does; keyspread verify counts wrong ones");
}

static void print_head(ddl_writer *ddl)
{
    const rw_table *table = ddl->table;
    pgw_buf text = {0};
    pgw_buf_addf(&text, "%s.%s: %s holds %s of (", table->schema, table->name,
                 hash_column(ddl)->name, rw_hash_function_name(table->hash_function));
    for (size_t i = 0; i < table->hash_key_count; i++)
        pgw_buf_addf(&text, "%s%s", i ? ", " : "", table->columns[table->hash_key[i]].name);
    pgw_buf_add(&text, ")", 2);
    comment(ddl, "", text.ptr);
    comment_expression(ddl, false);
    comment_expression(ddl, true);
    pgw_buf_free(&text);
}

static bool in_key(const rw_table *table, size_t column)
{
    for (size_t i = 0; i < table->primary_key_count; i++)
        if (table->primary_key[i] == column)
            return true;
    return false;
}

/* -- PostgreSQL -- */

static void print_column(ddl_writer *ddl, size_t i)
{
    const rw_column *column = &ddl->table->columns[i];
    fprintf(ddl->out, "    %s %s%s,", quoted(ddl, column->name), column->type_name,
            column->not_null || in_key(ddl->table, i) ? " NOT NULL" : "");
    if (column->has_default && i != ddl->table->hash_column)
        fputs(column->generated ? " -- generated in the backend: see below"
                                : " -- has a default in the backend: see below",
              ddl->out);
    fputc('\n', ddl->out);
}

/* What `add` adds to a buffer. */
static void print_added(const ddl_writer *ddl, void (*add)(const rw_table *table, pgw_buf *out))
{
    pgw_buf text = {0};
    add(ddl->table, &text);
    if (text.len > 0)
        fwrite(text.ptr, 1, text.len, ddl->out);
    pgw_buf_free(&text);
}

static void add_check(const rw_table *table, pgw_buf *out)
{
    pgw_buf check = {0};
    if (rw_hash_column_check(table, &check)) {
        pgw_buf_add_str(out, ",\n    ");
        pgw_buf_add_slice(out, pgw_slice_buf(&check));
    }
    pgw_buf_free(&check);
}

/* NOT NULL and no default, and the last one, so that a writer that does not know of the hash gets
 * an error (23502) instead of rows that nobody finds, whether it lists the columns or not. */
static void print_columns(ddl_writer *ddl)
{
    const rw_table *table = ddl->table;
    for (size_t i = 0; i < table->column_count; i++)
        if (i != table->hash_column)
            print_column(ddl, i);
    fputs("    ", ddl->out);
    print_added(ddl, rw_hash_column_define);
    fprintf(ddl->out, ",\n    PRIMARY KEY (%s", quoted(ddl, hash_column(ddl)->name));
    for (size_t i = 0; i < table->primary_key_count; i++)
        fprintf(ddl->out, ", %s", quoted(ddl, table->columns[table->primary_key[i]].name));
    fputc(')', ddl->out);
    print_added(ddl, add_check);
}

static void add_partitions(const rw_table *table, pgw_buf *out)
{
    for (uint32_t i = 0; i < table->partitions.count; i++) {
        rw_hash_column_partition(table, i, out);
        pgw_buf_add_str(out, ";\n");
    }
}

static void print_postgres(ddl_writer *ddl)
{
    const char *schema = quoted(ddl, ddl->table->schema), *name = quoted(ddl, ddl->table->name);
    fprintf(ddl->out, "CREATE TABLE %s.%s (\n", schema, name);
    print_columns(ddl);
    if (!rw_table_is_partitioned(ddl->table)) {
        fputs("\n);\n", ddl->out);
        return;
    }
    fputs("\n)", ddl->out);
    print_added(ddl, rw_hash_column_partition_by);
    fputs(";\n", ddl->out);
    print_added(ddl, add_partitions);
}

/* -- YQL -- */

/* A table whose hash column is int8 has PostgreSQL's types throughout, as the PostgreSQL endpoint
 * makes it; one with uint64 has YDB's own. varchar is no key type there, and lengths are not
 * stored. */
static const char *yql_type(const rw_table *table, const rw_column *column)
{
    static const struct {
        uint32_t type;
        const char *pg, *own;
    } types[] = {{PGW_BOOL, "pgbool", "Bool"},
                 {PGW_INT2, "pgint2", "Int16"},
                 {PGW_INT4, "pgint4", "Int32"},
                 {PGW_INT8, "pgint8", "Int64"},
                 {PGW_FLOAT4, "pgfloat4", "Float"},
                 {PGW_FLOAT8, "pgfloat8", "Double"},
                 {PGW_NUMERIC, "pgnumeric", "Decimal(22,9)"},
                 {PGW_TEXT, "pgtext", "Utf8"},
                 {PGW_VARCHAR, "pgtext", "Utf8"},
                 {PGW_BPCHAR, "pgbpchar", "Utf8"},
                 {PGW_NAME, "pgname", "Utf8"},
                 {PGW_BYTEA, "pgbytea", "String"},
                 {PGW_UUID, "pguuid", "Uuid"},
                 {PGW_DATE, "pgdate", "Date32"},
                 {PGW_TIMESTAMP, "pgtimestamp", "Timestamp64"},
                 {PGW_TIMESTAMPTZ, "pgtimestamptz", "Timestamp64"}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].type == column->type)
            return table->hash_type == RW_HASH_INT8 ? types[i].pg : types[i].own;
    return NULL;
}

static void print_yql_column(ddl_writer *ddl, size_t i)
{
    const rw_table *table = ddl->table;
    const rw_column *column = &table->columns[i];
    const char *type = yql_type(table, column);
    fprintf(ddl->out, "%s    %s %s%s,", ddl->margin, back_quoted(ddl, column->name),
            type                               ? type
            : table->hash_type == RW_HASH_INT8 ? "pgtext"
                                               : "Utf8",
            column->not_null || in_key(table, i) ? " NOT NULL" : "");
    if (type == NULL)
        fprintf(ddl->out, " -- %s: choose a type", column->type_name);
    fputc('\n', ddl->out);
}

/* The first hash of a partition. */
static void print_start(const ddl_writer *ddl, uint32_t number)
{
    pgw_buf text = {0};
    rw_hash_print(ddl->table, rw_partition_start(ddl->table, number), &text);
    fwrite(text.ptr, 1, text.len, ddl->out);
    pgw_buf_free(&text);
}

/* UNIFORM_PARTITIONS takes Uint64 alone, and boundaries of a pgint8 key are not known to work:
 * there the number of partitions is asked for, and the store cuts them where the rows are. */
static void print_yql_partitions(ddl_writer *ddl)
{
    const rw_partitions *partitions = &ddl->table->partitions;
    bool own = ddl->table->hash_type == RW_HASH_UINT64;
    fprintf(ddl->out,
            "%s    AUTO_PARTITIONING_BY_LOAD = ENABLED,\n%s    "
            "AUTO_PARTITIONING_MIN_PARTITIONS_COUNT = %u",
            ddl->margin, ddl->margin,
            partitions->kind == RW_PARTITION_BUCKETS ? 1 : partitions->count);
    if (own && partitions->kind == RW_PARTITION_UNIFORM)
        fprintf(ddl->out, ",\n%s    UNIFORM_PARTITIONS = %u", ddl->margin, partitions->count);
    if (own && partitions->kind == RW_PARTITION_AT) {
        fprintf(ddl->out, ",\n%s    PARTITION_AT_KEYS = (", ddl->margin);
        for (uint32_t i = 1; i < partitions->count; i++) {
            fputs(i > 1 ? ", " : "", ddl->out);
            print_start(ddl, i);
        }
        fputc(')', ddl->out);
    }
}

static void print_yql(ddl_writer *ddl)
{
    const rw_table *table = ddl->table;
    const char *hash = back_quoted(ddl, hash_column(ddl)->name);
    fprintf(ddl->out, "%sCREATE TABLE %s (\n", ddl->margin, back_quoted(ddl, table->name));
    for (size_t i = 0; i < table->column_count; i++)
        if (i != table->hash_column)
            print_yql_column(ddl, i);
    fprintf(ddl->out, "%s    %s %s NOT NULL,\n", ddl->margin, hash,
            table->hash_type == RW_HASH_INT8 ? "pgint8" : "Uint64");
    fprintf(ddl->out, "%s    PRIMARY KEY (%s", ddl->margin, hash);
    for (size_t i = 0; i < table->primary_key_count; i++)
        fprintf(ddl->out, ", %s", back_quoted(ddl, table->columns[table->primary_key[i]].name));
    fprintf(ddl->out, ")\n%s) WITH (\n", ddl->margin);
    print_yql_partitions(ddl);
    fprintf(ddl->out, "\n%s);\n", ddl->margin);
}

/* -- the command -- */

typedef enum ddl_choice { DDL_BOTH, DDL_POSTGRES, DDL_YQL } ddl_choice;

/* `link`: to the backend, which has the table, or NULL. */
static bool print_table(const rw_table *table, ddl_choice choice, PGconn *link,
                        const px_command *command)
{
    FILE *out = command->out;
    bool good = true;
    ddl_writer ddl = {.table = table, .out = out, .margin = choice == DDL_BOTH ? "-- " : ""};
    print_head(&ddl);
    if (choice != DDL_YQL) {
        print_postgres(&ddl);
        good = link == NULL ||
               px_carry_print(table, rw_table_is_partitioned(table), link, out, command->errors);
    }
    if (choice == DDL_BOTH)
        fputs("-- The same in YQL (keyspread ddl --yql prints it without the dashes):\n", out);
    if (choice != DDL_POSTGRES)
        print_yql(&ddl);
    pgw_arena_free(&ddl.arena);
    return good;
}

static bool print_tables(const px_tables *tables, ddl_choice choice, PGconn *link,
                         const px_command *command)
{
    bool good = true;
    for (size_t i = 0; good && i < tables->count; i++) {
        fputs(i > 0 ? "\n" : "", command->out);
        good = print_table(tables->tables[i], choice, link, command);
    }
    return good;
}

/* Whether the backend is asked for the columns of a table, or of `only` that one. */
static bool asks_backend(const cfg_config *config, const cfg_table *only)
{
    for (size_t i = 0; i < config->table_count; i++)
        if ((only == NULL || only == &config->tables[i]) && config->tables[i].column_count == 0)
            return true;
    return false;
}

/* A table that lacks its hash column, or has it with another type, is what DDL is for; a key that
 * cannot be hashed must be mended first. */
static bool can_hash(const rw_table *table, pgw_error *error)
{
    uint32_t types[64];
    for (size_t i = 0; i < table->primary_key_count; i++)
        if (!pgw_type_is_key(table->columns[table->primary_key[i]].type))
            return pgw_fail(error, "0A000", "%s", table->unusable);
    for (size_t i = 0; i < table->hash_key_count && i < 64; i++)
        types[i] = table->columns[table->hash_key[i]].type;
    return rw_hash_supports(table->hash_function, types, table->hash_key_count, error);
}

static bool check_tables(const px_tables *tables, const char *path, FILE *errors)
{
    pgw_error error = PGW_ERROR_NONE;
    for (size_t i = 0; i < tables->count; i++) {
        const rw_table *table = tables->tables[i];
        if (table->unusable != NULL && !can_hash(table, &error)) {
            fprintf(errors, "%s: table %s.%s: %s\n", path, table->schema, table->name,
                    error.message);
            return false;
        }
    }
    return true;
}

static bool ddl_tables(const px_command *command, ddl_choice choice, int argc, char **argv)
{
    cfg_config *config = px_config_load(argv[0], command->errors);
    const cfg_table *only =
        config && argc > 1 ? px_config_table(config, argv[1], command->errors) : NULL;
    px_tables tables = {0};
    bool good = config != NULL && (argc < 2 || only != NULL) &&
                px_tables_load(&tables, config, only, command->errors) &&
                check_tables(&tables, config->path, command->errors);
    PGconn *link = NULL;
    if (good && choice != DDL_YQL && asks_backend(config, only))
        link = px_backend_open(config, command->errors), good = link != NULL;
    good = good && print_tables(&tables, choice, link, command);
    PQfinish(link);
    px_tables_free(&tables);
    cfg_free(config);
    return good;
}

/* Tells keyspread at once of changes that it does not see: sent past it, or made by functions.
 * Temporary objects concern nobody. */
static const char event_trigger[] =
    "-- Tells keyspread of each change of the schema. Making it takes a superuser.\n"
    "-- A transaction that changes the schema cannot be prepared (PREPARE TRANSACTION) with it.\n"
    "CREATE OR REPLACE FUNCTION public.keyspread_ddl() RETURNS event_trigger LANGUAGE plpgsql\n"
    "    SET search_path = pg_catalog AS $$\n"
    "BEGIN\n"
    "    IF tg_event = 'sql_drop' THEN\n"
    "        IF EXISTS (SELECT FROM pg_event_trigger_dropped_objects() WHERE NOT is_temporary) "
    "THEN\n"
    "            PERFORM pg_notify('keyspread_ddl', '');\n"
    "        END IF;\n"
    "    ELSIF EXISTS (SELECT FROM pg_event_trigger_ddl_commands()\n"
    "                  WHERE schema_name IS DISTINCT FROM 'pg_temp') THEN\n"
    "        PERFORM pg_notify('keyspread_ddl', '');\n"
    "    END IF;\n"
    "END $$;\n"
    "CREATE EVENT TRIGGER keyspread_ddl ON ddl_command_end\n"
    "    EXECUTE FUNCTION public.keyspread_ddl();\n"
    "CREATE EVENT TRIGGER keyspread_ddl_drop ON sql_drop\n"
    "    EXECUTE FUNCTION public.keyspread_ddl();\n";

int px_command_ddl(const px_command *command)
{
    int argc = command->argc;
    char **argv = command->argv;
    if (argc == 1 && strcmp(argv[0], "--event-trigger") == 0) {
        fputs(event_trigger, command->out);
        return PX_DONE;
    }
    ddl_choice choice = strcmp(argv[0], "--postgres") == 0 ? DDL_POSTGRES
                        : strcmp(argv[0], "--yql") == 0    ? DDL_YQL
                                                           : DDL_BOTH;
    if (choice != DDL_BOTH)
        argc--, argv++;
    if (argc < 1 || argc > 2 || argv[0][0] == '-') {
        if (argc > 0 && argv[0][0] == '-')
            fprintf(command->errors, "keyspread: ddl does not take \"%s\" here\n", argv[0]);
        fputs("usage: keyspread ddl [--postgres|--yql] CONFIG [TABLE]\n"
              "       keyspread ddl --event-trigger\n",
              command->errors);
        return PX_USAGE;
    }
    return ddl_tables(command, choice, argc, argv) ? PX_DONE : PX_WRONG;
}
