/*
 * tables: the configured tables that the tests of the rewriter, and the fuzz targets, speak of.
 */
#ifndef TEST_TABLES_H
#define TEST_TABLES_H

#include "rewrite/hash/table.h"

#define COLUMN(n, t, m, ...)                                                                       \
    {                                                                                              \
        .name = (n), .type = (t), .typmod = (m), .type_name = "", __VA_ARGS__                      \
    }
#define HASH(n) COLUMN(n, PGW_INT8, -1, .not_null = true)

static rw_column test_event_columns[] = {
    COLUMN("userid", PGW_INT8, -1, .not_null = true, .key_place = 3),
    COLUMN("ts", PGW_TIMESTAMPTZ, -1, .not_null = true, .key_place = 2),
    COLUMN("event", PGW_TEXT, -1, .not_null = false),
    HASH("userhash"),
};
static rw_column test_loose_columns[] = {
    COLUMN("userid", PGW_INT8, -1, .not_null = false),
    COLUMN("ts", PGW_TIMESTAMPTZ, -1, .not_null = false),
    COLUMN("event", PGW_TEXT, -1, .not_null = false),
    HASH("userhash"),
};
static rw_column test_serial_columns[] = {
    HASH("userhash"),
    COLUMN("userid", PGW_INT8, -1, .not_null = true),
    COLUMN("event", PGW_VARCHAR, 14, .not_null = false),
    COLUMN("pk", PGW_INT8, -1, .not_null = true, .has_default = true, .sequence = true),
};
static rw_column test_mixed_columns[] = {
    COLUMN("Text \"Id\"", PGW_TEXT, -1, .not_null = true),
    COLUMN("n", PGW_NUMERIC, -1, .not_null = true),
    COLUMN("sum", PGW_NUMERIC, -1, .generated = true, .has_default = true),
    HASH("H"),
};
static size_t test_first_two[] = {0, 1}, test_swapped[] = {1, 0}, test_with_serial[] = {1, 3};

#define TEST_TABLE(s, n, c, hash, key, hashed, hashed_count, ...)                                  \
    {                                                                                              \
        .schema = (s), .name = (n), .columns = (c), .column_count = sizeof(c) / sizeof *(c),       \
        .primary_key = (key), .primary_key_count = 2, .hash_key = (hashed),                        \
        .hash_key_count = (hashed_count), .hash_column = (hash), .hash_function = RW_XXH3,         \
        .partitions = {.kind = RW_PARTITION_UNIFORM, .count = 16}, .looked_up = true, __VA_ARGS__  \
    }
#define EVENTS(n, ...)                                                                             \
    TEST_TABLE("public", n, test_event_columns, 3, test_first_two, test_first_two, 1, __VA_ARGS__)
#define LOOSE(n)                                                                                   \
    TEST_TABLE("public", n, test_loose_columns, 3, test_first_two, test_first_two, 1,              \
               .mergeable = true)
#define SERIALS(n, hashed, ...)                                                                    \
    TEST_TABLE("public", n, test_serial_columns, 0, test_with_serial, hashed, 1, __VA_ARGS__)

static const rw_table test_tables[] = {
    EVENTS("events", .mergeable = true),
    SERIALS("serials", test_with_serial, .mergeable = true), /* the hash column first */
    SERIALS("ignoring", test_with_serial, .mergeable = true, .ignore_sequences = true),
    /* the serial itself is hashed */
    SERIALS("drawn", test_with_serial + 1, .mergeable = true, .key_name = (char *)"drawn_pkey"),
    /* names that need quotes, two hashed columns in the other order, a generated column, the hash
     * first in its keys */
    TEST_TABLE("Odd", "Mixed \"Case\"", test_mixed_columns, 3, test_first_two, test_swapped, 2,
               .mergeable = true, .schema_written = true, .hash_first = true),
    EVENTS("forwards", .mergeable = true, .forward_uncomputable = true),
    SERIALS("forwarding", test_with_serial, .mergeable = true, .forward_uncomputable = true),
    EVENTS("nullable", .mergeable = true, .allow_null_key = true),
    LOOSE("loose"), /* its key may be NULL at the backend */
    EVENTS("filed", .mergeable = true, .defaults_unknown = true),
    EVENTS("triggered", .changes_rows = true),
    EVENTS("broken", .mergeable = true, .unusable = "its rows have other hashes"),
};
enum { TEST_TABLE_COUNT = sizeof test_tables / sizeof *test_tables };

/* No name without its schema means one of them. */
static const rw_meaning test_others[TEST_TABLE_COUNT] __attribute__((unused)) = {RW_MEANS_OTHERS};

/* Fills `pointers`, which must have TEST_TABLE_COUNT entries and live as long as the catalog. */
static inline rw_catalog test_catalog(const rw_table **pointers)
{
    for (size_t i = 0; i < TEST_TABLE_COUNT; i++)
        pointers[i] = &test_tables[i];
    return (rw_catalog){.tables = pointers, .count = TEST_TABLE_COUNT};
}

/* Gives the table columns of its own, with their numbers and the names of their types, as a server
 * tells them. */
static inline void test_tell_columns(rw_table *table, rw_column *columns)
{
    for (size_t i = 0; i < table->column_count; i++) {
        uint32_t type = table->columns[i].type;
        columns[i] = table->columns[i];
        columns[i].attnum = (int16_t)(i + 1);
        columns[i].type_name = (char *)(type == PGW_TEXT          ? "text"
                                        : type == PGW_VARCHAR     ? "character varying(10)"
                                        : type == PGW_NUMERIC     ? "numeric"
                                        : type == PGW_TIMESTAMPTZ ? "timestamp with time zone"
                                                                  : "bigint");
    }
    table->columns = columns;
}

enum { TEST_MOST_COLUMNS = 4 };
/* Statements that are sent alike whatever tables there are. */
static const char *const test_alone[] __attribute__((unused)) = {
    "create table zz (a int)",
    "CREATE TABLE loose (userid int, ts int, PRIMARY KEY (userid, ts));",
    "create unlogged table if not exists public.loose (userid int, ts int, x numeric(8,2), "
    "y int generated always as identity, primary key (ts, userid)) with (fillfactor = 70)",
    "create temp table events (a text default 'references; like')",
    "create index on events (userid, lower(event)) where event is not null",
    "create index i on public.events using btree (userid)",
    "create trigger t after insert or update of ts on events for each row execute function f()",
    "create constraint trigger t after delete on events for each row execute function f()",
    "create or replace function f(a timestamp with time zone) returns table (userid int)"
    " language plpgsql as $$ begin "
    "insert into events values (1); select * from events; end $$",
    "create procedure p() language sql as 'insert into events values (1); select 1'",
    "create sequence s owned by events.userid",
    "alter sequence s owned by events.userid",
    "alter function f() owner to r",
    "alter table events add x bigint default 0 not null",
    "ALTER TABLE IF EXISTS public.events ADD COLUMN x text, ADD COLUMN y int CHECK (y > 0)",
    "alter table events alter column event set statistics 1000",
    "alter table events alter event set statistics 1000",
    "alter table events owner to r",
    "drop table events, loose cascade",
    "drop index if exists i",
    "drop trigger t on events",
    "drop function f()",
    "comment on table events is 'it; is'",
    "comment on column events.userid is $$ select * from events $$",
    "grant select, insert on events to r",
    "revoke all on events from r",
};
enum { TEST_ALONE_COUNT = sizeof test_alone / sizeof *test_alone };

static const pgw_env test_env = {.utf8 = true, .zone_known = true, .conforming = true};

#endif
