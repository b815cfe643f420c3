#include "proxy/command/migrate/rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "protocol/copy/rows.h"
#include "protocol/value_in.h"
#include "proxy/command/migrate/decoding.h"
#include "proxy/backend/schema/audit.h"
#include "rewrite/hash/hash.h"
#include "rewrite/lex/quote.h"

enum {
    RANGE = 5000,        /* Rows that are copied in one transaction. */
    SENT = 64 * 1024,    /* Bytes that are sent to the new table at once. */
    SCRATCH = 64 * 1024, /* Bytes of values that are read before their memory is given back. */
    MOST_ROUNDS = 20,    /* How often it catches up before it says that writers are faster. */
    FEW_KEYS = 500, /* In a round with so few changes the time is not theirs, but their tables'. */
    PERCENT = 80,   /* A round that takes more than so much of the last one is no longer shorter. */
    PROGRESS_SECONDS = 1, /* The least time between two lines of progress. */
};

/* A round of catching up that is so short is the last one before writers are kept out, who then
 * wait about as long; one of the longest, if the next one would be no shorter. In seconds. */
static const double short_round = 0.05, longest_round = 0.5;

/* The time between two looks at how far standbys are behind. In seconds. */
static const double lag_pause = 0.2;

static void rest(double seconds)
{
    struct timespec time = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    if (seconds > 0)
        nanosleep(&time, NULL);
}

/* --- rows get their hash --- */

/* COPY's data from one link to the other. */
typedef struct stream {
    const px_migration *it;
    const rw_table *table;
    pgw_copy_options options;
    pgw_copy *copy;
    pgw_arena arena;   /* It has what the options point to. */
    pgw_arena scratch; /* Values are read in it. */
    pgw_value *values; /* One value for each column of the hash_key. */
} stream;

/* A pgw_copy_fill. A key that cannot be read gets NULL, which the new table refuses. */
static bool fill(void *context, const pgw_copy_field *fields, pgw_buf *out)
{
    stream *to = context;
    for (size_t i = 0; i < to->table->hash_key_count; i++) {
        const rw_column *column = &to->table->columns[to->table->hash_key[i]];
        pgw_error ignored;
        pgw_reading reading = {&px_plain_env, &to->scratch, &ignored};
        if (fields[i].null || fields[i].unknown ||
            pgw_value_from_text(column->type, column->typmod, fields[i].bytes, &reading,
                                &to->values[i]) != PGW_KNOWN)
            return false;
    }
    rw_hash_print(to->table, rw_hash_key(to->table, to->values), out);
    if (to->scratch.bytes > SCRATCH)
        pgw_arena_free(&to->scratch);
    return true;
}

static uint16_t place_in_hash_key(const rw_table *table, size_t column)
{
    for (size_t i = 0; i < table->hash_key_count; i++)
        if (table->hash_key[i] == column)
            return (uint16_t)(i + 1);
    return 0;
}

static void stream_begin(stream *to, const px_migration *it, const rw_table *table)
{
    *to = (stream){.it = it, .table = table};
    uint16_t *wanted = pgw_arena_alloc(&to->arena, table->column_count * sizeof *wanted);
    unsigned char *force = pgw_arena_alloc(&to->arena, table->hash_key_count);
    memset(force, 0, table->hash_key_count);
    size_t count = 0;
    for (size_t i = 0; i < table->column_count; i++)
        if (i != table->hash_column && !table->columns[i].generated)
            wanted[count++] = place_in_hash_key(table, i);
    to->options = (pgw_copy_options){.format = PGW_COPY_TEXT,
                                     .delimiter = '\t',
                                     .null = pgw_slice_str("\\N"),
                                     .columns = count,
                                     .wanted = wanted,
                                     .force = force,
                                     .wanted_count = table->hash_key_count};
    to->values = pgw_arena_alloc(&to->arena, table->hash_key_count * sizeof *to->values);
    to->copy = pgw_copy_new(&to->options, fill, to);
}

