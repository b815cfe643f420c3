/* Constants of a key that TimeZone decides are rendered with their zone, backslashes as E'…'. */
#define _GNU_SOURCE
#include "rewrite/insert/spell.h"
#include "rewrite/insert/parse.h"
#include "rewrite/insert/render.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tables.h"

static const pgw_env west = {
    .utf8 = true, .conforming = true, .zone_known = true, .zone_seconds = -3 * 3600};

enum { COLUMNS = 3, AT = 0, DAY = 1, HASH = 2 };

/* (at timestamptz, day timestamp, hash), with both of the first two hashed, or only the first. */
static rw_table table_of(rw_column *columns, size_t hashed)
{
    static size_t key[] = {AT, DAY};
    columns[AT] = (rw_column){.name = "at", .type = PGW_TIMESTAMPTZ, .typmod = -1, .attnum = 1};
    columns[DAY] = (rw_column){.name = "day", .type = PGW_TIMESTAMP, .typmod = -1, .attnum = 2};
    columns[HASH] = (rw_column){.name = "h", .type = PGW_INT8, .typmod = -1, .attnum = 3};
    return (rw_table){.schema = "public",
                      .name = "m",
                      .columns = columns,
                      .column_count = COLUMNS,
                      .primary_key = key,
                      .primary_key_count = 2,
                      .hash_key = key,
                      .hash_key_count = hashed,
                      .hash_column = HASH,
                      .hash_function = RW_XXH3,
                      .mergeable = true};
}

static rw_insert *parse(const char *text, const rw_table *table, pgw_arena *arena)
{
    const rw_table *const tables[] = {table};
    rw_catalog catalog = {.tables = tables, .count = 1};
    pgw_error error;
    rw_insert *insert;
    if (!rw_insert_parse(pgw_slice_str(text), &catalog, &west, arena, &insert, &error))
        fail_msg("%s: %s", text, error.message);
    return insert;
}

static void expect_row(const rw_insert *insert, size_t row, const char *text)
{
    pgw_buf out = {0};
    rw_render_row(insert, row, 7, false, &out);
    if (!pgw_slice_eq_str(pgw_slice_buf(&out), text))
        fail_msg("%.*s", (int)out.len, out.ptr);
    pgw_buf_free(&out);
}

static const struct {
    const char *row, *spelled;
    size_t hashed;
} rows[] = {
    {"('2026-01-01 12:00', '2026-01-01')", "('2026-01-01 15:00:00+00', '2026-01-01', 7)", 2},
    {"('2026-01-01', '2026-01-01')", "('2026-01-01 03:00:00+00', '2026-01-01', 7)", 1},
    {"('2026-01-01 12:00+01', '2026-01-01')", "('2026-01-01 12:00+01', '2026-01-01', 7)", 2},
    {"('infinity', '2026-01-01+02')", "('infinity', '2026-01-01+02', 7)", 2},
    {"( timestamptz '2026-01-01 12:00' /* ) */ , '2026-01-01')",
     "( '2026-01-01 15:00:00+00' /* ) */ , '2026-01-01', 7)", 2},
    {"(('2026-01-01 12:00'::timestamptz(0)), '2026-01-01')",
     "('2026-01-01 15:00:00+00', '2026-01-01', 7)", 2},
    {"('2026-01-01 12:00'::timestamp, '2026-01-01')", "('2026-01-01 15:00:00+00', '2026-01-01', 7)",
     2},
    {"('2026-01-01 00:00Z', '2026-01-01 12:00:00.5+00'::timestamptz)",
     "('2026-01-01 00:00Z', '2026-01-01 09:00:00.5', 7)", 2},
    {"('2026-01-01 00:00Z', '2026-01-01 12:00+00'::timestamptz)",
     "('2026-01-01 00:00Z', '2026-01-01 12:00+00'::timestamptz, 7)", 1},
    {"(E'0044-03-15 BC', '2026-01-01')", "('0044-03-15 03:00:00+00 BC', '2026-01-01', 7)", 1},
    {"($1, '2026-01-01')", "($1, '2026-01-01', 7)", 2},
    {"(NULL, '2026-01-01')", "(NULL, '2026-01-01', 7)", 2},
};

