#include "proxy/command/migrate/migration.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "protocol/printable.h"
#include "proxy/command/base/tables.h"

enum {
    LOCK_TRIES = 100,   /* How often a statement is tried that waits for others' locks. */
    PAUSE_MS = 200,     /* The pause between two of these tries. */
    OTHER_SECONDS = 20, /* How long a killed command's session is waited for. */
    SHOWN = 300         /* Bytes of a statement that an error shows. */
};

static const char *const phases[] = {"none", "begun", "ready", "cut", "back"};

void px_migration_say(const px_migration *it, const PGresult *result, const char *what)
{
    pgw_buf shown = {0};
    size_t len = strlen(what);
    pgw_add_printable((pgw_slice){what, len < SHOWN ? len : SHOWN}, true, &shown);
    fprintf(it->command->errors, "keyspread: migrate: %.*s%s\n", (int)shown.len, shown.ptr,
            len < SHOWN ? "" : " …");
    pgw_buf_free(&shown);
    if (result != NULL)
        fprintf(it->command->errors, "%s", PQresultErrorMessage(result));
}

/* --- statements --- */

static PGresult *run(const px_migration *it, PGconn *link, const char *sql, bool quiet)
{
    PGresult *result = PQexec(link, sql);
    ExecStatusType status = PQresultStatus(result);
    if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK)
        return result;
    if (!quiet || !px_migration_was_locked(result))
        px_migration_say(it, result, sql);
    if (PQtransactionStatus(link) == PQTRANS_INERROR)
        PQclear(PQexec(link, "rollback"));
    return result;
}

static bool is_done(PGresult *result)
{
    ExecStatusType status = PQresultStatus(result);
    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
}

bool px_migration_was_locked(const PGresult *result)
{
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    return state != NULL && (strcmp(state, "55P03") == 0 || strcmp(state, "40P01") == 0 ||
                             strcmp(state, "57014") == 0);
}

bool px_migration_do(const px_migration *it, PGconn *link, const char *sql)
{
    PGresult *result = run(it, link, sql, false);
    bool done = is_done(result);
    PQclear(result);
    return done;
}

PGresult *px_migration_ask(const px_migration *it, PGconn *link, const char *sql)
{
    PGresult *result = run(it, link, sql, false);
    if (PQresultStatus(result) == PGRES_TUPLES_OK)
        return result;
    PQclear(result);
    return NULL;
}

static char *printed(const char *format, va_list arguments)
{
    char *text = NULL;
    va_list again;
    va_copy(again, arguments);
    int len = vsnprintf(NULL, 0, format, again);
    va_end(again);
    text = pgw_alloc((size_t)len + 1);
    vsnprintf(text, (size_t)len + 1, format, arguments);
    return text;
}

bool px_migration_dof(const px_migration *it, PGconn *link, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *sql = printed(format, arguments);
    va_end(arguments);
    bool done = px_migration_do(it, link, sql);
    free(sql);
    return done;
}

PGresult *px_migration_askf(const px_migration *it, PGconn *link, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *sql = printed(format, arguments);
    va_end(arguments);
    PGresult *result = px_migration_ask(it, link, sql);
    free(sql);
    return result;
}

static void pause_ms(unsigned ms)
{
    struct timespec time = {ms / 1000, (long)(ms % 1000) * 1000000};
    nanosleep(&time, NULL);
}

bool px_migration_patiently(const px_migration *it, const char *sql)
{
    bool done = false, locked = true;
    for (int i = 0; i < LOCK_TRIES && !done && locked; i++) {
        if (i > 0)
            pause_ms(PAUSE_MS);
        pgw_buf text = {0};
        pgw_buf_addf(&text, "begin; set local lock_timeout = '300ms'; %s; commit", sql);
        PGresult *result = run(it, it->writer, text.ptr, i + 1 < LOCK_TRIES);
        done = is_done(result);
        locked = px_migration_was_locked(result);
        PQclear(result);
        pgw_buf_free(&text);
    }
    return done;
}

double px_migration_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* --- the links --- */

/* A command that was killed may hold the lock until its server process sees that its client is
 * gone. */
static bool lock_out_others(const px_migration *it)
{
    PGresult *result =
        run(it, it->writer,
            "set lock_timeout = '20s'; select pg_catalog.pg_advisory_lock(7308613550893297510);"
            " set lock_timeout = 0",
            true);
    bool done = is_done(result);
    if (!done && px_migration_was_locked(result))
        fprintf(
            it->command->errors,
            "keyspread: migrate: another `keyspread migrate` has been at work in this database for "
            "%d s: wait for it\n",
            OTHER_SECONDS);
    PQclear(result);
    return done;
}

/* Without this the new tables would be found under another name than their schema's, and a setting
 * of the role could end a long copy. An autovacuum is ended for those who wait as long as
 * deadlock_timeout, which is to be before the command gives a try up. */
static const char settings[] =
    "set search_path = pg_catalog; set statement_timeout = 0; set lock_timeout = 0;"
    " set idle_in_transaction_session_timeout = 0; set idle_session_timeout = 0;"
    " set check_function_bodies = off; set row_security = off; set client_min_messages = error;"
    " select set_config('deadlock_timeout', '100ms', false) where"
    " has_parameter_privilege('deadlock_timeout', 'set')";