static void stream_free(stream *to)
{
    pgw_copy_free(to->copy);
    pgw_arena_free(&to->scratch);
    pgw_arena_free(&to->arena);
}

static bool send_rows(const px_migration *it, pgw_buf *rows)
{
    bool sent = rows->len == 0 || PQputCopyData(it->writer, rows->ptr, (int)rows->len) == 1;
    pgw_buf_clear(rows);
    return sent;
}

/* Whether what the link was doing has come to a good end. */
static bool ends_well(const px_migration *it, PGconn *link, const char *what)
{
    bool good = true;
    PGresult *result;
    while ((result = PQgetResult(link)) != NULL) {
        if (PQresultStatus(result) != PGRES_COMMAND_OK) {
            px_migration_say(it, result, what);
            good = false;
        }
        PQclear(result);
    }
    return good;
}

static bool pump(stream *to, pgw_buf *rows)
{
    char *row;
    int len;
    bool sent = true;
    while ((len = PQgetCopyData(to->it->reader, &row, 0)) > 0) {
        pgw_copy_feed(to->copy, (pgw_slice){row, (size_t)len}, rows);
        PQfreemem(row);
        if (rows->len > SENT)
            sent = send_rows(to->it, rows) && sent;
    }
    pgw_copy_finish(to->copy, rows);
    return send_rows(to->it, rows) && sent && len == -1;
}

static bool begins_copy(const px_migration *it, PGconn *link, const char *sql,
                        ExecStatusType status)
{
    PGresult *result = PQexec(link, sql);
    bool good = PQresultStatus(result) == status;
    if (!good)
        px_migration_say(it, result, sql);
    PQclear(result);
    return good;
}

/* Rows of the old table by what stands behind FROM, into the new one, in the writer's transaction.
 */
static bool copy_rows(const px_migration *it, const px_migrated *one, const char *from,
                      uint64_t *count)
{
    stream to;
    pgw_buf out = {0}, in = {0}, rows = {0};
    stream_begin(&to, it, one->table);
    pgw_buf_addf(&out, "copy (select %s from %s) to stdout", one->stored, from);
    pgw_buf_addf(&in, "copy %s (%s, ", one->fresh, one->stored);
    rw_add_identifier(&in, one->table->columns[one->table->hash_column].name);
    pgw_buf_add(&in, ") from stdin", sizeof ") from stdin");
    bool good = begins_copy(it, it->writer, in.ptr, PGRES_COPY_IN);
    if (good) {
        bool reads = begins_copy(it, it->reader, out.ptr, PGRES_COPY_OUT),
             pumped = reads && pump(&to, &rows);
        good = PQputCopyEnd(it->writer, pumped ? NULL : "the old table could not be read") == 1 &&
               pumped;
        good = ends_well(it, it->writer, in.ptr) && good;
        good = (!reads || ends_well(it, it->reader, out.ptr)) && good;
    }
    *count += pgw_copy_rows(to.copy);
    pgw_buf_free(&out);
    pgw_buf_free(&in);
    pgw_buf_free(&rows);
    stream_free(&to);
    return good;
}

/* --- ranges of the key --- */

/* The way through one table. Keys are lists of constants, as SQL has them. */
typedef struct range {
    const px_migrated *table;
    char *after; /* The key of the last row that is copied; NULL: none is. */
    char *upto;  /* The key that the range at hand ends with; NULL: it goes to the end. */
    uint64_t rows, begun_with; /* So many are copied, and were when the command began. */
    double *kept_up;           /* When the changes of all tables were read last. */
    double total, begun, told; /* About so many the table has; times, in seconds. */
} range;

static char *copy_of_cell(const PGresult *row, int column)
{
    bool has = row != NULL && PQntuples(row) == 1 && !PQgetisnull(row, 0, column);
    return has ? pgw_strndup(PQgetvalue(row, 0, column), (size_t)PQgetlength(row, 0, column))
               : NULL;
}