static void constants_get_their_zone(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        rw_column columns[COLUMNS];
        rw_table table = table_of(columns, rows[i].hashed);
        table.allow_null_key = true;
        pgw_arena arena = {0};
        const char *text =
            pgw_arena_printf(&arena, "INSERT INTO m (at, day) VALUES %s", rows[i].row);
        rw_insert *insert = parse(text, &table, &arena);
        rw_spell_constants(insert, &west, &arena);
        expect_row(insert, 0, rows[i].spelled);
        pgw_arena_free(&arena);
    }
}

/* … and are what they were then, whatever TimeZone is later. */
static void a_prepared_constant_is_read_once(void **state)
{
    (void)state;
    rw_column columns[COLUMNS];
    rw_table table = table_of(columns, 2);
    pgw_arena arena = {0};
    pgw_error error;
    rw_key then, later;
    pgw_env east = west;
    east.zone_seconds = 3600;
    rw_insert *insert =
        parse("INSERT INTO m (at, day) VALUES ('2026-01-01', '2026-01-01 00:00Z'::timestamptz)",
              &table, &arena);
    assert_int_equal(
        rw_insert_key(insert, 0, RW_NO_PARAMS, &(pgw_reading){&west, &arena, &error}, &then),
        PGW_KNOWN);
    rw_spell_constants(insert, &west, &arena);
    assert_int_equal(
        rw_insert_key(insert, 0, RW_NO_PARAMS, &(pgw_reading){&east, &arena, &error}, &later),
        PGW_KNOWN);
    assert_true(then.hash == later.hash);
    pgw_arena_free(&arena);
}

/* Several rows, by keys that were made; an unknown one stays as it is. */
static void rows_are_spelled_by_their_keys(void **state)
{
    (void)state;
    rw_column columns[COLUMNS];
    rw_table table = table_of(columns, 2);
    pgw_arena arena = {0};
    pgw_error error;
    rw_key keys[3];
    rw_insert *insert = parse("INSERT INTO m (day, at) VALUES ('2026-01-01 00:00Z'::timestamptz, "
                              "'2026-01-01'), ('2026-01-01', '2026-01-02'), ('2026-01-01', "
                              "'2026-01-03')",
                              &table, &arena);
    pgw_reading reading = {&west, &arena, &error};
    for (size_t r = 0; r < 3; r++)
        assert_int_equal(rw_insert_key(insert, r, RW_NO_PARAMS, &reading, &keys[r]), PGW_KNOWN);
    keys[1].known[AT] = false;
    for (int twice = 0; twice < 2; twice++)
        rw_spell_keys(insert, keys, &west, &arena);
    assert_int_equal(insert->spelled_count, 3);
    expect_row(insert, 0, "('2025-12-31 21:00:00', '2026-01-01 03:00:00+00', 7)");
    expect_row(insert, 1, "('2026-01-01', '2026-01-02', 7)");
    expect_row(insert, 2, "('2026-01-01', '2026-01-03 03:00:00+00', 7)");
    pgw_arena_free(&arena);
}

/* What the server finds wrong behind such a cell is told where its client wrote it. */
static void positions_are_the_clients(void **state)
{
    (void)state;
    rw_column columns[COLUMNS];
    rw_table table = table_of(columns, 2);
    pgw_arena arena = {0};
    uint64_t hash = 7;
    rw_insert *insert = parse("INSERT INTO m (at, day) VALUES ('2026-01-01', '2026-01-01') "
                              "RETURNING nothing",
                              &table, &arena);
    rw_spell_constants(insert, &west, &arena);
    pgw_buf out = {0};
    rw_render_statement(insert, RW_HASH_CONSTANT, &hash, &out);
    pgw_buf_add_byte(&out, '\0');
    size_t there = (size_t)(strstr(out.ptr, "nothing") - out.ptr) + 1;
    size_t here = (size_t)(strstr(insert->text.ptr, "nothing") - insert->text.ptr) + 1;
    assert_int_equal(rw_render_position(insert, RW_HASH_CONSTANT, &hash, there), here);
    size_t inside = (size_t)(strstr(out.ptr, "03:00:00+00") - out.ptr) + 1;
    size_t cell = (size_t)(strstr(insert->text.ptr, "'2026") - insert->text.ptr) + 1;
    assert_int_equal(rw_render_position(insert, RW_HASH_CONSTANT, &hash, inside), cell);
    pgw_buf_free(&out);
    pgw_arena_free(&arena);
}