bool px_migration_open(px_migration *it)
{
    it->writer = px_backend_open(it->config, it->command->errors);
    it->reader = it->writer != NULL ? px_backend_open(it->config, it->command->errors) : NULL;
    return it->reader != NULL && px_migration_do(it, it->writer, settings) &&
           px_migration_do(it, it->reader, settings) && lock_out_others(it);
}

void px_migration_close(px_migration *it)
{
    PQfinish(it->reader);
    PQfinish(it->writer);
    it->reader = it->writer = NULL;
    pgw_arena_free(&it->arena);
}

/* --- the state --- */

bool px_migration_phase(const px_migration *it, px_phase *phase)
{
    *phase = PX_PHASE_NONE;
    PGresult *there =
        px_migration_ask(it, it->writer, "select to_regclass('keyspread.migration') is not null");
    bool good = there != NULL, has = good && PQgetvalue(there, 0, 0)[0] == 't';
    PQclear(there);
    if (!has)
        return good;
    PGresult *row = px_migration_ask(it, it->writer, "select phase from keyspread.migration");
    good = row != NULL;
    for (size_t i = 0; good && PQntuples(row) > 0 && i < sizeof phases / sizeof *phases; i++)
        if (strcmp(PQgetvalue(row, 0, 0), phases[i]) == 0)
            *phase = (px_phase)i;
    PQclear(row);
    return good;
}

void px_migration_add_reach(px_phase phase, pgw_buf *sql)
{
    pgw_buf_addf(sql, "update keyspread.migration set phase = '%s'", phases[phase]);
}

bool px_migration_reach(const px_migration *it, px_phase phase)
{
    pgw_buf sql = {0};
    px_migration_add_reach(phase, &sql);
    pgw_buf_add_byte(&sql, '\0');
    bool good = px_migration_do(it, it->writer, sql.ptr);
    pgw_buf_free(&sql);
    return good;
}

static const rw_table *asked_table(const px_migration *it, const char *schema, const char *name)
{
    for (size_t i = 0; i < it->count; i++)
        if (strcmp(it->tables[i]->schema, schema) == 0 && strcmp(it->tables[i]->name, name) == 0)
            return it->tables[i];
    return NULL;
}

static const char *kept_text(px_migration *it, const PGresult *rows, int row, int column)
{
    return pgw_arena_printf(&it->arena, "%s", PQgetvalue(rows, row, column));
}

/* Whether the command was asked for a table that has no hash, and is none of the migration's. */
static bool is_asked_for_more(const px_migration *it)
{
    for (size_t i = 0; i < it->count; i++) {
        bool found = it->tables[i]->columns[it->tables[i]->hash_column].attnum != 0;
        for (size_t k = 0; k < it->migrated_count && !found; k++)
            found = it->migrated[k].table == it->tables[i];
        if (!found)
            return true;
    }
    return false;
}

static bool take_rows(px_migration *it, const PGresult *rows)
{
    it->migrated_count = (size_t)PQntuples(rows);
    it->migrated = pgw_arena_alloc(&it->arena, it->migrated_count * sizeof *it->migrated);
    for (int i = 0; i < PQntuples(rows); i++) {
        px_migrated *one = &it->migrated[i];
        *one =
            (px_migrated){.place = atoi(PQgetvalue(rows, i, 0)),
                          .table = asked_table(it, PQgetvalue(rows, i, 7), PQgetvalue(rows, i, 8)),
                          .name = kept_text(it, rows, i, 1),
                          .fresh = kept_text(it, rows, i, 2),
                          .kept = kept_text(it, rows, i, 3),
                          .keys = kept_text(it, rows, i, 4),
                          .key_texts = kept_text(it, rows, i, 9),
                          .stored = kept_text(it, rows, i, 5),
                          .columns = kept_text(it, rows, i, 6)};
        if (one->table != NULL)
            continue;
        fprintf(it->command->errors,
                "keyspread: migrate: a migration of %s is under way, which this command is not "
                "told of: name "
                "all its tables, or none, in a configuration that has them\n",
                one->name);
        return false;
    }
    if (!is_asked_for_more(it))
        return true;
    fputs("keyspread: migrate: a migration of fewer tables is under way: name only these, and the "
          "others "
          "when it is at its end (--finish)\n",
          it->command->errors);
    return false;
}

/* A migration goes on in the way that it began. */
static bool take_way(px_migration *it)
{
    PGresult *row =
        px_migration_ask(it, it->writer, "select slot is not null from keyspread.migration");
    bool decoding = row != NULL && PQgetvalue(row, 0, 0)[0] == 't',
         good = row != NULL && (decoding || !it->decoding);
    if (row != NULL && !good)
        fputs("keyspread: migrate: the migration that is under way logs changes by triggers: leave "
              "--changes=decoding out, or take it back (--back) first\n",
              it->command->errors);
    it->decoding = decoding;
    PQclear(row);
    return good;
}

bool px_migration_load(px_migration *it)
{
    PGresult *rows = px_migration_ask(
        it, it->writer,
        "select place, name, fresh, kept, keys, stored, columns, nspname, relname, key_texts"
        " from keyspread.migration_table order by place");
    bool good = rows != NULL && take_rows(it, rows) && take_way(it);
    PQclear(rows);
    return good;
}
