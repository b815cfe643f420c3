#include "proxy/command/ddl.h"

#include "proxy/server/config.h"

#include <stdlib.h>
#include <string.h>

#include "proxy/command/carry.h"
#include "proxy/command/base/named.h"
#include "proxy/command/base/tables.h"
#include "proxy/command/base/trigger.h"
#include "rewrite/hash/hash.h"
#include "rewrite/hash/hash_column.h"
#include "rewrite/lex/quote.h"
#include "ydb/ydb.h"

typedef struct ddl_writer {
    const rw_table *table;
    FILE *out;
    pgw_arena arena;
} ddl_writer;

static const rw_column *hash_column(const ddl_writer *ddl)
{
    return &ddl->table->columns[ddl->table->hash_column];
}

static const char *quoted(ddl_writer *ddl, const char *name)
{
    pgw_buf text = {0};
    rw_add_quoted(&text, name);
    const char *copy = pgw_arena_copy(&ddl->arena, pgw_slice_buf(&text)).ptr;
    pgw_buf_free(&text);
    return copy;
}

/* Prints a comment: a name may hold a line's end, and a comment may not. */
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
    pgw_buf_add_byte(&text, ')');
    if (table->buckets > 0)
        pgw_buf_addf(&text, " modulo %u", table->buckets);
    pgw_buf_add_byte(&text, '\0');
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

/* Prints what `add` adds to a buffer. */
static void print_added(const ddl_writer *ddl, void (*add)(const rw_table *table, pgw_buf *out))
{
    pgw_buf text = {0};
    add(ddl->table, &text);
    if (text.len > 0)
        fwrite(text.ptr, 1, text.len, ddl->out);
    pgw_buf_free(&text);
}

