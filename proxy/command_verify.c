#include "proxy/commands.h"

#include <stdlib.h>
#include <string.h>

#include "proxy/command_tables.h"
#include "rewrite/hash.h"

enum { SHOWN = 5 }; /* rows named one by one; the rest is only counted */

/* The rows come one at a time, so that a table of any size takes no memory. */
typedef struct verification {
    const rw_table *table;
    const px_command *command;
    pgw_value *values; /* of the hash_key columns */
    pgw_arena arena;   /* of one row */
    uint64_t rows, wrong, missing, unreadable;
} verification;

static void add_name(pgw_buf *sql, const char *name)
{
    pgw_buf_add_byte(sql, '"');
    for (; *name != '\0'; name++) {
        if (*name == '"')
            pgw_buf_add_byte(sql, '"');
        pgw_buf_add_byte(sql, *name);
    }
    pgw_buf_add_byte(sql, '"');
}

static void add_query(const rw_table *table, pgw_buf *sql)
{
    pgw_buf_add_str(sql, "select ");
    add_name(sql, table->columns[table->hash_column].name);
    for (size_t i = 0; i < table->hash_key_count; i++) {
        pgw_buf_add_str(sql, ", ");
        add_name(sql, table->columns[table->hash_key[i]].name);
    }
    pgw_buf_add_str(sql, " from ");
    add_name(sql, table->schema);
    pgw_buf_add_byte(sql, '.');
    add_name(sql, table->name);
    pgw_buf_add_byte(sql, '\0');
}

static bool read_value(verification *verify, const PGresult *row, size_t i)
{
    const rw_column *column = &verify->table->columns[verify->table->hash_key[i]];
    int field = (int)i + 1;
    pgw_error error;
    pgw_slice text = {PQgetvalue(row, 0, field), (size_t)PQgetlength(row, 0, field)};
    verify->values[i] = (pgw_value){.type = column->type, .null = true};
    return PQgetisnull(row, 0, field) ||
           pgw_value_from_text(column->type, column->typmod, text, &px_plain_env, &verify->arena,
                               &verify->values[i], &error) == PGW_KNOWN;
}

static void show(const verification *verify, const PGresult *row, const char *what)
{
    FILE *errors = verify->command->errors;
    if (verify->wrong + verify->missing + verify->unreadable > SHOWN)
        return;
    fprintf(errors, "keyspread: %s:", what);
    for (int i = 0; i < PQnfields(row); i++)
        fprintf(errors, " %s=%s", PQfname(row, i),
                PQgetisnull(row, 0, i) ? "NULL" : PQgetvalue(row, 0, i));
    fputc('\n', errors);
}

static void verify_row(verification *verify, const PGresult *row)
{
    bool readable = true;
    verify->rows++;
    for (size_t i = 0; i < verify->table->hash_key_count; i++)
        readable = read_value(verify, row, i) && readable;
    if (PQgetisnull(row, 0, 0)) {
        verify->missing++;
        show(verify, row, "the hash is missing");
    } else if (!readable) {
        verify->unreadable++;
        show(verify, row, "the key cannot be read");
    } else {
        pgw_buf right = {0};
        rw_hash_print(verify->table, rw_hash_key(verify->table, verify->values), &right);
        pgw_buf_add_byte(&right, '\0');
        if (strcmp(right.ptr, PQgetvalue(row, 0, 0)) != 0) {
            char *what = pgw_arena_printf(&verify->arena, "the hash should be %s", right.ptr);
            verify->wrong++;
            show(verify, row, what);
        }
        pgw_buf_free(&right);
    }
    pgw_arena_free(&verify->arena);
}

/* False, with a message, if the rows did not come to their end. */
static bool read_rows(verification *verify, PGconn *link)
{
    bool good = true;
    PGresult *result;
    while ((result = PQgetResult(link)) != NULL) {
        ExecStatusType status = PQresultStatus(result);
        if (status == PGRES_SINGLE_TUPLE)
            verify_row(verify, result);
        else if (status != PGRES_TUPLES_OK) {
            fprintf(verify->command->errors, "keyspread: table %s.%s could not be read: %s",
                    verify->table->schema, verify->table->name, PQresultErrorMessage(result));
            good = false;
        }
        PQclear(result);
    }
    return good;
}

static bool print_counts(verification *verify)
{
    FILE *out = verify->command->out;
    fprintf(out, "rows: %llu\nwrong: %llu\nmissing: %llu\n", (unsigned long long)verify->rows,
            (unsigned long long)verify->wrong, (unsigned long long)verify->missing);
    if (verify->unreadable > 0)
        fprintf(out, "unreadable: %llu\n", (unsigned long long)verify->unreadable);
    if (verify->wrong + verify->missing + verify->unreadable == 0)
        return true;
    const char *expression = rw_hash_expression(verify->table, false, &verify->arena);
    if (expression != NULL)
        fprintf(verify->command->errors, "keyspread: this gives the right hash: %s\n", expression);
    else
        fputs("keyspread: such rows are not found by their key; write them again through "
              "keyspread\n",
              verify->command->errors);
    pgw_arena_free(&verify->arena);
    return false;
}

static bool verify_table(const px_command *command, const rw_table *table, PGconn *link)
{
    verification verify = {.table = table, .command = command};
    pgw_buf sql = {0};
    verify.values = pgw_calloc(table->hash_key_count, sizeof *verify.values);
    add_query(table, &sql);
    bool good = PQsendQuery(link, sql.ptr) && PQsetSingleRowMode(link);
    if (!good)
        fprintf(command->errors, "keyspread: the backend could not be asked: %s",
                PQerrorMessage(link));
    good = good && read_rows(&verify, link) && print_counts(&verify);
    pgw_buf_free(&sql);
    free(verify.values);
    return good;
}

static bool verify_written(const px_command *command, const cfg_config *config,
                           const cfg_table *written)
{
    PGconn *link = px_backend_open(config, command->errors);
    if (link == NULL)
        return false;
    rw_table *table = px_backend_table(config, written, link, command->errors);
    bool good = table != NULL && table->unusable == NULL;
    if (table != NULL && !good)
        fprintf(command->errors, "%s:%u: table %s: %s\n", config->path, written->line,
                cfg_table_label(written), table->unusable);
    good = good && verify_table(command, table, link);
    rw_table_free(table);
    PQfinish(link);
    return good;
}

int px_command_verify(const px_command *command)
{
    cfg_config *config = px_config_load(command->argv[0], command->errors);
    const cfg_table *table =
        config ? px_config_table(config, command->argv[1], command->errors) : NULL;
    bool good = table != NULL && verify_written(command, config, table);
    cfg_free(config);
    return good ? PX_DONE : PX_WRONG;
}
