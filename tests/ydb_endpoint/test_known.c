/* Trees of known statements with the constants of another: the same as those of its own parse. */
#include "tests/ydb_endpoint/compile.h"

#include "rewrite/statement/tree/walk.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static ye_known known;

static bool compile(const char *text, ye_known *with, ye_compiled *compiled)
{
    static const ye_options options = {0};
    static ye_settings settings;
    ye_failure failure = {0};
    return ye_compile(pgw_slice_str(text), &options, &settings, with, compiled, &failure);
}

/* Each node's kind, and what constants and names say; not where they stand. */
static bool write_node(void *context, const ProtobufCMessage *node)
{
    pgw_buf *out = context;
    pgw_buf_addf(out, "%s ", node->descriptor->short_name);
    if (node->descriptor == &pg_query__integer__descriptor)
        pgw_buf_addf(out, "%d ", ((const PgQuery__Integer *)node)->ival);
    if (node->descriptor == &pg_query__float__descriptor)
        pgw_buf_addf(out, "%s ", ((const PgQuery__Float *)node)->fval);
    if (node->descriptor == &pg_query__string__descriptor)
        pgw_buf_addf(out, "'%s' ", ((const PgQuery__String *)node)->sval);
    if (node->descriptor == &pg_query__range_var__descriptor)
        pgw_buf_addf(out, "%s ", ((const PgQuery__RangeVar *)node)->relname);
    return rw_walk(node, write_node, out);
}

static char *written(const ye_compiled *compiled)
{
    pgw_buf out = {0};
    (void)!write_node(&out, &compiled->parsed->base);
    pgw_buf_add_byte(&out, '\0');
    return out.ptr;
}

static void expect_its_own_tree(const char *text)
{
    ye_compiled mine, its;
    assert_true(compile(text, &known, &mine));
    assert_true(compile(text, NULL, &its));
    char *got = written(&mine), *wanted = written(&its);
    assert_string_equal(got, wanted);
    free(got);
    free(wanted);
    ye_compiled_free(&mine);
    ye_compiled_free(&its);
}

static bool knows(const char *text)
{
    return ye_known_find(&known, pgw_slice_str(text)) != NULL;
}

static int forget(void **state)
{
    (void)state;
    ye_known_free(&known);
    return 0;
}

static void a_known_tree_takes_the_values_of_another_text(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {"insert into t (h, v) values (1, 'a')",
         "insert into t (h, v) values (2147483647, 'b''c')"},
        {"insert into t values (12345678901, 0.5)", "insert into t values (99999999999, 12e7)"},
        {"insert into t values (-5, -1.5, - 7)",
         "insert into t values (-6, -9223372036854775808, - 8)"},
        {"insert into t values (1, 'x'), (2, 'y')", "insert into t values (0, ''), (3, 'longer')"},
        {"insert into t values ('1'::int8, date '2026-01-01')",
         "insert into t values ('22'::int8, date '2027-02-03')"},
        {"insert into t values (1 + 2 * -3, null, true)",
         "insert into t values (4 + 5 * -6, null, true)"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        assert_false(knows(pairs[i][0]));
        expect_its_own_tree(pairs[i][0]);
        assert_true(knows(pairs[i][1]));
        expect_its_own_tree(pairs[i][1]);
        expect_its_own_tree(pairs[i][0]);
    }
}

/* What is another statement, or not certainly the same but for values, is parsed. */
static void others_are_not_known(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {"insert into t values (1)", "insert into u values (1)"},
        {"insert into t values (1)", "insert into t values (3000000000)"},
        {"insert into t values (1)", "insert into t values ('1')"},
        {"insert into t values (1)", "insert into t values (-1)"},
        {"insert into t values (1)", "insert into t values (null)"},
        {"insert into t values ($1)", "insert into t values ($2)"},
        {"insert into t values (E'a')", "insert into t values (E'b')"},
        {"insert into t values ('a'::varchar(3))", "insert into t values ('a'::varchar(4))"},
        {"select 1", "select 2"},
        {"update t set v = 1 where h = 2", "update t set v = 2 where h = 2"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        expect_its_own_tree(pairs[i][0]);
        assert_false(knows(pairs[i][1]));
        expect_its_own_tree(pairs[i][1]);
    }
}

static void what_is_refused_is_refused_each_time(void **state)
{
    (void)state;
    ye_compiled compiled;
    for (int i = 0; i < 3; i++) {
        assert_false(compile("insert into t values (1) on conflict do nothing", &known, &compiled));
        ye_compiled_free(&compiled);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_teardown(name, forget)
    const struct CMUnitTest tests[] = {TEST(a_known_tree_takes_the_values_of_another_text),
                                       TEST(others_are_not_known),
                                       TEST(what_is_refused_is_refused_each_time)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
