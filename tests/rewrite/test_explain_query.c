/* EXPLAIN (proxy) as a statement: what is sent in its place, and what is left as it is. */
#include "rewrite/statement/special/explain_query.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "tests/rewrite/exact.h"
#include "tests/rewrite/tables.h"

static pgw_arena arena;

static rw_script read_script(pgw_slice text)
{
    static const rw_table *pointers[TEST_TABLE_COUNT];
    rw_catalog catalog = test_catalog(pointers);
    rw_script script;
    rw_script_parse(text, &catalog, &test_env, NULL, &arena, &script);
    rw_explain_query(text, &catalog, &test_env, &arena, &script);
    return script;
}

static void lines_are_selected(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "EXPLAIN (proxy) SELECT 1", "explain ( PROXY ) SELECT 1",
        "EXPLAIN (proxy) INSERT INTO events (userid, ts) VALUES (1, now())",
        " EXPLAIN (proxy) UPDATE events SET userid = 'x' ; "};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        static const char head[] = "SELECT pg_catalog.unnest(ARRAY['original: ",
                          tail[] = "]::pg_catalog.text[]) AS \"QUERY PLAN\"";
        rw_script script = read_script(exact(texts[i]));
        assert_int_equal(script.count, 1);
        assert_int_equal(script.statements->star_count, 1);
        assert_true(script.changes && !script.refused);
        assert_int_equal(script.inserts + script.effects, 0);
        pgw_slice put = script.statements->stars->text;
        assert_true(put.len > sizeof head + sizeof tail);
        assert_memory_equal(put.ptr, head, sizeof head - 1);
        assert_memory_equal(put.ptr + put.len - (sizeof tail - 1), tail, sizeof tail - 1);
        assert_int_equal(script.statements->stars->cut,
                         script.statements->end - script.statements->start);
        bool ends = false; /* the line that ends a statement is not shown */
        for (size_t at = 0; at + 5 <= put.len; at++)
            ends = ends || memcmp(put.ptr + at, "'---'", 5) == 0;
        assert_false(ends);
        pgw_arena_free(&arena);
    }
}

static void others_are_left(void **state)
{
    (void)state;
    static const char *const texts[] = {"EXPLAIN SELECT 1",
                                        "EXPLAIN (verbose) SELECT 1",
                                        "EXPLAIN (proxy, verbose) SELECT 1",
                                        "EXPLAIN (proxy)",
                                        "EXPLAIN (proxy) EXPLAIN (proxy) SELECT 1",
                                        "EXPLAIN (proxy) SELECT 1; SELECT 2",
                                        "SELECT 1; EXPLAIN (proxy) SELECT 1",
                                        "SELECT 'EXPLAIN (proxy)'",
                                        "EXPLAIN proxy SELECT 1",
                                        "EXPLAIN (proxy SELECT 1",
                                        "proxy",
                                        ""};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        rw_script script = read_script(exact(texts[i]));
        for (size_t k = 0; k < script.count; k++)
            if (script.statements[k].star_count > 0)
                fail_msg("%s", texts[i]);
        pgw_arena_free(&arena);
    }
}

/* A statement may have so many bytes, and no more. */
static void statements_are_bounded(void **state)
{
    (void)state;
    for (size_t more = 0; more < 2; more++) {
        pgw_buf text = {0};
        pgw_buf_add_str(&text, "EXPLAIN (proxy) SELECT '");
        while (text.len + 1 < RW_EXPLAINED_MAX + more)
            pgw_buf_add_byte(&text, 'x');
        pgw_buf_add_byte(&text, '\'');
        rw_script script = read_script(pgw_slice_buf(&text));
        assert_int_equal(script.count, 1);
        assert_int_equal(script.statements->star_count, more == 0);
        pgw_buf_free(&text);
        pgw_arena_free(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_selected),
        cmocka_unit_test(others_are_left),
        cmocka_unit_test(statements_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
