/* Prepared statements that ask for rows by their hash key: what the backend is sent of them, and
 * when they may not be asked so any more. */
#include "proxy/ingest/lookups.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "protocol/frame.h"
#include "rewrite/hash/hash.h"
#include "rewrite/statement/script/script.h"
#include "tests/proxy/ingest/plans.h"

#define TEXT "SELECT event FROM events WHERE userid = $1 AND ts < $2"
#define REWRITTEN                                                                                  \
    "SELECT event FROM events WHERE \"events\".\"userhash\" = $3 AND userid = $1 AND ts < $2"

static px_lookups *lookups_of(const char *text, const uint32_t *declared, size_t count)
{
    const rw_table *pointers[TEST_TABLE_COUNT];
    rw_catalog catalog = test_catalog(pointers);
    pgw_arena arena = {0};
    pgw_error error;
    rw_script script;
    pgw_slice copy = pgw_arena_copy(&arena, pgw_slice_str(text));
    rw_script_parse(copy, &catalog, &test_env, NULL, &arena, &script);
    px_lookups *lookups =
        px_lookups_new(copy, &script.statements[script.count - 1], &plans.catalog,
                       &(pgw_reading){&test_env, &arena, &error}, (px_declared){declared, count});
    pgw_arena_free(&arena);
    return lookups;
}

static pgw_slice body_of(const pgw_buf *message)
{
    return (pgw_slice){message->ptr + PGW_HEADER, message->len - PGW_HEADER};
}

static void a_parse_declares_the_hashes(void **state)
{
    (void)state;
    static const uint32_t declared[] = {PGW_INT4};
    px_lookups *lookups = lookups_of(TEXT, declared, 1);
    for (int plain = 0; plain < 2; plain++) {
        pgw_buf out = {0};
        pgw_parse parse;
        px_lookups_parse(lookups, pgw_slice_str("s"), plain ? lookups->plain : lookups->rewritten,
                         &out);
        assert_true(pgw_parse_decode(body_of(&out), &parse));
        assert_true(pgw_slice_eq_str(parse.query, plain ? TEXT : REWRITTEN));
        assert_int_equal(parse.type_count, plain ? 1 : 3);
        assert_int_equal(pgw_parse_type(&parse, 0), PGW_INT4);
        assert_int_equal(pgw_parse_type(&parse, 1), PGW_UNSPECIFIED);
        assert_int_equal(pgw_parse_type(&parse, 2), plain ? PGW_UNSPECIFIED : PGW_INT8);
        pgw_buf_free(&out);
    }
    px_lookups_drop(lookups);
}

static void behind_a_change_of_types_the_old_ones_are_declared(void **state)
{
    (void)state;
    static const uint32_t learned[] = {PGW_INT4, PGW_TIMESTAMPTZ};
    px_lookups *lookups = lookups_of(TEXT, NULL, 0);
    assert_false(px_lookups_know_types(lookups));
    px_lookups_learn(lookups, learned);
    assert_true(px_lookups_know_types(lookups));
    for (int retyped = 0; retyped < 2; retyped++) {
        pgw_buf out = {0};
        pgw_parse parse;
        lookups->retyped = retyped;
        px_lookups_parse(lookups, pgw_slice_str("s"), lookups->plain, &out);
        assert_true(pgw_parse_decode(body_of(&out), &parse));
        assert_int_equal(parse.type_count, retyped ? 2 : 0);
        for (size_t i = 0; i < parse.type_count; i++)
            assert_int_equal(pgw_parse_type(&parse, i), learned[i]);
        pgw_buf_free(&out);
    }
    px_lookups_drop(lookups);
}

/* Asks for a row, and returns the last parameter's text; "": the statement has to be plain. */
static const char *bound_with(const px_lookups *lookups, const char *userid, const char *second)
{
    static char last[64];
    pgw_buf values = {0}, out = {0};
    const char *const texts[] = {userid, second};
    const pgw_bind bind = bind_of(texts, 2, &values);
    pgw_bind sent;
    last[0] = '\0';
    if (px_lookups_bind(lookups, &bind, &test_env, &out)) {
        assert_true(pgw_bind_decode(body_of(&out), &sent));
        assert_int_equal(sent.value_count, 2 + lookups->conditions.parameters);
        pgw_reader reader = pgw_reader_of(sent.values);
        pgw_bind_value value = {0};
        for (size_t i = 0; i < sent.value_count; i++)
            value = pgw_bind_next(&reader);
        snprintf(last, sizeof last, "%.*s", (int)value.bytes.len, value.bytes.ptr);
    }
    pgw_buf_free(&values);
    pgw_buf_free(&out);
    return last;
}

static const char *bound(const px_lookups *lookups, const char *userid)
{
    return bound_with(lookups, userid, "2026-01-01");
}

