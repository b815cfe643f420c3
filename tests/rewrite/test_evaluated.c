/* What an INSERT itself evaluates: what may be the database's own code, and what cannot. */
#include "rewrite/statement/special/evaluated.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rewrite/insert/parse.h"
#include "tests/rewrite/exact.h"
#include "tests/rewrite/tables.h"

static size_t key[] = {0};

/* Its effects, of RUNS, READS and WRITES, where PostgreSQL's own names may be others', too. */
static unsigned effects_of(const char *sql, rw_table table, rw_column last, bool overloads)
{
    rw_column columns[] = {COLUMN("k", PGW_INT8, -1, .not_null = true),
                           COLUMN("v", PGW_TEXT, -1, .not_null = false), last, HASH("h")};
    table.schema = (char *)"public";
    table.name = (char *)"t";
    table.columns = columns;
    table.column_count = sizeof columns / sizeof *columns;
    table.primary_key = table.hash_key = key;
    table.primary_key_count = table.hash_key_count = 1;
    table.hash_column = table.column_count - 1;
    table.overloads = overloads;
    const rw_table *const tables[] = {&table};
    const rw_catalog catalog = {.tables = tables, .count = 1};
    pgw_arena arena = {0};
    pgw_error error;
    rw_statement statement = {.effects = RW_EFFECT_RUNS | RW_EFFECT_WRITES};
    if (!rw_insert_parse(exact(sql), &catalog, &test_env, &arena, &statement.insert, &error))
        fail_msg("%s: %s", sql, error.message);
    assert_non_null(statement.insert);
    unsigned effects = rw_insert_effects(&statement, true);
    pgw_arena_free(&arena);
    return effects;
}

static const rw_column plain = COLUMN("w", PGW_INT4, -1, .not_null = false);

static unsigned plainly(const char *sql, bool overloads)
{
    return effects_of(sql, (rw_table){.mergeable = true}, plain, overloads);
}

static void nothing_runs(void **state)
{
    static const char *const texts[] = {
        "insert into t values (1, 'a')",
        "insert into t values ($1, $2), (-2, +1.5), (DEFAULT, null)",
        "insert into t values (1, now(), current_timestamp) returning k, v AS w, *",
        "insert into t values (1, pg_catalog.now()) returning t.k, t.*, \"t\".\"k\", t.V",
        "insert into t values (1, '2020-01-01'::timestamp with time zone::DATE)",
        "insert into t values (1, cast('1' as numeric(10, 2)), array[$3::int8[]])",
        "insert into t values (1, 'x'::pg_catalog.int4, date '2020-01-01')",
        "insert into t values (1, coalesce($2, row(B'01'), gen_random_uuid()))",
        "insert into t as i values (1) on conflict (k) do nothing",
        "insert into t values (1) on conflict (k) do update set v = excluded.v, w = 1",
        "insert into t values (1) on conflict (k) do update set (v, w) = (excluded.v, 2)",
        "insert into t values (1, nextval('s')), (2, 'select') returning -1",
        "insert into t values (1) on conflict (k) do update set v = array[1], w = 2",
        "insert into t values (1, '2020-01-01'::TIMESTAMPTZ)",
        "upsert into t (k, v) values (1, '!!!')",
    };
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (plainly(texts[i], true) != 0)
            fail_msg("%s", texts[i]);
}

static void what_postgresql_brings(void **state)
{
    static const char *const texts[] = {
        "insert into t values (1, lower('A'))",
        "insert into t values (1, pg_catalog.lower('A'))",
        "insert into t values (1, 'a' || 'b')",
        "insert into t values (1, - $1)",
        "insert into t values (1, '{}'::json)",
        "insert into t values (1, money '1')",
        "insert into t values (1, cast($1 as Box))",
        "insert into t values (1, 1 -1)",
        "insert into t values (1, '2020-01-01'::timestamp at time zone 'UTC')",
        "insert into t values (1, $1 like 'a%')",
        "insert into t values (1, $1 in (1, 2))",
        "insert into t values (1, int4(1.5))",
        "insert into t values (1) on conflict (k) do update set v = 'a' where t.w = 1",
        "insert into t values (1) on conflict (k) do update set w = t.w = 1",
        "insert into t values (1) on conflict (k) do update set v = 'a' returning k, w = 1",
        "insert into t values (1) on conflict (k) do update set v = (1 = 1)",
        "insert into t values (1) on conflict (k) do update set v = array[1, 2] = w",
        "insert into t values (1) returning k label",
        "insert into t values (1) returning k * 2",
    };
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (plainly(texts[i], false) != 0)
            fail_msg("%s", texts[i]);
        if (plainly(texts[i], true) != RW_EFFECT_READS)
            fail_msg("%s runs nothing", texts[i]);
    }
}

