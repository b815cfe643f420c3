/* What makes a statement fail where the table's columns are others than it was made for. */
#define _GNU_SOURCE
#include "rewrite/insert/guard.h"
#include "rewrite/insert/parse.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "exact.h"
#include "tables.h"

static void expect(pgw_buf *out, const char *text)
{
    if (!pgw_slice_eq_str(pgw_slice_buf(out), text))
        fail_msg("%.*s", (int)out->len, out->ptr);
    pgw_buf_clear(out);
}

static void a_hash_is_of_its_columns_type(void **state)
{
    (void)state;
    rw_table table = test_tables[0];
    const rw_insert insert = {.table = &table};
    pgw_buf out = {0};
    rw_guard_hash_behind(&insert, &out);
    expect(&out, " else pg_catalog.concat('" RW_CHANGED "')::bigint end");
    table.hash_type = RW_HASH_UINT64;
    rw_guard_hash_behind(&insert, &out);
    expect(&out, " else pg_catalog.concat('" RW_CHANGED "')::numeric end");
    rw_column own[] = {{.name = "userid", .type = PGW_INT8, .own_casts = RW_OWN_CASTS_ELSEWHERE}};
    table.columns = own;
    table.column_count = 1;
    rw_guard_hash_behind(&insert, &out); /* a cast might make something of it */
    expect(&out, " else pg_catalog.numeric_in(pg_catalog.textout(pg_catalog.concat('" RW_CHANGED
                 "')), 0, -1) end");
    table.hash_type = RW_HASH_INT8;
    rw_guard_hash_behind(&insert, &out);
    expect(&out,
           " else pg_catalog.int8in(pg_catalog.textout(pg_catalog.concat('" RW_CHANGED "'))) end");
    pgw_buf_free(&out);
}

static void rows_are_counted(void **state)
{
    (void)state;
    pgw_buf out = {0};
    rw_guard_before(&out);
    expect(&out, "with keyspread_rows as (");
    rw_guard_behind(7, PGW_LITERAL(" and x"), &out);
    expect(&out, "\nreturning 1) select 1 operator(pg_catalog./) case when (select "
                 "pg_catalog.count(*) from keyspread_rows) operator(pg_catalog.=) 7 and x then 1 "
                 "else 0 end");
    pgw_buf_free(&out);
}

/* Wherever the backend was asked for the columns; the catalog is read only for a list that was made
 * here. */
static void guards_are_for_tables_that_were_asked_for(void **state)
{
    (void)state;
    for (int made = 0; made < 2; made++)
        for (uint32_t oid = 0; oid < 2; oid++) {
            const rw_table table = {.oid = oid};
            const rw_insert insert = {.table = &table, .list_made = made};
            assert_int_equal(rw_guard_wanted(&insert), oid);
            assert_int_equal(rw_guard_reads(&insert), made && oid);
        }
}

/* --- what is asked of the columns --- */

static rw_column columns[] = {
    COLUMN("code", PGW_VARCHAR, 14, .attnum = 1, .not_null = true),
    COLUMN("n", PGW_NUMERIC, 393222, .attnum = 2, .not_null = true),
    COLUMN("i", PGW_INT8, -1, .attnum = 3, .not_null = true),
    HASH("h"),
};
static size_t code[] = {0}, n[] = {1}, i8[] = {2}, all[] = {0, 1}, with_i[] = {0, 2},
              several[] = {2, 1};
static const rw_table by_code = TEST_TABLE("a b", "t", columns, 3, all, code, 1, .oid = 7);
static const rw_table by_n = TEST_TABLE("a b", "t", columns, 3, all, n, 1, .oid = 7);
static const rw_table by_i = TEST_TABLE("a b", "t", columns, 3, with_i, i8, 1, .oid = 7);
static const rw_table by_several =
    TEST_TABLE("a b", "t", columns, 3, several, several, 2, .oid = 7);

#define TYPMOD "atttypmod"
#define LATEST                                                                                     \
    " and (xmax operator(pg_catalog.=) 0 or pg_catalog.currtid2('pg_catalog.pg_attribute', ctid) " \
    "operator(pg_catalog.=) ctid)"
#define NAMES "'{\"code\",\"n\",\"i\",\"h\"}'::pg_catalog.name[]"

static bool holds(const pgw_buf *text, const char *what)
{
    return memmem(text->ptr, text->len, what, strlen(what)) != NULL;
}

static rw_insert *parse(const char *sql, const rw_table *table, pgw_arena *arena)
{
    const rw_table *tables[] = {table};
    const rw_catalog catalog = {.tables = tables, .count = 1};
    rw_insert *insert = NULL;
    pgw_error error;
    if (!rw_insert_parse(exact(sql), &catalog, &test_env, arena, &insert, &error))
        fail_msg("%s: %s", sql, error.message);
    assert_non_null(insert);
    return insert;
}