/* A parameter of another type than the column is cast when TimeZone may be another. */
static void casts_of_parameters(void **state)
{
    (void)state;
    static const struct {
        const char *cell;
        uint32_t type;
        bool at, day;
    } casts[] = {
        {"$1", PGW_TIMESTAMPTZ, false, true},
        {"$1", PGW_TIMESTAMP, true, false},
        {"$1", PGW_DATE, true, false},
        {"$1", PGW_UNSPECIFIED, true, true},
        {"$1::timestamptz", PGW_TIMESTAMPTZ, false, true},
        {"$1::timestamptz::timestamp", PGW_TIMESTAMPTZ, true, true},
        {"$1::timestamptz", PGW_TEXT, true, true},
        {"$1::date", PGW_TEXT, true, false},
    };
    for (size_t i = 0; i < sizeof casts / sizeof *casts; i++)
        for (size_t column = AT; column <= DAY; column++) {
            rw_column columns[COLUMNS];
            rw_table table = table_of(columns, 2);
            pgw_arena arena = {0};
            const char *form = column == AT
                                   ? "INSERT INTO m (at, day) VALUES (%s, '2026-01-01')"
                                   : "INSERT INTO m (day, at) VALUES (%s, '2026-01-01 00:00Z')";
            rw_insert *insert =
                parse(pgw_arena_printf(&arena, form, casts[i].cell), &table, &arena);
            bool heeds = rw_casts_heed_zone(insert, &casts[i].type);
            if (heeds != (column == AT ? casts[i].at : casts[i].day))
                fail_msg("%s %u %zu: %d", casts[i].cell, casts[i].type, column, heeds);
            pgw_arena_free(&arena);
        }
}

