/* Questions that are none, and values in all forms; what is answered is held to PostgreSQL's own
 * answers by test_ydb_types.py. */
#include "rewrite/plain/type_answer.h"
#include "rewrite/plain/types.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static pgw_arena arena;

static const rw_type_question *read(const char *text, rw_type_value values[RW_TYPE_VALUES])
{
    return rw_type_question_read(pgw_slice_str(text), &arena, values);
}

#define BY_OID                                                                                     \
    "select T.OID, t.typelem as elemtype, t.typtype as kind\nfrom pg_catalog.pg_type as t "        \
    "where t.oid = "

static void values_are_constants_and_parameters(void **state)
{
    (void)state;
    static const struct {
        const char *text, *value;
        uint32_t parameter;
    } cases[] = {
        {BY_OID "$1", NULL, 1},           {BY_OID "$7::oid", NULL, 7},
        {BY_OID "20", "20", 0},           {BY_OID "'20' -- a comment", "20", 0},
        {BY_OID "('20'::int4)", "20", 0}, {BY_OID "((('20')::\"char\")::int4[])", "20", 0},
        {BY_OID "E'2\\x30'", "20", 0},    {BY_OID "null::oid", NULL, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rw_type_value values[RW_TYPE_VALUES];
        assert_non_null(read(cases[i].text, values));
        assert_int_equal(values[0].parameter, cases[i].parameter);
        assert_int_equal(values[0].text.ptr == NULL, cases[i].value == NULL);
        if (cases[i].value != NULL)
            assert_true(pgw_slice_eq_str(values[0].text, cases[i].value));
    }
    pgw_arena_free(&arena);
}

static void other_texts_are_none(void **state)
{
    (void)state;
    static const char *const texts[] = {"",
                                        "select 1",
                                        "select * from pg_type",
                                        BY_OID,
                                        BY_OID "20 + 1",
                                        BY_OID "20 or true",
                                        BY_OID "(20",
                                        BY_OID "(20))",
                                        BY_OID "x",
                                        BY_OID "'20",
                                        BY_OID "E'\\u'",
                                        BY_OID "$1; select 1",
                                        "select oid from pg_catalog.pg_type as t where t.oid = $1",
                                        "with recursive typeinfo_tree(oid) as (select pg_type"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        rw_type_value values[RW_TYPE_VALUES];
        assert_null(read(texts[i], values));
    }
    pgw_arena_free(&arena);
}

static void texts_that_are_too_long_are_none(void **state)
{
    (void)state;
    rw_type_value values[RW_TYPE_VALUES];
    pgw_buf text = {0};
    pgw_buf_add_str(&text, BY_OID "$1");
    while (text.len < 16 * 1024)
        pgw_buf_add_byte(&text, ' ');
    assert_non_null(rw_type_question_read(pgw_slice_buf(&text), &arena, values));
    pgw_buf_add_byte(&text, ' ');
    assert_null(rw_type_question_read(pgw_slice_buf(&text), &arena, values));
    pgw_buf_free(&text);
    pgw_arena_free(&arena);
}

static void parameters_have_the_types_that_nobody_said(void **state)
{
    (void)state;
    rw_type_value values[RW_TYPE_VALUES];
    const rw_type_question *question = read(BY_OID "$2", values);
    uint32_t types[] = {PGW_UNSPECIFIED, PGW_UNKNOWN}, said[] = {PGW_UNSPECIFIED, PGW_INT4};
    rw_type_parameters(question, values, types, 2);
    assert_int_equal(types[0], PGW_UNSPECIFIED);
    assert_int_equal(types[1], RW_OID);
    rw_type_parameters(question, values, said, 2);
    assert_int_equal(said[1], PGW_INT4);
    rw_type_parameters(question, values, types, 1); /* $2 is none of them */
    pgw_arena_free(&arena);
}

static size_t rows(const char *text, pgw_error *error)
{
    rw_type_value values[RW_TYPE_VALUES];
    rw_said said;
    const rw_type_question *question = read(text, values);
    assert_non_null(question);
    return rw_type_answer(question, values, &(pgw_reading){&(pgw_env){0}, &arena, error}, &said)
               ? said.rows
               : SIZE_MAX;
}

#define TREE(list)                                                                                 \
    "WITH RECURSIVE typeinfo_tree(oid, ns, name, kind, basetype, elemtype, elemdelim, "            \
    "range_subtype, attrtypoids, attrnames, depth) AS (SELECT ti.oid FROM (pg_type) WHERE "        \
    "ti.oid = any(" list ") UNION ALL SELECT 1) SELECT DISTINCT *, basetype::regtype::text AS "    \
    "basetype_name, elemtype::regtype::text AS elemtype_name, range_subtype::regtype::text AS "    \
    "range_subtype_name FROM typeinfo_tree ORDER BY depth DESC"
#define FETCH(name)                                                                                \
    "SELECT typname AS name, oid, typarray AS array_oid, oid::regtype::text AS regtype, typdelim " \
    "AS delimiter FROM pg_type t WHERE t.oid = " name " ORDER BY t.oid"

static void answers_have_their_rows(void **state)
{
    (void)state;
    pgw_error error = PGW_ERROR_NONE;
    assert_int_equal(rows(BY_OID "20", &error), 1);
    assert_int_equal(rows(BY_OID "0", &error), 0);
    assert_int_equal(rows(BY_OID "'4294967316'", &error), 0);
    assert_int_equal(rows(BY_OID "'99999999999999999999999999999999'", &error), 0);
    assert_int_equal(rows(TREE("'{}'"), &error), 0);
    assert_int_equal(rows(TREE("'{1016,1016}'"), &error), 2);
    assert_int_equal(rows(TREE("'{1020}'"), &error), 4);
    assert_int_equal(rows(TREE("'{1016,20,4711}'"), &error), 3);
    assert_int_equal(rows(TREE("'1016'"), &error), SIZE_MAX);
    assert_string_equal(error.sqlstate, "0A000");
    assert_int_equal(rows(FETCH("'int8[]'::regtype"), &error), 1);
    assert_int_equal(rows(FETCH("to_regtype('hstore')"), &error), 0);
    assert_int_equal(rows(FETCH("'hstore'::regtype"), &error), SIZE_MAX);
    assert_string_equal(error.sqlstate, "42704");
    pgw_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_constants_and_parameters),
        cmocka_unit_test(other_texts_are_none),
        cmocka_unit_test(texts_that_are_too_long_are_none),
        cmocka_unit_test(parameters_have_the_types_that_nobody_said),
        cmocka_unit_test(answers_have_their_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