/* A blank at the end is stored or not as the length decides; nothing else of a varchar is. */
static void lengths_are_asked_for_where_they_may_matter(void **state)
{
    (void)state;
    static const struct {
        const rw_table *table;
        const char *sql;
        bool here, ever; /* by the statement's own hash, by others in its batch */
    } cases[] = {
        {&by_code, "INSERT INTO \"a b\".t (code, n, i) VALUES ('ab', 1, 2)", false, true},
        {&by_code, "INSERT INTO \"a b\".t (code, n, i) VALUES ('', 1, 2)", false, true},
        {&by_code, "INSERT INTO \"a b\".t (code, n, i) VALUES ('ab ', 1, 2)", true, true},
        {&by_code, "INSERT INTO \"a b\".t (code, n, i) VALUES ('ab'::text, 1, 2)", true, true},
        {&by_code, "INSERT INTO \"a b\".t (code, n, i) VALUES ($1, 1, 2)", true, true},
        {&by_code, "INSERT INTO \"a b\".t (code, n, i) VALUES ('a', 1, 2), ('b ', 1, 2)", true,
         true},
        {&by_code, "INSERT INTO \"a b\".t (code, n, i) SELECT 'ab', 1, 2", true, true},
        {&by_n, "INSERT INTO \"a b\".t (code, n, i) VALUES ('ab ', 1, 2)", true, true},
        {&by_i, "INSERT INTO \"a b\".t (code, n, i) VALUES ('ab ', 1, 2)", false, false},
        {&by_several, "INSERT INTO \"a b\".t (code, n, i) VALUES ('ab ', 1, 2)", true, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pgw_arena arena = {0};
        pgw_buf out = {0};
        const rw_insert *insert = parse(cases[i].sql, cases[i].table, &arena);
        rw_guard_hash_before(insert, &out);
        if (holds(&out, TYPMOD) != cases[i].here)
            fail_msg("%s: %.*s", cases[i].sql, (int)out.len, out.ptr);
        assert_int_equal(rw_guard_reads(insert), cases[i].here);
        assert_false(holds(&out, NAMES));
        pgw_buf_clear(&out);
        rw_guard_conditions(insert, &out);
        assert_int_equal(holds(&out, TYPMOD), cases[i].ever);
        pgw_buf_free(&out);
        pgw_arena_free(&arena);
    }
}

/* Where the client named none, all columns must be what they were; so for REPLACE, which empties
 * those that are not named. */
static void lists_that_were_made_are_guarded(void **state)
{
    (void)state;
    static const struct {
        const char *sql;
        bool guarded;
    } cases[] = {{"INSERT INTO \"a b\".t VALUES ('a', 1, 2)", true},
                 {"INSERT INTO \"a b\".t (code, n, i) VALUES ('a', 1, 2)", false},
                 {"UPSERT INTO \"a b\".t (code, n, i) VALUES ('a', 1, 2)", false},
                 {"REPLACE INTO \"a b\".t (code, n, i) VALUES ('a', 1, 2)", true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pgw_arena arena = {0};
        pgw_buf out = {0};
        const rw_insert *insert = parse(cases[i].sql, &by_i, &arena);
        rw_guard_hash_before(insert, &out);
        assert_int_equal(holds(&out, NAMES), cases[i].guarded);
        assert_int_equal(rw_guard_reads(insert), cases[i].guarded);
        pgw_buf_free(&out);
        pgw_arena_free(&arena);
    }
}

static void types_are_asked_for_that_decide(void **state)
{
    (void)state;
    pgw_arena arena = {0};
    pgw_buf out = {0};
    rw_insert *insert =
        parse("INSERT INTO \"a b\".t (code, n, i) VALUES ('a', $1, 2)", &by_i, &arena);
    rw_guard_hash_before(insert, &out);
    assert_true(holds(&out, "(null::\"a b\".\"t\").\"i\")"));
    assert_false(holds(&out, "\"n\")"));
    assert_false(holds(&out, "\"code\")"));
    pgw_buf_clear(&out);
    insert->heeds_types = true; /* a parameter has its type of n */
    rw_guard_hash_before(insert, &out);
    assert_true(holds(&out, "\"i\")"));
    assert_true(holds(&out, "\"n\")"));
    assert_false(holds(&out, "\"code\")"));
    pgw_buf_free(&out);
    pgw_arena_free(&arena);
}

/* Where TimeZone decides what becomes of a parameter, it must be what it was. */
static void a_zone_that_decides_is_asked_for(void **state)
{
    (void)state;
    pgw_arena arena = {0};
    pgw_buf out = {0};
    rw_insert *insert =
        parse("INSERT INTO \"a b\".t (code, n, i) VALUES ('a', 1, 2)", &by_i, &arena);
    rw_guard_hash_before(insert, &out);
    assert_false(holds(&out, "TimeZone"));
    pgw_buf_clear(&out);
    insert->zone = "it's/here";
    rw_guard_hash_before(insert, &out);
    assert_true(holds(&out, "::pg_catalog.oid and pg_catalog.current_setting('TimeZone') "
                            "operator(pg_catalog.=) 'it''s/here' then "));
    pgw_buf_clear(&out);
    insert->list_made = true;
    rw_guard_hash_before(insert, &out);
    assert_true(holds(&out, "'it''s/here' and array(select attname from"));
    pgw_buf_free(&out);
    pgw_arena_free(&arena);
}

/* An ON CONFLICT may update rows. */
static void triggers_are_asked_for(void **state)
{
    (void)state;
    pgw_arena arena = {0};
    pgw_buf out = {0};
    rw_guard_conditions(parse("INSERT INTO \"a b\".t VALUES ('a', 1, 2)", &by_i, &arena), &out);
    assert_true(holds(&out, "pg_trigger where tgrelid operator(pg_catalog.=) 7 and"));
    assert_true(holds(&out, "tgtype operator(pg_catalog.&) 4 operator"));
    pgw_buf_clear(&out);
    rw_guard_conditions(
        parse("INSERT INTO \"a b\".t VALUES ('a', 1, 2) ON CONFLICT DO NOTHING", &by_i, &arena),
        &out);
    assert_true(holds(&out, "tgtype operator(pg_catalog.&) 20 operator"));
    pgw_buf_free(&out);
    pgw_arena_free(&arena);
}

static void a_changed_key_is_guarded(void **state)
{
    (void)state;
    pgw_buf out = {0};
    rw_guard_new_key(&by_n, "HASH", &out);
    expect(&out,
           "case when not exists (select from pg_catalog.pg_trigger where tgrelid "
           "operator(pg_catalog.=) 7 and not tgisinternal and not tginitdeferred and tgenabled "
           "operator(pg_catalog.<>) 'D' and tgtype operator(pg_catalog.&) 20 "
           "operator(pg_catalog.<>) 0) and pg_catalog.pg_typeof((null::\"a b\".\"t\").\"n\") "
           "operator(pg_catalog.=) 1700::pg_catalog.oid and (select atttypmod from "
           "pg_catalog.pg_attribute where attrelid operator(pg_catalog.=) 7 and attnum "
           "operator(pg_catalog.=) 2" LATEST ") operator(pg_catalog.=) 393222 then HASH else "
           "pg_catalog.concat('" RW_CHANGED "')::bigint end");
    rw_guard_new_key(&by_several, "HASH", &out);
    assert_true(holds(&out, TYPMOD));
    pgw_buf_clear(&out);
    rw_guard_new_key(&by_i, "HASH", &out);
    assert_false(holds(&out, TYPMOD));
    pgw_buf_clear(&out);
    rw_guard_new_key(&test_tables[0], "HASH", &out); /* the backend was not asked */
    expect(&out, "HASH");
    pgw_buf_free(&out);
}

/* Where the key is each table's own, the name must mean the table, and its columns must have their
 * names. */
static void another_tables_key_is_guarded(void **state)
{
    (void)state;
    static const char *const asked =
        "'\"a b\".\"t\"'::pg_catalog.regclass operator(pg_catalog.=) 7::pg_catalog.oid and "
        "(select attname from pg_catalog.pg_attribute where attrelid operator(pg_catalog.=) 7 and "
        "attnum operator(pg_catalog.=) 3" LATEST ") operator(pg_catalog.=) 'i'";
    pgw_arena arena = {0};
    pgw_buf out = {0};
    rw_table table = by_i;
    for (int own = 0; own < 2; own++) {
        table.own_key = own;
        const rw_insert *insert =
            parse("INSERT INTO \"a b\".t (code, n, i) VALUES ('a', 1, 2)", &table, &arena);
        rw_guard_hash_before(insert, &out);
        assert_int_equal(holds(&out, asked), own);
        assert_int_equal(rw_guard_reads(insert), own);
        pgw_buf_clear(&out);
        rw_guard_conditions(insert, &out);
        assert_int_equal(holds(&out, asked), own);
        pgw_buf_clear(&out);
        rw_guard_new_key(&table, "HASH", &out);
        assert_int_equal(holds(&out, asked), own);
        pgw_buf_clear(&out);
    }
    pgw_buf_free(&out);
    pgw_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hash_is_of_its_columns_type),
        cmocka_unit_test(rows_are_counted),
        cmocka_unit_test(guards_are_for_tables_that_were_asked_for),
        cmocka_unit_test(lengths_are_asked_for_where_they_may_matter),
        cmocka_unit_test(lists_that_were_made_are_guarded),
        cmocka_unit_test(types_are_asked_for_that_decide),
        cmocka_unit_test(a_zone_that_decides_is_asked_for),
        cmocka_unit_test(triggers_are_asked_for),
        cmocka_unit_test(a_changed_key_is_guarded),
        cmocka_unit_test(another_tables_key_is_guarded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
