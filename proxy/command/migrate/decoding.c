#include "proxy/command/migrate/decoding.h"

#include <inttypes.h>
#include <stdlib.h>

#include "protocol/reader.h"
#include "proxy/command/migrate/pieces.h"
#include "rewrite/lex/quote.h"

enum {
    FETCHED = 200,       /* Changes that are in memory at once: they have whole rows. */
    SENT = 64 * 1024,    /* Bytes of keys that are written to a log at once. */
    KEEP_UP_SECONDS = 60 /* While rows are copied the slot keeps the WAL of so long. */
};

/* A table as the changes describe it, and its log. */
typedef struct table_log {
    bool described;
    uint32_t relation; /* Changes call the table so. */
    uint16_t columns;  /* Its rows have so many. */
    bool *in_key;      /* Of each of them: whether it is of the key. */
    pgw_buf insert;    /* The INSERT into the log, up to its rows. */
    pgw_buf keys;      /* That INSERT with the keys that are not in the log yet. */
} table_log;

typedef struct reading {
    const px_migration *it;
    table_log *logs;      /* One for each migrated table. */
    const char *snapshot; /* What the writer's transaction sees, as PostgreSQL writes it. */
    uint64_t noted;       /* What was committed before this place in the WAL is in the logs. */
    uint64_t upto;        /* The same when this reading is at its end. */
    bool skipped; /* A transaction was left out, for it is not seen: behind it nothing is noted. */
    bool wanted;  /* The transaction at hand is seen, and not in the logs yet. */
    pgw_arena arena;
} reading;

static bool fail(const reading *to, const char *what)
{
    fprintf(to->it->command->errors,
            "keyspread: migrate: %s: take the migration back (--back), and begin again\n", what);
    return false;
}

/* Whether a snapshot, written as xmin:xmax:running,running, sees a transaction. A commit is in the
 * WAL before it is seen: long before, if it waits for a standby. */
static bool is_seen(const char *snapshot, uint32_t xid)
{
    const char *at = strchr(snapshot, ':');
    uint32_t end = (uint32_t)strtoull(at + 1, NULL, 10);
    bool seen = (int32_t)(xid - end) < 0;
    for (at = strchr(at + 1, ':'); seen && at != NULL && at[1] != '\0'; at = strchr(at + 1, ','))
        seen = (uint32_t)strtoull(at + 1, NULL, 10) != xid;
    return seen;
}

/* --- keys into logs --- */

static bool send_keys(const reading *to, table_log *log)
{
    if (log->keys.len == 0)
        return true;
    pgw_buf_add_byte(&log->keys, '\0');
    bool good = px_migration_do(to->it, to->it->writer, log->keys.ptr);
    pgw_buf_clear(&log->keys);
    return good;
}

/* `key` has a value for each column of the row; without a pointer it is unknown. */
static bool log_key(const reading *to, table_log *log, const pgw_slice *key)
{
    const char *before = " (";
    pgw_buf_add_slice(&log->keys,
                      log->keys.len == 0 ? pgw_slice_buf(&log->insert) : PGW_LITERAL(","));
    for (uint16_t i = 0; i < log->columns; i++) {
        if (!log->in_key[i])
            continue;
        if (key[i].ptr == NULL)
            return fail(to, "a change came without the key of its row, as the table's replica "
                            "identity was changed");
        pgw_buf_add_str(&log->keys, before);
        rw_add_constant(&log->keys, key[i]);
        before = ", ";
    }
    pgw_buf_add_byte(&log->keys, ')');
    return log->keys.len < SENT || send_keys(to, log);
}

/* --- pgoutput's messages --- */

static const char unknown[] = "a change came of a table that is not known";

static table_log *find_log(const reading *to, uint32_t relation)
{
    for (size_t i = 0; i < to->it->migrated_count; i++)
        if (to->logs[i].described && to->logs[i].relation == relation)
            return &to->logs[i];
    return NULL;
}

static void take_begin(reading *to, pgw_reader *in)
{
    uint64_t committed = pgw_read_u64(in);
    pgw_read_u64(in);
    bool seen = is_seen(to->snapshot, pgw_read_u32(in));
    to->skipped |= !seen;
    to->wanted = seen && committed >= to->noted;
}

static void take_commit(reading *to, pgw_reader *in)
{
    pgw_read_bytes(in, 1 + 8);
    uint64_t end = pgw_read_u64(in);
    if (!to->skipped && end > to->upto)
        to->upto = end;
}