static void a_bind_is_given_the_hash(void **state)
{
    (void)state;
    px_lookups *lookups = lookups_of(TEXT, NULL, 0);
    char expected[32];
    pgw_value five = {.type = PGW_INT8, .as.integer = 5};
    snprintf(expected, sizeof expected, "%lld", (long long)rw_hash_key(&test_tables[0], &five));
    assert_string_equal(bound(lookups, "5"), expected);
    assert_string_equal(bound(lookups, " +5"), expected);
    assert_string_equal(bound(lookups, NULL), "0");
    assert_string_equal(bound(lookups, "five"), "");
    px_lookups_drop(lookups);
}

static void what_is_not_asked_for_by_its_key_has_none(void **state)
{
    (void)state;
    static const uint32_t text[] = {PGW_TEXT};
    assert_null(lookups_of("SELECT event FROM events WHERE ts < $1", NULL, 0));
    assert_null(lookups_of(TEXT, text, 1));
}

/* A constant that TimeZone decides may be another when the server reads it anew. */
static void constants_of_no_known_moment_are_left(void **state)
{
    (void)state;
    static rw_column columns[] = {COLUMN("at", PGW_TIMESTAMPTZ, -1, .not_null = true), HASH("h")};
    static size_t key[] = {0};
    rw_table table = TEST_TABLE("public", "times", columns, 1, key, key, 1);
    table.primary_key_count = 1;
    static const char *const texts[] = {"'2026-01-01 00:00:00'", "'2026-01-01 00:00:00+00'"};
    for (size_t i = 0; i < 2; i++) {
        const rw_table *pointers[] = {&table};
        const rw_catalog catalog = {.tables = pointers, .count = 1};
        pgw_arena arena = {0};
        pgw_error error;
        pgw_buf out = {0};
        rw_script script;
        pgw_buf_addf(&out, "SELECT 1 FROM times WHERE at = %s", texts[i]);
        pgw_slice written = pgw_arena_keep(&arena, &out);
        rw_script_parse(written, &catalog, &test_env, NULL, &arena, &script);
        assert_int_equal(script.statements[0].lookup_count, 1);
        px_lookups *lookups =
            px_lookups_new(written, &script.statements[0], &plans.catalog,
                           &(pgw_reading){&test_env, &arena, &error}, (px_declared){NULL, 0});
        assert_int_equal(lookups != NULL, i == 1);
        px_lookups_drop(lookups);
        pgw_arena_free(&arena);
    }
}

/* Tables as they are known later. */
static void they_hold_while_the_table_hashes_alike(void **state)
{
    (void)state;
    rw_column columns[4];
    memcpy(columns, test_event_columns, sizeof columns);
    rw_table table = test_tables[0];
    table.columns = columns;
    rw_table *pointers[] = {&table};
#define HOLDS(holds, change, back)                                                                 \
    do {                                                                                           \
        px_lookups *lookups = lookups_of(TEXT, NULL, 0);                                           \
        px_catalog now = {.references = 1, .tables = pointers, .count = 1};                        \
        assert_true(px_lookups_hold(lookups, &plans.catalog));                                     \
        change;                                                                                    \
        assert_int_equal(px_lookups_hold(lookups, &now), holds);                                   \
        back;                                                                                      \
        assert_int_equal(now.references, holds ? 2 : 1);                                           \
        px_lookups_drop(lookups);                                                                  \
        assert_int_equal(now.references, 1);                                                       \
    } while (0)
    HOLDS(true, (void)0, (void)0);
    HOLDS(true, columns[2].type = PGW_VARCHAR, columns[2].type = PGW_TEXT);
    HOLDS(false, table.hash_function = RW_PG_HASH, table.hash_function = RW_XXH3);
    HOLDS(false, table.hash_type = RW_HASH_UINT64, table.hash_type = RW_HASH_INT8);
    HOLDS(false, table.hash_key = &test_first_two[1], table.hash_key = test_first_two);
    HOLDS(false, table.hash_key_count = 2, table.hash_key_count = 1);
    HOLDS(false, columns[0].type = PGW_NUMERIC, columns[0].type = PGW_INT8);
    HOLDS(false, columns[3].name = (char *)"other", columns[3].name = (char *)"userhash");
    HOLDS(false, table.changes_rows = true, table.changes_rows = false);
    HOLDS(false, table.looked_up = false, table.looked_up = true);
    HOLDS(false, columns[0].cascaded = true, columns[0].cascaded = false);
    HOLDS(false, columns[0].granted = true, columns[0].granted = false);
    HOLDS(false, table.name = (char *)"another", table.name = (char *)"events");
#undef HOLDS
}

/* An array of keys is given the array of their hashes, and what stands beside it its own, in text.
 */
