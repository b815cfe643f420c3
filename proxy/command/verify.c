#include "proxy/command/verify.h"

#include "proxy/server/config.h"

#include <stdlib.h>
#include <string.h>

#include "protocol/printable.h"
#include "proxy/backend/schema/audit.h"
#include "proxy/command/base/named.h"
#include "proxy/command/base/tables.h"
#include "rewrite/hash/hash.h"

enum { SHOWN = 5 }; /* rows named one by one; the rest is only counted */

/* The rows come one at a time, so that a table of any size takes no memory. */
typedef struct verification {
    const rw_table *table;
    const px_command *command;
    pgw_arena arena; /* memory of the row at hand */
    uint64_t rows, wrong, missing, unreadable;
} verification;

static void print_failure(const verification *verify, const char *what, const char *message)
{
    pgw_buf shown = {0};
    pgw_add_printable(pgw_slice_str(message), true, &shown);
    fprintf(verify->command->errors, "keyspread: %s.%s: %s: %.*s", verify->table->schema,
            verify->table->name, what, (int)shown.len, shown.ptr);
    pgw_buf_free(&shown);
}

static void show(const verification *verify, const PGresult *row, const char *what)
{
    FILE *errors = verify->command->errors;
    if (verify->wrong + verify->missing + verify->unreadable > SHOWN)
        return;
    fprintf(errors, "keyspread: %s:", what);
    pgw_buf line = {0};
    for (int i = 0; i < PQnfields(row); i++) {
        pgw_buf_addf(&line, " %s=", PQfname(row, i));
        if (PQgetisnull(row, 0, i))
            pgw_buf_add_str(&line, "NULL");
        else
            pgw_add_logfmt(pgw_slice_str(PQgetvalue(row, 0, i)), &line);
    }
    fprintf(errors, "%.*s\n", (int)line.len, line.ptr);
    pgw_buf_free(&line);
}

static void verify_row(verification *verify, const PGresult *row)
{
    size_t count = verify->table->hash_key_count + 1;
    pgw_slice *cells = pgw_arena_alloc(&verify->arena, count * sizeof *cells);
    bool *nulls = pgw_arena_alloc(&verify->arena, count * sizeof *nulls);
    for (size_t i = 0; i < count; i++) {
        cells[i] = (pgw_slice){PQgetvalue(row, 0, (int)i), (size_t)PQgetlength(row, 0, (int)i)};
        nulls[i] = PQgetisnull(row, 0, (int)i);
    }
    pgw_buf right = {0};
    verify->rows++;
    switch (px_audit_row(verify->table, cells, nulls, &right)) {
    case PX_AUDIT_RIGHT:
        break;
    case PX_AUDIT_MISSING:
        verify->missing++;
        show(verify, row, "the hash is missing");
        break;
    case PX_AUDIT_UNREADABLE:
        verify->unreadable++;
        show(verify, row, "the key cannot be read");
        break;
    case PX_AUDIT_WRONG:
        verify->wrong++;
        pgw_buf_add_byte(&right, '\0');
        show(verify, row, pgw_arena_printf(&verify->arena, "the hash should be %s", right.ptr));
    }
    pgw_buf_free(&right);
    pgw_arena_free(&verify->arena);
}

/* Reads all rows. False, with a message, if they did not come to their end. */
static bool read_rows(verification *verify, PGconn *link)
{
    bool good = true;
    PGresult *result;
    while ((result = PQgetResult(link)) != NULL) {
        ExecStatusType status = PQresultStatus(result);
        if (status == PGRES_SINGLE_TUPLE)
            verify_row(verify, result);
        else if (status != PGRES_TUPLES_OK) {
            print_failure(verify, "the table could not be read", PQresultErrorMessage(result));
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
    px_audit_query(table, 0, &sql);
    pgw_buf_add_byte(&sql, '\0');
    bool good = PQsendQuery(link, sql.ptr) && PQsetSingleRowMode(link);
    if (!good)
        print_failure(&verify, "the backend could not be asked", PQerrorMessage(link));
    good = good && read_rows(&verify, link) && print_counts(&verify);
    pgw_buf_free(&sql);
    return good;
}

static bool verify_written(const px_command *command, const cfg_config *config,
                           const cfg_table *written, PGconn *link)
{
    rw_table *table = px_backend_table(config, written, link, command->errors);
    bool good = table != NULL && table->unusable == NULL;
    if (table != NULL && !good)
        fprintf(command->errors, "%s:%u: table %s: %s\n", config->path, written->line,
                cfg_table_label(written), table->unusable);
    good = good && verify_table(command, table, link);
    rw_table_free(table);
    return good;
}

/* Verifies one table after the other, each under its name if there may be several; what is wrong
 * with one does not keep it from the others. */
static bool verify_named(const px_command *command, const px_named *named)
{
    PGconn *link = px_backend_open(&named->config, command->errors);
    bool good = link != NULL;
    for (size_t i = 0; link != NULL && i < named->config.table_count; i++) {
        const cfg_table *written = &named->config.tables[i];
        if (named->pattern && !named->spread[i]) {
            fprintf(
                command->errors,
                "keyspread: warning: %s is not spread: it has no column %s in its primary key\n",
                cfg_table_label(written), written->hash_column);
            continue;
        }
        if (named->pattern)
            fprintf(command->out, "table: %s\n", cfg_table_label(written));
        good &= verify_written(command, &named->config, written, link);
    }
    PQfinish(link);
    return good;
}

int px_command_verify(const px_command *command)
{
    cfg_config *config = px_config_load(command->argv[0], command->errors);
    px_named named = {0};
    bool good = config != NULL &&
                px_named_find(&named, config, command->argv[1], command->errors) &&
                verify_named(command, &named);
    px_named_free(&named);
    cfg_free(config);
    return good ? PX_DONE : PX_WRONG;
}