static void add_key(const rw_table *table, pgw_buf *out)
{
    pgw_buf columns = {0};
    for (size_t i = 0; i < table->primary_key_count; i++) {
        pgw_buf_add_str(&columns, i > 0 ? ", " : "");
        rw_add_quoted(&columns, table->columns[table->primary_key[i]].name);
    }
    pgw_buf_add_str(out, ",\n    PRIMARY KEY (");
    rw_hash_column_key(table, pgw_slice_buf(&columns), out);
    pgw_buf_add_byte(out, ')');
    pgw_buf_free(&columns);
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

/* Prints the columns, the hash last, NOT NULL and without a default: a writer that does not know of
 * it gets an error (23502) instead of rows that are never found, whether it lists the columns or
 * not. */
static void print_columns(ddl_writer *ddl)
{
    const rw_table *table = ddl->table;
    for (size_t i = 0; i < table->column_count; i++)
        if (i != table->hash_column)
            print_column(ddl, i);
    fputs("    ", ddl->out);
    print_added(ddl, rw_hash_column_define);
    print_added(ddl, add_key);
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

/* -- the command -- */

typedef enum ddl_choice { DDL_BOTH, DDL_POSTGRES, DDL_YQL, DDL_TRIGGER } ddl_choice;

/* `link`: to the backend, which has the table, or NULL. */
static bool print_table(const px_tables *tables, size_t i, ddl_choice choice, PGconn *link,
                        const px_command *command)
{
    FILE *out = command->out;
    const rw_table *table = tables->tables[i];
    bool good = true;
    ddl_writer ddl = {.table = table, .out = out};
    if (choice == DDL_YQL || tables->config->backend.dialect == CFG_DIALECT_YDB)
        px_ydb_advise_table(tables->config, tables->written[i], table, command->errors);
    print_head(&ddl);
    if (choice != DDL_YQL) {
        print_postgres(&ddl);
        good = link == NULL ||
               px_carry_print(table, rw_table_is_partitioned(table), link, out, command->errors);
    }
    if (choice == DDL_BOTH)
        fputs("-- The same in YQL (keyspread ddl --yql prints it without the dashes):\n", out);
    if (choice != DDL_POSTGRES)
        px_ydb_print_table(tables->config, tables->written[i], table,
                           choice == DDL_BOTH ? "-- " : "", out);
    pgw_arena_free(&ddl.arena);
    return good;
}

static bool print_tables(const px_tables *tables, ddl_choice choice, PGconn *link,
                         const px_command *command)
{
    bool good = true;
    for (size_t i = 0; good && i < tables->count; i++) {
        fputs(i > 0 ? "\n" : "", command->out);
        good = choice == DDL_TRIGGER
                   ? px_trigger_print(tables->tables[i], command->out, command->errors)
                   : print_table(tables, i, choice, link, command);
    }
    return good;
}

/* Whether the backend is asked for the columns of a table. */
static bool asks_backend(const cfg_config *config)
{
    for (size_t i = 0; i < config->table_count; i++)
        if (config->tables[i].column_count == 0)
            return true;
    return false;
}

static bool check_tables(const px_tables *tables, const char *path, FILE *errors)
{
    pgw_error error = PGW_ERROR_NONE;
    for (size_t i = 0; i < tables->count; i++) {
        const rw_table *table = tables->tables[i];
        if (table->unusable != NULL && !px_table_can_hash(table, &error)) {
            fprintf(errors, "%s: table %s.%s: %s\n", path, table->schema, table->name,
                    error.message);
            return false;
        }
    }
    return true;
}

static bool ddl_tables(const px_command *command, const cfg_config *config, ddl_choice choice)
{
    px_tables tables = {0};
    bool good = px_tables_load(&tables, config, command->errors) &&
                check_tables(&tables, config->path, command->errors);
    PGconn *link = NULL;
    if (good && choice == DDL_BOTH && config->backend.dialect == CFG_DIALECT_YDB)
        choice = DDL_YQL; /* the PostgreSQL endpoint cannot make such a table */
    bool carries = choice == DDL_BOTH || choice == DDL_POSTGRES;
    if (good && carries && asks_backend(config))
        link = px_backend_open(config, command->errors), good = link != NULL;
    good = good && print_tables(&tables, choice, link, command);
    PQfinish(link);
    px_tables_free(&tables);
    return good;
}

static bool ddl_named(const px_command *command, const cfg_config *config, const char *name,
                      ddl_choice choice)
{
    px_named named;
    const cfg_table *columnar = cfg_find_columnar(config, name);
    if (columnar != NULL && choice != DDL_POSTGRES && choice != DDL_TRIGGER)
        px_ydb_print_columnar(config, columnar, command->out, command->errors);
    if (columnar != NULL)
        return true;
    bool good = px_named_find(&named, config, name, command->errors) &&
                ddl_tables(command, &named.config, choice);
    px_named_free(&named);
    return good;
}

static bool ddl_all(const px_command *command, const cfg_config *config, ddl_choice choice)
{
    for (size_t i = 0; i < config->pattern_count; i++)
        fprintf(command->errors,
                "keyspread: %s is a pattern: name it, or a table of it, for those that are there\n",
                cfg_table_label(&config->tables[config->table_count + i]));
    bool good = ddl_tables(command, config, choice);
    for (size_t i = 0; good && i < config->columnar_count && choice != DDL_POSTGRES; i++) {
        fputs(i + config->table_count > 0 ? "\n" : "", command->out);
        px_ydb_print_columnar(config, cfg_columnar_table(config, i), command->out, command->errors);
    }
    return good;
}

/* Tells keyspread at once of changes that it does not see: sent past it, or made by functions.
 * Temporary objects do not matter. */
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
    ddl_choice choice = strcmp(argv[0], "--postgres") == 0  ? DDL_POSTGRES
                        : strcmp(argv[0], "--yql") == 0     ? DDL_YQL
                        : strcmp(argv[0], "--trigger") == 0 ? DDL_TRIGGER
                                                            : DDL_BOTH;
    if (choice != DDL_BOTH)
        argc--, argv++;
    if (argc < (choice == DDL_TRIGGER ? 2 : 1) || argc > 2 || argv[0][0] == '-') {
        if (argc > 0 && argv[0][0] == '-')
            fprintf(command->errors, "keyspread: ddl does not take \"%s\" here\n", argv[0]);
        fputs("usage: keyspread ddl [--postgres|--yql] CONFIG [TABLE]\n"
              "       keyspread ddl --trigger CONFIG TABLE\n"
              "       keyspread ddl --event-trigger\n",
              command->errors);
        return PX_USAGE;
    }
    if (px_ydb_backend() == NULL) {
        if (choice == DDL_YQL) {
            fputs("keyspread: ddl --yql: this keyspread was built without YDB\n", command->errors);
            return PX_USAGE;
        }
        choice = DDL_POSTGRES;
    }
    cfg_config *config = px_config_load(argv[0], command->errors);
    bool good = config != NULL && (argc > 1 ? ddl_named(command, config, argv[1], choice)
                                            : ddl_all(command, config, choice));
    cfg_free(config);
    return good ? PX_DONE : PX_WRONG;
}