static void add_bounds(const range *at, pgw_buf *out)
{
    pgw_buf_addf(out, "%s where true", at->table->name);
    if (at->after != NULL)
        pgw_buf_addf(out, " and (%s) > (%s)", at->table->keys, at->after);
    if (at->upto != NULL)
        pgw_buf_addf(out, " and (%s) <= (%s)", at->table->keys, at->upto);
}

static bool find_end(const px_migration *it, range *at)
{
    pgw_buf from = {0};
    free(at->upto);
    at->upto = NULL;
    add_bounds(at, &from);
    pgw_buf_add_byte(&from, '\0');
    PGresult *row =
        px_migration_askf(it, it->reader,
                          "select (select string_agg(quote_literal(x), ', ' order by n) from"
                          " unnest(array[%s]) with ordinality u(x, n)) from %s order by %s limit 1"
                          " offset %d",
                          at->table->key_texts, from.ptr, at->table->keys, RANGE - 1);
    at->upto = copy_of_cell(row, 0);
    PQclear(row);
    pgw_buf_free(&from);
    return row != NULL;
}

/* Notes how far the table is copied, in the transaction that copies. */
static bool note_range(const px_migration *it, const range *at)
{
    pgw_buf sql = {0};
    pgw_buf_addf(&sql,
                 "update keyspread.migration_table set rows = %" PRIu64 ", whole = %s, copied = ",
                 at->rows, at->upto == NULL ? "true" : "false");
    if (at->upto != NULL)
        rw_add_constant(&sql, pgw_slice_str(at->upto));
    else
        pgw_buf_add_str(&sql, "null");
    pgw_buf_addf(&sql, " where place = %d", at->table->place);
    bool good = px_migration_do(it, it->writer, sql.ptr);
    pgw_buf_free(&sql);
    return good;
}

static bool copy_range(const px_migration *it, range *at)
{
    pgw_buf from = {0};
    add_bounds(at, &from);
    pgw_buf_add_byte(&from, '\0');
    bool good = px_migration_do(it, it->writer, "begin") &&
                copy_rows(it, at->table, from.ptr, &at->rows) && note_range(it, at) &&
                px_migration_do(it, it->writer, "commit");
    pgw_buf_free(&from);
    return good;
}

static void tell_progress(const px_migration *it, range *at)
{
    double time = px_migration_now(),
           rate = (double)(at->rows - at->begun_with) / (time - at->begun + 1e-9);
    if (at->upto != NULL && time - at->told < PROGRESS_SECONDS)
        return;
    at->told = time;
    fprintf(it->command->out, "%s: %" PRIu64 " rows copied, %.0f rows/s", at->table->name, at->rows,
            rate);
    if (at->upto != NULL && at->total > (double)at->rows && rate > 0)
        fprintf(it->command->out, ", about %.0f s left", (at->total - (double)at->rows) / rate);
    fputc('\n', it->command->out);
    fflush(it->command->out);
}

static void keep_rate(const px_migration *it, const range *at)
{
    if (it->rate > 0)
        rest((double)(at->rows - at->begun_with) / it->rate - (px_migration_now() - at->begun));
}

/* How many bytes of the log the standby that is furthest behind has not replayed, and its name. A
 * standby that is not connected has no row here. */
static const char ask_lag[] = "select pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn)::int8, "
                              "application_name, state is null"
                              " from pg_stat_replication where coalesce(state, '') <> 'backup' "
                              "order by 3 desc, 1 desc nulls last limit 1";

/* Waits until no standby is further behind than it may be. False with a message. */
static bool keep_lag(const px_migration *it)
{
    double told = 0;
    for (bool behind = it->max_lag > 0; behind;) {
        PGresult *row = px_migration_ask(it, it->writer, ask_lag);
        if (row == NULL)
            return false;
        bool any = PQntuples(row) == 1, hidden = any && PQgetvalue(row, 0, 2)[0] == 't';
        uint64_t lag = any ? strtoull(PQgetvalue(row, 0, 0), NULL, 10) : 0;
        behind = lag > it->max_lag;
        if (hidden)
            fprintf(it->command->errors,
                    "keyspread: migrate: the role may not see how far standbys "
                    "are behind: grant it pg_monitor\n");
        if (behind && px_migration_now() - told >= PROGRESS_SECONDS) {
            fprintf(it->command->out, "waiting for standby %s, which is %" PRIu64 " bytes behind\n",
                    PQgetvalue(row, 0, 1), lag);
            fflush(it->command->out);
            told = px_migration_now();
        }
        PQclear(row);
        if (hidden)
            return false;
        if (behind)
            rest(lag_pause);
    }
    return true;
}