static bool is_of_key(const rw_table *table, pgw_slice name)
{
    bool found = false;
    for (size_t i = 0; i < table->primary_key_count; i++)
        found |= pgw_slice_eq_str(name, table->columns[table->primary_key[i]].name);
    return found;
}

/* The columns of a table, of which each reading is told before the first change. */
static bool describe(reading *to, size_t place, uint32_t relation, pgw_reader *in)
{
    table_log *log = &to->logs[place];
    const px_migrated *table = &to->it->migrated[place];
    size_t found = 0;
    pgw_read_u8(in);
    log->described = true;
    log->relation = relation;
    log->columns = pgw_read_u16(in);
    log->in_key = pgw_arena_alloc(&to->arena, log->columns);
    pgw_buf_clear(&log->insert);
    pgw_buf_addf(&log->insert, "insert into keyspread.changes_%d (", table->place);
    for (uint16_t i = 0; i < log->columns; i++) {
        pgw_read_u8(in);
        pgw_slice name = pgw_read_string(in);
        pgw_read_bytes(in, 4 + 4);
        log->in_key[i] = !in->failed && is_of_key(table->table, name);
        if (!log->in_key[i])
            continue;
        pgw_buf_add_str(&log->insert, found++ > 0 ? ", " : "");
        rw_add_identifier(&log->insert, name.ptr);
    }
    pgw_buf_add_str(&log->insert, ") values");
    return found == table->table->primary_key_count ||
           fail(to, "the columns of a key have been changed");
}

static bool take_relation(reading *to, pgw_reader *in)
{
    uint32_t relation = pgw_read_u32(in);
    pgw_slice schema = pgw_read_string(in), name = pgw_read_string(in);
    for (size_t i = 0; i < to->it->migrated_count; i++) {
        const rw_table *table = to->it->migrated[i].table;
        if (pgw_slice_eq_str(schema, table->schema) && pgw_slice_eq_str(name, table->name))
            return describe(to, i, relation, in);
    }
    return fail(to, "a table has got another name");
}

/* A value that was too long for its row, and was not changed, is not told: `key` keeps it. */
static void read_row(const table_log *log, pgw_reader *in, pgw_slice *key)
{
    in->failed |= pgw_read_u16(in) != log->columns;
    for (uint16_t i = 0; i < log->columns && !in->failed; i++)
        if (pgw_read_u8(in) == 't') {
            uint32_t len = pgw_read_u32(in);
            key[i] = pgw_read_bytes(in, len);
        }
}

/* The old row is told if the key was changed, or the replica identity is FULL. */
static bool take_change(reading *to, pgw_reader *in)
{
    table_log *log = find_log(to, pgw_read_u32(in));
    if (log == NULL)
        return fail(to, unknown);
    pgw_slice *key = pgw_calloc(log->columns, sizeof *key);
    bool good = true;
    while (good && !in->failed && in->at < in->end) {
        pgw_read_u8(in);
        read_row(log, in, key);
        good = !in->failed && log_key(to, log, key);
    }
    free(key);
    return good;
}

/* All rows that are copied were there. */
static bool take_truncate(const reading *to, pgw_reader *in)
{
    bool good = true;
    uint32_t count = pgw_read_u32(in);
    pgw_read_u8(in);
    while (good && count-- > 0 && !in->failed) {
        const table_log *log = find_log(to, pgw_read_u32(in));
        if (log == NULL)
            return fail(to, unknown);
        const px_migrated *table = &to->it->migrated[log - to->logs];
        good = px_migration_dof(to->it, to->it->writer,
                                "insert into keyspread.changes_%d select %s from %s", table->place,
                                table->keys, table->fresh);
    }
    return good;
}

static bool take_message(reading *to, pgw_slice message)
{
    pgw_reader in = pgw_reader_of(message);
    uint8_t kind = pgw_read_u8(&in);
    bool good = true;
    if (kind == 'B')
        take_begin(to, &in);
    else if (kind == 'C')
        take_commit(to, &in);
    else if (kind == 'R')
        good = take_relation(to, &in);
    else if (to->wanted && (kind == 'I' || kind == 'U' || kind == 'D'))
        good = take_change(to, &in);
    else if (to->wanted && kind == 'T')
        good = take_truncate(to, &in);
    return good && (!in.failed || fail(to, "a change could not be read"));
}

/* --- the slot --- */

/* The moment of the writer's transaction, and a place in the WAL behind all that it sees. While
 * others wait for the command the WAL is read within the time that it has to wait for a lock. */
