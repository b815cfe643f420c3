#include "proxy/command/hash.h"

#include "protocol/value_in.h"
#include "proxy/server/config.h"

#include <stdlib.h>
#include <string.h>

#include "proxy/backend/schema/audit.h"
#include "proxy/command/base/named.h"
#include "proxy/command/base/tables.h"
#include "rewrite/hash/hash.h"
#include "rewrite/hash/partition.h"

/* The values of the hash_key columns, in its order. */
typedef struct hash_input {
    const rw_table *table;
    pgw_value values[64];
    bool given[64];
    pgw_arena arena;
    FILE *errors;
} hash_input;

static void print_key_names(const hash_input *key)
{
    for (size_t i = 0; i < key->table->hash_key_count; i++)
        fprintf(key->errors, "%s%s", i == 0 ? "" : ", ",
                key->table->columns[key->table->hash_key[i]].name);
}

static bool in_primary_key(const rw_table *table, size_t column)
{
    for (size_t i = 0; i < table->primary_key_count; i++)
        if (table->primary_key[i] == column)
            return true;
    return false;
}

static bool read_value(hash_input *key, size_t i, const rw_column *column, pgw_slice text)
{
    pgw_error error = PGW_ERROR_NONE;
    pgw_verdict verdict =
        pgw_value_from_text(column->type, column->typmod, text,
                            &(pgw_reading){&px_plain_env, &key->arena, &error}, &key->values[i]);
    key->given[i] = true;
    if (verdict == PGW_KNOWN)
        return true;
    if (verdict == PGW_INVALID)
        fprintf(key->errors, "keyspread: %s: %s (%s)\n", column->name, error.message,
                error.sqlstate);
    else
        fprintf(key->errors,
                "keyspread: %s: \"%.*s\" cannot be read as %s without asking the backend: write it "
                "in the plain form, such as 2026-01-31 12:00:00+00\n",
                column->name, (int)text.len, text.ptr, column->type_name);
    return false;
}

/* COL=VALUE; COL alone is a NULL, where the table allows one. Columns of the primary key that do
 * not feed the hash may stand there too. */
static bool read_argument(hash_input *key, const char *argument)
{
    const rw_table *table = key->table;
    size_t len = strcspn(argument, "=");
    pgw_slice name = {argument, len};
    size_t column = rw_table_column(table, name);
    for (size_t i = 0; i < table->hash_key_count && column < table->column_count; i++) {
        if (table->hash_key[i] != column)
            continue;
        if (key->given[i]) {
            fprintf(key->errors, "keyspread: %.*s is given twice: keep one\n", (int)len, argument);
            return false;
        }
        if (argument[len] == '=')
            return read_value(key, i, &table->columns[column], pgw_slice_str(argument + len + 1));
        key->values[i] = (pgw_value){.type = table->columns[column].type, .null = true};
        key->given[i] = table->allow_null_key;
    }
    if (argument[len] == '=' && in_primary_key(table, column))
        return true;
    if (argument[len] != '=' && table->allow_null_key && column < table->column_count)
        return true;
    fprintf(key->errors,
            "keyspread: \"%s\": give COL=VALUE for the columns of hash_key: ", argument);
    print_key_names(key);
    fputc('\n', key->errors);
    return false;
}

static bool read_key(hash_input *key, int count, char **arguments)
{
    for (int i = 0; i < count; i++)
        if (!read_argument(key, arguments[i]))
            return false;
    for (size_t i = 0; i < key->table->hash_key_count; i++)
        if (!key->given[i]) {
            fprintf(key->errors, "keyspread: %s=VALUE is missing: the hash needs all of ",
                    key->table->columns[key->table->hash_key[i]].name);
            print_key_names(key);
            fputc('\n', key->errors);
            return false;
        }
    return true;
}

static void print_expression(const rw_table *table, bool yql, pgw_arena *arena, FILE *out)
{
    const char *expression = rw_hash_expression(table, yql, arena);
    fprintf(out, "%s: %s\n", yql ? "yql" : "postgres",
            expression ? expression : "no expression recomputes it");
}

static void print_hash(hash_input *key, FILE *out)
{
    const rw_table *table = key->table;
    uint64_t hash = rw_hash_key(table, key->values);
    pgw_buf number = {0};
    rw_hash_print(table, hash, &number);
    fprintf(out, "%s: %.*s\n", table->columns[table->hash_column].name, (int)number.len,
            number.ptr);
    fprintf(out, "partition: %u\n", rw_partition_of(table, hash));
    print_expression(table, false, &key->arena, out);
    print_expression(table, true, &key->arena, out);
    pgw_buf_free(&number);
}

static bool hash_table(const px_command *command, const rw_table *table)
{
    hash_input key = {.table = table, .errors = command->errors};
    bool good = read_key(&key, command->argc - 2, command->argv + 2);
    if (good)
        print_hash(&key, command->out);
    pgw_arena_free(&key.arena);
    return good;
}

static bool hash_named(const px_command *command, const px_named *named)
{
    px_tables tables = {0};
    if (named->pattern) {
        fprintf(command->errors, "keyspread: %s is a pattern: name one of its tables\n",
                command->argv[1]);
        return false;
    }
    bool good = px_tables_load(&tables, &named->config, command->errors);
    if (good && tables.tables[0]->unusable != NULL) {
        const cfg_table *written = tables.written[0];
        fprintf(command->errors, "%s:%u: table %s: %s\n", named->config.path, written->line,
                cfg_table_label(written), tables.tables[0]->unusable);
        good = false;
    }
    good = good && hash_table(command, tables.tables[0]);
    px_tables_free(&tables);
    return good;
}

int px_command_hash(const px_command *command)
{
    cfg_config *config = px_config_load(command->argv[0], command->errors);
    px_named named = {0};
    bool good = config != NULL &&
                px_named_find(&named, config, command->argv[1], command->errors) &&
                hash_named(command, &named);
    px_named_free(&named);
    cfg_free(config);
    return good ? PX_DONE : PX_WRONG;
}