static bool copy_ranges(const px_migration *it, range *at)
{
    bool good = true, more = true;
    while (good && more) {
        good = keep_lag(it) && px_decoding_keep_up(it, at->kept_up) && find_end(it, at) &&
               copy_range(it, at);
        if (!good)
            break;
        tell_progress(it, at);
        keep_rate(it, at);
        more = at->upto != NULL;
        free(at->after);
        at->after = at->upto;
        at->upto = NULL;
    }
    return good;
}

static bool copy_table(const px_migration *it, const px_migrated *table, double *kept_up)
{
    PGresult *row = px_migration_askf(it, it->writer,
                                      "select copied, rows, whole, (select reltuples from pg_class "
                                      "where oid = to_regclass(name)) from"
                                      " keyspread.migration_table where place = %d",
                                      table->place);
    if (row == NULL || PQntuples(row) != 1)
        return PQclear(row), false;
    range at = {.table = table,
                .after = copy_of_cell(row, 0),
                .begun = px_migration_now(),
                .kept_up = kept_up};
    at.rows = at.begun_with = strtoull(PQgetvalue(row, 0, 1), NULL, 10);
    at.total = strtod(PQgetvalue(row, 0, 3), NULL);
    bool whole = PQgetvalue(row, 0, 2)[0] == 't';
    PQclear(row);
    bool good = whole || copy_ranges(it, &at);
    free(at.after);
    free(at.upto);
    return good;
}

bool px_rows_copy(const px_migration *it)
{
    bool good = true;
    double kept_up = 0;
    for (size_t i = 0; good && i < it->migrated_count; i++)
        good = copy_table(it, &it->migrated[i], &kept_up);
    return good;
}

/* --- what has changed meanwhile --- */

#define IN_LOG_OF(schema) "(%s) in (select %s from " schema ".changes_%d)"
#define IN_LOG IN_LOG_OF("keyspread")

/* Locks the old tables that have changed, so that no later statement of the link waits for them. */
static bool lock_changed(const px_migration *it, PGconn *link, const PGresult *changed,
                         bool *locked)
{
    pgw_buf sql = {0};
    for (size_t i = 0; i < it->migrated_count; i++)
        if (PQgetvalue(changed, (int)i, 1)[0] == 't')
            pgw_buf_addf(&sql, "%s%s", sql.len == 0 ? "lock table " : ", ", it->migrated[i].name);
    pgw_buf_add(&sql, " in access share mode", sizeof " in access share mode");
    PGresult *result = PQexec(link, sql.ptr);
    bool good = PQresultStatus(result) == PGRES_COMMAND_OK;
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    *locked = state != NULL && strcmp(state, "55P03") == 0;
    if (!good && !*locked)
        px_migration_say(it, result, sql.ptr);
    PQclear(result);
    pgw_buf_free(&sql);
    return good;
}

/* Both links see the database as it is now, and each its own changes. Locks must be held before. */
static bool share_moment(const px_migration *it)
{
    PGresult *snapshot = px_migration_ask(it, it->writer, "select pg_export_snapshot()");
    bool good = snapshot != NULL &&
                px_migration_do(it, it->reader, "begin isolation level repeatable read") &&
                px_migration_dof(it, it->reader, "set transaction snapshot '%s'",
                                 PQgetvalue(snapshot, 0, 0));
    PQclear(snapshot);
    return good;
}