static void an_array_is_given_the_hashes(void **state)
{
    (void)state;
    px_lookups *lookups =
        lookups_of("SELECT event FROM events WHERE userid = ANY ($1) AND ts < $2", NULL, 0);
    char expected[64];
    long long hashes[2];
    for (int i = 0; i < 2; i++) {
        pgw_value key = {.type = PGW_INT8, .as.integer = 5 + i};
        hashes[i] = (long long)rw_hash_key(&test_tables[0], &key);
    }
    snprintf(expected, sizeof expected, "{%lld,%lld}", hashes[0], hashes[1]);
    assert_string_equal(bound(lookups, "{5, 6}"), expected);
    assert_string_equal(bound(lookups, "{}"), "{}");
    assert_string_equal(bound(lookups, "{five}"), "");
    px_lookups_drop(lookups);
    lookups = lookups_of("SELECT 1 FROM events WHERE userid = ANY ($2) UNION "
                         "SELECT 2 FROM events WHERE userid = $1",
                         NULL, 0);
    snprintf(expected, sizeof expected, "%lld", hashes[0]);
    assert_int_equal(lookups->conditions.parameters, 2);
    assert_string_equal(bound_with(lookups, "5", "{6}"), expected);
    px_lookups_drop(lookups);
}

/* The same table, or another one made by its name, but that its key is of another type: its
 * statements are prepared anew. */
static void they_are_retyped_with_their_tables_key(void **state)
{
    (void)state;
    rw_column columns[4];
    memcpy(columns, test_event_columns, sizeof columns);
    rw_table table = test_tables[0];
    table.columns = columns;
    rw_table *pointers[] = {&table};
    px_catalog now = {.references = 1, .tables = pointers, .count = 1};
    px_lookups *lookups = lookups_of(TEXT, NULL, 0);
#define RETYPED(retyped, change, back)                                                             \
    do {                                                                                           \
        change;                                                                                    \
        assert_int_equal(px_lookups_retyped(lookups, &now), retyped);                              \
        back;                                                                                      \
    } while (0)
    RETYPED(false, (void)0, (void)0);
    RETYPED(true, columns[0].type = PGW_NUMERIC, columns[0].type = PGW_INT8);
    RETYPED(true, columns[0].typmod = 5, columns[0].typmod = -1);
    RETYPED(false, columns[1].type = PGW_INT4, columns[1].type = PGW_TIMESTAMPTZ);
    RETYPED(true, (columns[0].type = PGW_NUMERIC, table.oid++),
            (columns[0].type = PGW_INT8, table.oid--));
    RETYPED(false, table.oid++, table.oid--);
    RETYPED(false, (columns[0].type = PGW_NUMERIC, columns[0].name = (char *)"other"),
            (columns[0].type = PGW_INT8, columns[0].name = (char *)"userid"));
    RETYPED(false, (columns[0].type = PGW_NUMERIC, columns[3].name = (char *)"other"),
            (columns[0].type = PGW_INT8, columns[3].name = (char *)"userhash"));
    RETYPED(false, (columns[0].type = PGW_NUMERIC, table.hash_key_count = 2),
            (columns[0].type = PGW_INT8, table.hash_key_count = 1));
    RETYPED(false, (columns[0].type = PGW_NUMERIC, table.hash_column = 4),
            (columns[0].type = PGW_INT8, table.hash_column = test_tables[0].hash_column));
    RETYPED(false, (columns[0].type = PGW_NUMERIC, table.name = (char *)"another"),
            (columns[0].type = PGW_INT8, table.name = (char *)"events"));
#undef RETYPED
    px_lookups_drop(lookups);
}

static void errors_are_told_in_the_clients_words(void **state)
{
    (void)state;
    px_lookups *lookups = lookups_of("; " TEXT, NULL, 0);
    pgw_error error = {.sqlstate = "42703", .message = "m", .position = 0};
    error.position = strlen("; " REWRITTEN);
    pgw_buf sent = {0}, out = {0};
    pgw_error_write(&error, "ERROR", &sent);
    const rw_sent as = px_lookups_sent(lookups);
    rw_hide_error(body_of(&sent), &as, &out);
    char expected[32];
    snprintf(expected, sizeof expected, "%zu", strlen("; " TEXT));
    assert_true(pgw_slice_eq_str(pgw_error_field(pgw_slice_buf(&out), 'P'), expected));
    pgw_buf_clear(&out);
    static const char context[] =
        "Wunnamed portal with parameters: $1 = '5', $2 = 'x', $3 = '-7'\0";
    rw_hide_error((pgw_slice){context, sizeof context}, &as, &out);
    assert_true(pgw_slice_eq_str(pgw_error_field(pgw_slice_buf(&out), 'W'),
                                 "unnamed portal with parameters: $1 = '5', $2 = 'x'"));
    pgw_buf_free(&sent);
    pgw_buf_free(&out);
    px_lookups_drop(lookups);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_parse_declares_the_hashes),
        cmocka_unit_test(behind_a_change_of_types_the_old_ones_are_declared),
        cmocka_unit_test(a_bind_is_given_the_hash),
        cmocka_unit_test(what_is_not_asked_for_by_its_key_has_none),
        cmocka_unit_test(constants_of_no_known_moment_are_left),
        cmocka_unit_test(they_hold_while_the_table_hashes_alike),
        cmocka_unit_test(an_array_is_given_the_hashes),
        cmocka_unit_test(they_are_retyped_with_their_tables_key),
        cmocka_unit_test(errors_are_told_in_the_clients_words),
    };
    return cmocka_run_group_tests(tests, plans_setup, plans_teardown);
}