static void what_the_database_has(void **state)
{
    static const char *const texts[] = {
        "insert into t values (1, f())",
        "insert into t values (1, now(), \"now\"())",
        "insert into t values (1, public.now())",
        "insert into t values (1, (select 1))",
        "insert into t values (1, (select 'a' from v))",
        "insert into t values (1, (select (1) from v))",
        "insert into t values (1, (table v))",
        "insert into t (k, v[(select 1 from v)]) values (1, 'a')",
        "insert into t values (1, 'a'::own)",
        "insert into t values (1, 'a'::public.text)",
        "insert into t values (1, 'a'::public.k)",
        "insert into t values (1, 'a'::\"int4\")",
        "insert into t values (1, cast('a' as own))",
        "insert into t values (1, own 'a')",
        "insert into t values (1, \"own\" 'a')",
        "insert into t values (1) returning t.f",
        "insert into t values (1) returning (t).f",
        "insert into t values (1) returning t.k::own",
        "insert into t values (1) on conflict (k) do update set v = excluded.f",
        "insert into t values (1) on conflict (k) do update set v = (select 1)",
        "insert into t values (1) on conflict (k) do update set v = 'a' where exists (table v)",
        "insert into t values (1) on conflict (k) do update set v = 'a' returning f(1)",
    };
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (plainly(texts[i], false) != RW_EFFECT_READS)
            fail_msg("%s runs nothing", texts[i]);
}

static void what_the_table_has(void **state)
{
    static const char *const insert = "insert into t (k) values (1)";
    static const char *const update =
        "insert into t values (1) on conflict (k) do update set v = 'a'";
    const rw_table updated = {.mergeable = true, .heeds_updates = true};
    const rw_table deferred = {.mergeable = true, .defers_updates = true};
    const rw_column made = COLUMN("w", PGW_INT4, -1, .has_default = true);
    const rw_column drawn = COLUMN("w", PGW_INT4, -1, .has_default = true, .sequence = true);
    const rw_column own = COLUMN("w", PGW_INT4, -1, .own_casts = RW_OWN_CASTS_INTO);
    const rw_column named = COLUMN("w", PGW_INT4, -1, .own_names = true);
    const rw_column rows = COLUMN("w", PGW_INT4, -1, .own_rows = true);
    (void)state;
    assert_int_equal(effects_of(insert, (rw_table){0}, plain, false),
                     RW_EFFECT_RUNS | RW_EFFECT_WRITES);
    assert_int_equal(effects_of(insert, updated, plain, false), 0);
    assert_int_equal(effects_of(update, updated, plain, false), RW_EFFECT_RUNS);
    assert_int_equal(effects_of(update, deferred, plain, false), RW_EFFECT_RUNS);
    const rw_table mergeable = {.mergeable = true};
    assert_int_equal(effects_of(insert, mergeable, made, false), RW_EFFECT_RUNS);
    assert_int_equal(effects_of(insert, mergeable, drawn, false), RW_EFFECT_WRITES);
    assert_int_equal(effects_of(insert, mergeable, own, false), RW_EFFECT_READS);
    assert_int_equal(effects_of(insert, mergeable, named, false), 0);
    assert_int_equal(effects_of("insert into t values (1::int8)", mergeable, named, false),
                     RW_EFFECT_READS);
    assert_int_equal(
        effects_of("insert into t values (1, date '2020-01-01')", mergeable, named, false),
        RW_EFFECT_READS);
    assert_int_equal(effects_of(insert, mergeable, rows, false), 0);
    assert_int_equal(effects_of("insert into t values (1::int8)", mergeable, rows, false),
                     RW_EFFECT_READS);
}

static void a_query_may_do_more(void **state)
{
    (void)state;
    assert_int_equal(plainly("insert into t (k) select 1", false), RW_EFFECT_RUNS);
    assert_int_equal(plainly("insert into t (k) values (1) union values (2)", false),
                     RW_EFFECT_RUNS);
    const rw_statement other = {.effects = RW_EFFECT_DDL | RW_EFFECT_RUNS};
    assert_int_equal(rw_insert_effects(&other, true), RW_EFFECT_DDL | RW_EFFECT_RUNS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_runs),          cmocka_unit_test(what_postgresql_brings),
        cmocka_unit_test(what_the_database_has), cmocka_unit_test(what_the_table_has),
        cmocka_unit_test(a_query_may_do_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