/* Whether both tables have the same rows by a condition. */
static bool is_same(const px_migration *it, const px_migrated *one, const char *old,
                    const char *fresh, const char *condition)
{
    PGresult *row = px_migration_askf(
        it, it->writer,
        "with o as (select count(*) rows, coalesce(sum(hashtextextended(r::text, 0)), 0) digest "
        "from (select %s"
        " from %s where %s) r), n as (select count(*) rows, coalesce(sum(hashtextextended(r::text, "
        "0)), 0) digest"
        " from (select %s from %s where %s) r) select o = n, o.rows, n.rows from o, n",
        one->columns, old, condition, one->columns, fresh, condition);
    bool good = row != NULL && PQgetvalue(row, 0, 0)[0] == 't';
    if (row != NULL && !good)
        fprintf(it->command->errors,
                "keyspread: migrate: the old and the new table %s differ: %s rows and %s rows, or "
                "what is in them. "
                "Nothing was switched. Take the migration back (--back) and begin again; did "
                "triggers not fire?\n",
                one->name, PQgetvalue(row, 0, 1), PQgetvalue(row, 0, 2));
    PQclear(row);
    return good;
}

static bool delete_changed(const px_migration *it, const px_migrated *one)
{
    return px_migration_dof(it, it->writer, "delete from %s where " IN_LOG, one->fresh, one->keys,
                            one->keys, one->place);
}

/* The reader does not see what the writer has decoded: it gets a copy of the log. */
static bool lend_log(const px_migration *it, const px_migrated *one)
{
    char out[64], in[64], *keys;
    snprintf(out, sizeof out, "copy keyspread.changes_%d to stdout", one->place);
    snprintf(in, sizeof in, "copy pg_temp.changes_%d from stdin", one->place);
    bool good = px_migration_dof(it, it->reader,
                                 "create temp table changes_%d (like keyspread.changes_%d) on "
                                 "commit drop",
                                 one->place, one->place) &&
                begins_copy(it, it->reader, in, PGRES_COPY_IN);
    if (!good)
        return false;
    bool reads = begins_copy(it, it->writer, out, PGRES_COPY_OUT);
    for (int len; reads && (len = PQgetCopyData(it->writer, &keys, 0)) > 0; PQfreemem(keys))
        good = PQputCopyData(it->reader, keys, len) == 1 && good;
    good = PQputCopyEnd(it->reader, reads ? NULL : "the log could not be read") == 1 && good;
    good = ends_well(it, it->reader, in) && good && reads;
    return (!reads || ends_well(it, it->writer, out)) && good;
}

static bool write_changed(const px_migration *it, const px_migrated *one)
{
    uint64_t rows = 0;
    pgw_buf from = {0};
    pgw_buf_addf(&from, it->decoding ? "%s where " IN_LOG_OF("pg_temp") : "%s where " IN_LOG,
                 one->name, one->keys, one->keys, one->place);
    pgw_buf_add_byte(&from, '\0');
    bool good = (!it->decoding || lend_log(it, one)) && copy_rows(it, one, from.ptr, &rows);
    pgw_buf_free(&from);
    return good;
}

/* Compares the rows of the keys that the log has, and empties it. */
static bool end_log(const px_migration *it, const px_migrated *one, uint64_t *keys)
{
    pgw_buf condition = {0};
    pgw_buf_addf(&condition, IN_LOG, one->keys, one->keys, one->place);
    pgw_buf_add_byte(&condition, '\0');
    bool good = is_same(it, one, one->name, one->fresh, condition.ptr);
    pgw_buf_free(&condition);
    PGresult *deleted =
        !good ? NULL
              : px_migration_askf(it, it->writer,
                                  "with gone as (delete from keyspread.changes_%d returning 1)"
                                  " select count(*) from gone",
                                  one->place);
    *keys += deleted != NULL ? strtoull(PQgetvalue(deleted, 0, 0), NULL, 10) : 0;
    PQclear(deleted);
    return deleted != NULL;
}

