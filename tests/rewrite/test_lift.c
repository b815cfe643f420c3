/* Constants of a lone row that may travel as parameters, and those that may not. */
#include "rewrite/insert/lift.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rewrite/insert/parse.h"
#include "tests/rewrite/exact.h"
#include "tests/rewrite/tables.h"

enum { PGW_INTERVAL = 1186, PGW_JSON = 114, A_DOMAIN = 16400 };

static rw_column columns[] = {
    COLUMN("k", PGW_INT8, -1, .not_null = true),
    COLUMN("i2", PGW_INT2, -1, .not_null = false),
    COLUMN("i4", PGW_INT4, -1, .not_null = false),
    COLUMN("f4", PGW_FLOAT4, -1, .not_null = false),
    COLUMN("f8", PGW_FLOAT8, -1, .not_null = false),
    COLUMN("n", PGW_NUMERIC, (6 << 16 | 2) + 4, .not_null = false),
    COLUMN("t", PGW_TEXT, -1, .not_null = false),
    COLUMN("c", PGW_BPCHAR, 7, .not_null = false),
    COLUMN("v", PGW_VARCHAR, 7, .not_null = false),
    COLUMN("b", PGW_BOOL, -1, .not_null = false),
    COLUMN("y", PGW_BYTEA, -1, .not_null = false),
    COLUMN("d", PGW_DATE, -1, .not_null = false),
    COLUMN("z", PGW_TIMESTAMPTZ, 3, .not_null = false),
    COLUMN("j", PGW_JSON, -1, .not_null = false),
    COLUMN("iv", PGW_INTERVAL, -1, .not_null = false),
    COLUMN("dom", A_DOMAIN, -1, .not_null = false),
    HASH("h"),
};
static size_t key[] = {0};
static const rw_table table = {.oid = 7,
                               .schema = (char *)"public",
                               .name = (char *)"t",
                               .columns = columns,
                               .column_count = sizeof columns / sizeof *columns,
                               .primary_key = key,
                               .primary_key_count = 1,
                               .hash_key = key,
                               .hash_key_count = 1,
                               .hash_column = sizeof columns / sizeof *columns - 1,
                               .mergeable = true};

static rw_insert *parse(const char *sql, pgw_arena *arena)
{
    static const rw_table *const tables[] = {&table};
    const rw_catalog catalog = {.tables = tables, .count = 1};
    pgw_error error;
    rw_insert *insert = NULL;
    assert_true(rw_insert_parse(exact(sql), &catalog, &test_env, arena, &insert, &error));
    assert_non_null(insert);
    return insert;
}

/* The lifted text, and behind it each value behind a bar. */
static void expect(const char *sql, const char *expected)
{
    pgw_arena arena = {0};
    pgw_buf got = {0};
    const rw_insert *insert = parse(sql, &arena);
    if (insert->lifts == NULL) {
        pgw_buf_add_str(&got, "-");
    } else {
        rw_lift_text(insert, &got);
        for (size_t i = 0; i < insert->lift_count; i++) {
            pgw_buf_add_str(&got, insert->lifts[i].null ? "|null" : "|");
            pgw_buf_add_slice(&got, insert->lifts[i].value);
        }
    }
    if (!pgw_slice_eq_str(pgw_slice_buf(&got), expected))
        fail_msg("%s: %.*s", sql, (int)got.len, got.ptr);
    pgw_buf_free(&got);
    pgw_arena_free(&arena);
}

static void all_but_constants_stays_as_it_is(void **state)
{
    (void)state;
    expect("insert into t values (1, 2)", "insert into t values ($1, $2)|1|2");
    expect("INSERT  INTO t(k,t) VALUES(/* a */1 ,'x' ) on conflict do nothing -- b",
           "INSERT  INTO t(k,t) VALUES(/* a */$1 ,$2 ) on conflict do nothing|1|x");
    expect("upsert into t (k, t) values (1, 'x')", "upsert into t (k, t) values ($1, $2)|1|x");
    expect("insert into t (k, i4, t) values (1, default, null)",
           "insert into t (k, i4, t) values ($1, default, $2)|1|null");
    expect("insert into t (t, k) values ($$a'b$$, '7')",
           "insert into t (t, k) values ($1, $2)|a'b|7");
}

static void other_forms_are_not_lifted(void **state)
{
    (void)state;
    expect("insert into t (k) values (1), (2)", "-");
    expect("insert into t (k, h) values (1, 2)", "-");
    expect("insert into t (k, t) values (1, $1)", "-");
    expect("insert into t (k) values (1) on conflict (k) do update set t = $1", "-");
}

