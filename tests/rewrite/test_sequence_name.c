/* nextval('name') in a cell of the key: of which names the backend is asked what they mean. */
#include "rewrite/insert/sequence_name.h"
#include "rewrite/statement/script/script.h"
#include "tests/rewrite/exact.h"
#include "tests/rewrite/tables.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static rw_column columns[] = {
    COLUMN("id", PGW_INT8, -1, .default_text = "nextval('s')", .has_default = true,
           .sequence = true, .identity = true, .draws_from = 16),
    COLUMN("n", PGW_INT8, -1, .default_text = "f()", .has_default = true),
    HASH("h"),
};
static size_t key[] = {0, 1};
static const rw_table made = TEST_TABLE("public", "made", columns, 2, key, key, 2, .oid = 7);
static const rw_table *tables[] = {&made};
static const rw_catalog catalog = {.tables = tables, .count = 1};

/* Of the first wanted cell. */
static void expect_name(const char *overriding, const char *cell, const char *name)
{
    pgw_arena arena = {0};
    rw_script script;
    const char *text =
        pgw_arena_printf(&arena, "INSERT INTO made (id, n) %s VALUES (%s, 1)", overriding, cell);
    rw_script_parse(exact(text), &catalog, &test_env, NULL, &arena, &script);
    const rw_insert *insert = script.statements[0].insert;
    assert_non_null(insert);
    pgw_slice found = insert->wanted_count > 0 ? rw_sequence_name(insert, 0) : pgw_slice_str("");
    if (!pgw_slice_eq_str(found, name))
        fail_msg("%s: %.*s instead of %s", cell, (int)found.len, found.ptr, name);
    pgw_arena_free(&arena);
}

static void names_that_can_be_asked_for(void **state)
{
    (void)state;
    static const char *const cells[][2] = {
        {"nextval('s')", "s"},
        {"NEXTVAL ('S_1$')", "S_1$"},
        {"pg_catalog.nextval('public.s'::regclass)", "public.s"},
        {"nextval(/* it's */ '\"An id\".\"a-b\"')", "\"An id\".\"a-b\""},
        {"nextval('a.b.c')", ""},
        {"nextval('a.')", ""},
        {"nextval('.a')", ""},
        {"nextval('')", ""},
        {"nextval('a ')", ""},
        {"nextval('\"a')", ""},
        {"nextval('\"\"')", ""},
        {"nextval('a\"b\"')", ""},
        {"nextval('16')", ""},
        {"nextval('a''b')", ""},
        {"nextval('\xC3\xA4')", ""},
        {"nextval(E's')", ""},
        {"nextval($$s$$)", ""},
        {"nextval('a' || 'b')", ""},
        {"nextval('s') + 1", ""},
        {"currval('s')", ""},
        {"DEFAULT", ""},
        {"5", ""},
    };
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++)
        expect_name("", cells[i][0], cells[i][1]);
}

static void long_names_are_left_to_the_backend(void **state)
{
    (void)state;
    char cell[256], name[160];
    for (size_t len = 132; len <= 134; len++) {
        memset(name, 'a', len);
        name[len] = '\0';
        snprintf(cell, sizeof cell, "nextval('%s')", name);
        expect_name("", cell, len <= 133 ? name : "");
    }
}

static void what_is_overridden_is_not_drawn(void **state)
{
    (void)state;
    expect_name("OVERRIDING SYSTEM VALUE", "nextval('s')", "s");
    expect_name("OVERRIDING USER VALUE", "nextval('s')", "");
}

static void only_of_a_column_that_draws(void **state)
{
    (void)state;
    pgw_arena arena = {0};
    rw_script script;
    rw_script_parse(exact("INSERT INTO made (id, n) VALUES (1, nextval('s'))"), &catalog, &test_env,
                    NULL, &arena, &script);
    assert_int_equal(script.statements[0].insert->wanted_count, 1);
    assert_int_equal(rw_sequence_name(script.statements[0].insert, 0).len, 0);
    pgw_arena_free(&arena);
}

static void the_question_is_about_one_sequence(void **state)
{
    (void)state;
    pgw_buf sql = {0};
    rw_sequence_question(PGW_LITERAL("public.s"), 4294967295, &sql);
    pgw_buf_add_byte(&sql, '\0');
    assert_non_null(strstr(sql.ptr, "select 'named', case when pg_catalog.to_regclass('public.s')"
                                    "::pg_catalog.oid operator(pg_catalog.=) 4294967295 and"));
    pgw_buf_free(&sql);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_that_can_be_asked_for),
        cmocka_unit_test(long_names_are_left_to_the_backend),
        cmocka_unit_test(what_is_overridden_is_not_drawn),
        cmocka_unit_test(only_of_a_column_that_draws),
        cmocka_unit_test(the_question_is_about_one_sequence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