/* In the order of the tables, whether the log has keys of one, as column 1; NULL with a message. */
static PGresult *ask_changed(const px_migration *it)
{
    pgw_buf sql = {0};
    for (size_t i = 0; i < it->migrated_count; i++)
        pgw_buf_addf(&sql, "%sselect %zu, exists (select from keyspread.changes_%d)",
                     i == 0 ? "" : " union all ", i, it->migrated[i].place);
    pgw_buf_add(&sql, " order by 1", sizeof " order by 1");
    PGresult *rows = px_migration_ask(it, it->writer, sql.ptr);
    pgw_buf_free(&sql);
    return rows;
}

/* All rows of all tables that have changed go before the first one comes: what is unique stays so.
 */
static bool catch_up(const px_migration *it, px_caught *caught)
{
    double begun = px_migration_now();
    PGresult *changed = px_decoding_read(it, &caught->locked) ? ask_changed(it) : NULL;
    caught->read = px_migration_now() - begun;
    bool good = changed != NULL, any = false;
    for (int i = 0; good && i < PQntuples(changed); i++)
        any |= PQgetvalue(changed, i, 1)[0] == 't';
    good = good &&
           (!any || (share_moment(it) && lock_changed(it, it->writer, changed, &caught->locked) &&
                     lock_changed(it, it->reader, changed, &caught->locked)));
    for (int step = 0; step < 3; step++)
        for (size_t i = 0; good && i < it->migrated_count; i++) {
            const px_migrated *one = &it->migrated[i];
            if (PQgetvalue(changed, (int)i, 1)[0] == 't')
                good = step == 0   ? delete_changed(it, one)
                       : step == 1 ? write_changed(it, one)
                                   : end_log(it, one, &caught->keys);
        }
    PQclear(changed);
    return good;
}

static const char begin[] = "begin isolation level repeatable read";

bool px_rows_catch_up(const px_migration *it, bool open, px_caught *caught)
{
    *caught = (px_caught){0};
    bool good = (open || px_migration_do(it, it->writer, begin)) && catch_up(it, caught);
    if (PQtransactionStatus(it->reader) != PQTRANS_IDLE)
        good = px_migration_do(it, it->reader, "rollback") && good;
    if (good && !open)
        return px_migration_do(it, it->writer, "commit");
    if (!good && PQtransactionStatus(it->writer) != PQTRANS_IDLE)
        PQclear(PQexec(it->writer, "rollback"));
    return good;
}

bool px_rows_catch_up_soon(const px_migration *it)
{
    px_caught caught = {0};
    double last = longest_round;
    for (int round = 0; round < MOST_ROUNDS; round++) {
        double begun = px_migration_now();
        if (!px_rows_catch_up(it, false, &caught))
            return false;
        double took = px_migration_now() - begun - caught.read;
        fprintf(it->command->out, "caught up: %" PRIu64 " changes in %.1f s\n", caught.keys, took);
        fflush(it->command->out);
        if (!px_decoding_confirm(it))
            return false;
        bool stays = took < longest_round && took * 100 > last * PERCENT;
        if (took < short_round || caught.keys <= FEW_KEYS || (stays && round > 0))
            return true;
        last = took;
    }
    fprintf(it->command->errors,
            "keyspread: migrate: writers change rows as fast as they are taken over (%" PRIu64
            " changes in the last round): try again when there are fewer\n",
            caught.keys);
    return false;
}

/* --- all rows --- */

static bool compare_all(const px_migration *it, bool switched)
{
    bool good = true;
    for (size_t i = 0; good && i < it->migrated_count; i++) {
        const px_migrated *one = &it->migrated[i];
        good = is_same(it, one, switched ? one->kept : one->name, switched ? one->name : one->fresh,
                       "true");
    }
    return good;
}

bool px_rows_compare(const px_migration *it, bool switched)
{
    px_caught caught;
    fputs("comparing all rows\n", it->command->out);
    fflush(it->command->out);
    bool good = px_migration_do(it, it->writer, begin) &&
                (switched || px_rows_catch_up(it, true, &caught)) && compare_all(it, switched);
    if (good)
        return px_migration_do(it, it->writer, "commit");
    if (PQtransactionStatus(it->writer) != PQTRANS_IDLE)
        PQclear(PQexec(it->writer, "rollback"));
    return false;
}