/* What is written for a column, and the value that goes in its place; NULL: it must not. */
static void a_value_is_read_as_its_constant_is(void **state)
{
    (void)state;
    static const struct {
        const char *column, *written, *value;
    } cases[] = {
        {"i4", "5", "5"},
        {"i4", "-5", "-5"},
        {"i4", "- 5", "-5"},
        {"i4", "-(5)", "-5"},
        {"i4", "+5", "5"},
        {"i4", "005", "005"},
        {"i4", "'5'", "5"},
        {"i4", "' 5 '", " 5 "},
        {"i4", "'5'::int", "5"},
        {"i4", "cast('5' as integer)", "5"},
        {"i4", "'5'::text", NULL},
        {"i4", "'5'::int8", NULL},
        {"i4", "5::int", NULL},
        {"i4", "5.0", NULL}, /* it is rounded, and '5.0' refused */
        {"i4", "1e1", NULL},
        {"i4", "-0", NULL},
        {"i4", "true", NULL},
        {"i4", "1 + 1", NULL},
        {"i4", "-'5'", NULL},
        {"i4", "b'1'", NULL},
        {"i4", "99999999999999999999999999999999999999999", NULL},
        {"i2", "99999", "99999"}, /* refused in either form */
        {"f8", "5", "5"},
        {"f8", "-5.5", "-5.5"},
        {"f8", ".5", ".5"},
        {"f8", "-0.0", NULL}, /* of numeric, which knows no -0 */
        {"f8", "1e400", NULL},
        {"f8", "'-0'", "-0"},
        {"f4", "5.5", "5.5"},
        {"n", "1.005", "1.005"},
        {"n", "'NaN'", "NaN"},
        {"t", "'a''b'", "a'b"},
        {"t", "E'a\\tb'", "a\tb"},
        {"t", "E'\\xc3\\xa4'", NULL}, /* bytes of the server's encoding */
        {"t", "U&'\\0041'", "A"},
        {"t", "U&'\\00e4'", NULL},
        {"t", "'\xc3\xa4''\xc3\xb6'", "\xc3\xa4'\xc3\xb6"},
        {"t", "N'a'", NULL}, /* of type character */
        {"t", "5", NULL},    /* 005 is stored as 5 */
        {"t", "true", NULL},
        {"c", "'a  '", "a  "},
        {"c", "N'a'", "a"},
        {"c", "'a'::char", NULL}, /* cut to one */
        {"v", "'a'::varchar", "a"},
        {"v", "'a'::varchar(1)", NULL},
        {"b", "true", "true"},
        {"b", "FALSE", "false"},
        {"b", "'t'", "t"},
        {"b", "1", NULL}, /* no boolean, but '1' is */
        {"y", "'\\x00ff'", "\\x00ff"},
        {"y", "'\\x00ff'::bytea", "\\x00ff"},
        {"d", "'2026-01-01'::date", "2026-01-01"},
        {"d", "date 'today'", "today"},
        {"d", "now()", NULL},
        {"d", "null::date", NULL},
        {"d", "null", ""},
        {"z", "'now'", "now"},
        {"z", "'2026-01-01'::timestamptz(0)", NULL},
        {"z", "'2026-01-01'::timestamp", NULL},
        {"j", "'{}'", "{}"},
        {"iv", "'5'", NULL}, /* read with the column's fields */
        {"iv", "null", ""},
        {"dom", "'5'", NULL},
        {"dom", "null", NULL},
        {"nothing", "5", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char sql[200], expected[200];
        bool null = strcmp(cases[i].written, "null") == 0;
        snprintf(sql, sizeof sql, "insert into t (k, %s) values (1, %s)", cases[i].column,
                 cases[i].written);
        snprintf(expected, sizeof expected, "insert into t (k, %s) values ($1, $2)|1|%s%s",
                 cases[i].column, null ? "null" : "", cases[i].value);
        expect(sql, cases[i].value != NULL ? expected : "-");
    }
}

/* Where a type's name may mean one of rows, or a sign somebody's own operator, the text says what
 * is meant. */
static void what_may_mean_another_stays_as_it_is(void **state)
{
    (void)state;
    const size_t i4 = 2, d = 11;
    columns[d].own_names = true;
    expect("insert into t (d) values (date '2026-01-01')", "-");
    columns[d].own_names = false;
    columns[d].own_rows = true;
    expect("insert into t (d) values (date '2026-01-01')", "-");
    expect("insert into t (d) values ('2026-01-01')", "insert into t (d) values ($1)|2026-01-01");
    columns[d].own_rows = false;
    columns[i4].own_signs = true;
    expect("insert into t (i4) values (+5)", "-");
    expect("insert into t (i4) values (-(5))", "insert into t (i4) values ($1)|-5");
    columns[i4].own_signs = false;
}

static void long_values_are_not_worth_it(void **state)
{
    (void)state;
    for (size_t len = 4096; len <= 4097; len++) {
        pgw_arena arena = {0};
        pgw_buf sql = {0};
        pgw_buf_add_str(&sql, "insert into t (k, t) values (1, '");
        for (size_t i = 0; i < len; i++)
            pgw_buf_add_byte(&sql, 'x');
        pgw_buf_add(&sql, "')", 3);
        assert_int_equal(parse(sql.ptr, &arena)->lifts != NULL, len == 4096);
        pgw_buf_free(&sql);
        pgw_arena_free(&arena);
    }
}

static void add_times(pgw_buf *out, const char *text, size_t times)
{
    for (size_t i = 0; i < times; i++)
        pgw_buf_add_str(out, text);
}

/* Millions of columns would take much memory. */
static void no_table_has_so_many_columns(void **state)
{
    (void)state;
    for (size_t more = 1599; more <= 1600; more++) {
        pgw_arena arena = {0};
        pgw_buf sql = {0};
        pgw_buf_add_str(&sql, "insert into t (k");
        add_times(&sql, ",t", more);
        pgw_buf_add_str(&sql, ") values (1");
        add_times(&sql, ",''", more);
        pgw_buf_add(&sql, ")", 2);
        assert_int_equal(parse(sql.ptr, &arena)->lifts != NULL, more == 1599);
        pgw_buf_free(&sql);
        pgw_arena_free(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_but_constants_stays_as_it_is),
        cmocka_unit_test(other_forms_are_not_lifted),
        cmocka_unit_test(a_value_is_read_as_its_constant_is),
        cmocka_unit_test(what_may_mean_another_stays_as_it_is),
        cmocka_unit_test(long_values_are_not_worth_it),
        cmocka_unit_test(no_table_has_so_many_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