/* Both ways, by `conforming` and by its opposite, the server reads the same. */
static void backslashes_are_escaped(void **state)
{
    (void)state;
    static const struct {
        const char *row, *spelled;
        bool conforming, utf8, settled;
    } cases[] = {
        {"('a\\b', '\\')", "(E'a\\\\b', '\\', 7)", true, true, false},
        {"('a\\b', '\\')", "(E'a\\\\b', '\\', 7)", true, false, false},
        {"('a\\\\b', 'c')", "(E'a\\\\b', 'c', 7)", false, true, false},
        {"('a\\\\b', 'c')", "('a\\\\b', 'c', 7)", false, false, false},
        {"('a\\\\b', 'c')", "('a\\\\b', 'c', 7)", false, true, true},
        {"('a\\b', 'c')", "(E'a\\\\b', 'c', 7)", true, true, true},
        {"('a\\tb', 'c')", "('a\tb', 'c', 7)", false, true, false},
        {"('a\\')', 'c')", "('a'')', 'c', 7)", false, true, false},
        {"(E'\\\\', 'c')", "(E'\\\\', 'c', 7)", true, true, false},
        {"($$\\$$, 'c')", "($$\\$$, 'c', 7)", true, true, false},
        {"('ab', '\\')", "('ab', '\\', 7)", true, true, false},
        {"(('\\'::text), 'c')", "((E'\\\\'::text), 'c', 7)", true, true, false},
        {"(text 'a\\', 'c')", "(text E'a\\\\', 'c', 7)", true, true, false},
        {"($1, '\\')", "($1, '\\', 7)", true, true, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rw_column columns[COLUMNS];
        rw_table table = table_of(columns, 1);
        columns[AT].type = columns[DAY].type = PGW_TEXT;
        const rw_table *const tables[] = {&table};
        const rw_catalog catalog = {.tables = tables, .count = 1};
        const pgw_env env = {
            .utf8 = cases[i].utf8, .conforming = cases[i].conforming, .settled = cases[i].settled};
        pgw_arena arena = {0};
        pgw_error error;
        rw_insert *insert;
        char *text = pgw_arena_printf(&arena, "INSERT INTO m (at, day) VALUES %s", cases[i].row);
        if (!rw_insert_parse(pgw_slice_str(text), &catalog, &env, &arena, &insert, &error))
            fail_msg("%zu: %s", i, error.message);
        rw_spell_constants(insert, &env, &arena);
        expect_row(insert, 0, cases[i].spelled);
        pgw_arena_free(&arena);
    }
}

/* DO UPDATE that sets a column to its cell once more sets it to what the row has: of a column of
 * the hash, and if nothing else is done to the value. */
static void repeated_cells_are_the_rows(void **state)
{
    (void)state;
    static const struct {
        const char *target, *set, *target_sent, *sent;
        size_t hashed;
    } cases[] = {
        {"(at, day)", "at = '2026-01-01 12:00'", "(at, day, \"h\")", "at = excluded.\"at\"", 1},
        {"(at, day)", "(day, at) = ('2026-01-01', (('2026-01-01 12:00'))) RETURNING *",
         "(at, day, \"h\")",
         "(day, at) = ('2026-01-01', ((excluded.\"at\"))) RETURNING \"at\", \"day\"", 2},
        {"ON CONSTRAINT k", "day = '2026-01-01', at = '2026-01-01 12:00' RETURNING *, m",
         "(\"h\", \"at\", \"day\")",
         "day = '2026-01-01', at = excluded.\"at\" RETURNING \"at\", \"day\", (SELECT \"m\" FROM "
         "(SELECT \"m\".\"at\", \"m\".\"day\") AS \"m\")",
         2},
        {"(at, day)", "day = '2026-01-01'::timestamp", "(at, day, \"h\")",
         "day = '2026-01-01'::timestamp", 1},
        {"(day, at)", "at = '2026-01-01 12:00'", "(day, at, \"h\")", "at = '2026-01-01 12:00'", 0},
        {"(day, at)", "at = '2026-01-01 12:00' || '+05'", "(day, at, \"h\")",
         "at = '2026-01-01 12:00' || '+05'", 0},
        {"(day, at)", "(at, day) = ('2026-01-01 12:00' || '+05', '2026-01-01')", "(day, at, \"h\")",
         "(at, day) = ('2026-01-01 12:00' || '+05', '2026-01-01')", 0},
    };
    static size_t day[] = {DAY};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rw_column columns[COLUMNS];
        rw_table table = table_of(columns, cases[i].hashed);
        if (cases[i].hashed == 0) {
            table.hash_key = day;
            table.hash_key_count = 1;
        }
        char key[] = "k";
        table.key_name = key;
        pgw_arena arena = {0};
        const char *form = "INSERT INTO m%s VALUES ('2026-01-01 12:00', '2026-01-01'%s) "
                           "ON CONFLICT %s DO UPDATE SET %s";
        rw_insert *insert = parse(
            pgw_arena_printf(&arena, form, "", "", cases[i].target, cases[i].set), &table, &arena);
        const char *expected = pgw_arena_printf(&arena, form, " (\"at\", \"day\", \"h\")", ", 7",
                                                cases[i].target_sent, cases[i].sent);
        uint64_t hash = 7;
        pgw_buf out = {0};
        rw_render_statement(insert, RW_HASH_CONSTANT, &hash, &out);
        if (!pgw_slice_eq_str(pgw_slice_buf(&out), expected))
            fail_msg("%.*s\n%s", (int)out.len, out.ptr, expected);
        pgw_buf_free(&out);
        pgw_arena_free(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(backslashes_are_escaped),
        cmocka_unit_test(constants_get_their_zone),
        cmocka_unit_test(a_prepared_constant_is_read_once),
        cmocka_unit_test(rows_are_spelled_by_their_keys),
        cmocka_unit_test(positions_are_the_clients),
        cmocka_unit_test(casts_of_parameters),
        cmocka_unit_test(repeated_cells_are_the_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