static const char ask_moment[] =
    "select pg_current_snapshot(), pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0'),"
    " coalesce(pg_wal_lsn_diff(decoded, '0/0'), 0), slot, set_config('statement_timeout', "
    "current_setting('lock_timeout'), true) from"
    " keyspread.migration";

/* What is decoded is flushed WAL, and a commit that is seen need not be (synchronous_commit = off):
 * the commit of a message, which nobody reads, flushes all before it. */
static const char flush[] = "begin; set local synchronous_commit = local; select"
                            " pg_logical_emit_message(true, 'keyspread', ''); commit";

/* One part of the changes; `more`: there may be another. The first one reads all of the WAL. */
static bool fetch(reading *to, bool *more, bool *locked)
{
    char sql[64];
    snprintf(sql, sizeof sql, "fetch %d from keyspread_changes", FETCHED);
    PGresult *rows = PQexecParams(to->it->writer, sql, 0, NULL, NULL, NULL, NULL, 1);
    bool good = PQresultStatus(rows) == PGRES_TUPLES_OK;
    *locked = !good && px_migration_was_locked(rows);
    if (!good && !*locked)
        px_migration_say(to->it, rows,
                         "changes cannot be read from the replication slot. If it is gone, take "
                         "the migration back (--back), and begin again");
    good = good && px_migration_do(to->it, to->it->writer, "set local statement_timeout = 0");
    for (int i = 0; good && i < PQntuples(rows); i++)
        good =
            take_message(to, (pgw_slice){PQgetvalue(rows, i, 0), (size_t)PQgetlength(rows, i, 0)});
    *more = good && PQntuples(rows) > 0;
    PQclear(rows);
    return good;
}

static bool read_slot(reading *to, const char *slot, bool *locked)
{
    const px_migration *it = to->it;
    bool more = true,
         good = px_migration_dof(
             it, it->writer,
             "declare keyspread_changes no scroll cursor for select data from"
             " pg_logical_slot_peek_binary_changes('%s', null, null, 'proto_version', '1',"
             " 'publication_names', " PX_PUBLICATION ")",
             slot);
    while (good && more)
        good = fetch(to, &more, locked);
    for (size_t i = 0; good && i < it->migrated_count; i++)
        good = send_keys(to, &to->logs[i]);
    return good && px_migration_do(it, it->writer, "close keyspread_changes");
}

static bool note(const reading *to)
{
    return px_migration_dof(to->it, to->it->writer,
                            "update keyspread.migration set decoded = nullif('%" PRIX32 "/%" PRIX32
                            "'::pg_lsn, '0/0')",
                            (uint32_t)(to->upto >> 32), (uint32_t)to->upto);
}

bool px_decoding_read(const px_migration *it, bool *locked)
{
    *locked = false;
    if (!it->decoding)
        return true;
    PGresult *moment = px_migration_ask(it, it->writer, ask_moment);
    if (moment == NULL)
        return false;
    uint64_t now = strtoull(PQgetvalue(moment, 0, 1), NULL, 10);
    reading to = {.it = it,
                  .logs = pgw_calloc(it->migrated_count, sizeof *to.logs),
                  .snapshot = PQgetvalue(moment, 0, 0),
                  .noted = strtoull(PQgetvalue(moment, 0, 2), NULL, 10)};
    to.upto = to.noted;
    bool good =
        px_migration_do(it, it->reader, flush) && read_slot(&to, PQgetvalue(moment, 0, 3), locked);
    if (!to.skipped && now > to.upto)
        to.upto = now;
    good = good && note(&to);
    for (size_t i = 0; i < it->migrated_count; i++) {
        pgw_buf_free(&to.logs[i].insert);
        pgw_buf_free(&to.logs[i].keys);
    }
    free(to.logs);
    pgw_arena_free(&to.arena);
    PQclear(moment);
    return good;
}

bool px_decoding_confirm(const px_migration *it)
{
    return !it->decoding || px_migration_do(it, it->writer,
                                            "select pg_replication_slot_advance(slot, decoded) from"
                                            " keyspread.migration where decoded is not null");
}

bool px_decoding_keep_up(const px_migration *it, double *then)
{
    bool locked;
    if (!it->decoding || (*then > 0 && px_migration_now() - *then < KEEP_UP_SECONDS))
        return true;
    bool good = px_migration_do(it, it->writer, "begin isolation level repeatable read") &&
                px_decoding_read(it, &locked) && px_migration_do(it, it->writer, "commit") &&
                px_decoding_confirm(it);
    *then = px_migration_now();
    return good;
}
