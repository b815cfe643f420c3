/* What drivers ask about types, by vectors that PostgreSQL answered; questions that are none, and
 * values in all forms. */
#include "ydb/plain/type_answer.h"
#include "rewrite/statement/script/types.h"
#include "tests/protocol/value_vectors.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "said.h"

static pgw_arena arena;

static const rw_type_question *read(const char *text, rw_known_value values[RW_KNOWN_VALUES])
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
        rw_known_value values[RW_KNOWN_VALUES];
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
        rw_known_value values[RW_KNOWN_VALUES];
        assert_null(read(texts[i], values));
    }
    pgw_arena_free(&arena);
}

#define ALL_BUT(inner, those, end)                                                                 \
    "SELECT ns.nspname, t.oid, t.typname, t.typtype, t.typnotnull, t.elemtypoid FROM "             \
    "(select " inner                                                                               \
    " from pg_type) AS t JOIN pg_namespace AS ns ON (ns.oid = typnamespace) WHERE " those          \
    " ORDER BY CASE WHEN typtype IN ('b', 'p') THEN 0 WHEN typtype = 'a' THEN 5 END" end
#define THOSE "typtype IN ('b', 'r') OR (typtype = 'c') OR (typtype = 'p') OR (typtype = 'a')"

/* With and without brackets; but with no other condition, and nothing behind it. */
static void all_types_are_asked_for_by_their_kinds_alone(void **state)
{
    (void)state;
    static const char *const all[] = {ALL_BUT("*", THOSE, ""), ALL_BUT("x", "(" THOSE ")", "")};
    static const char *const others[] = {
        ALL_BUT("*", THOSE, " LIMIT 1"),
        ALL_BUT("*", THOSE, ", 1"),
        ALL_BUT("*", "t.oid = 20 AND (" THOSE ")", ""),
        ALL_BUT("*", "(" THOSE ") AND t.oid = 20", ""),
        ALL_BUT("*", THOSE " AND t.oid = 20", ""),
        ALL_BUT("*", THOSE " OR t.oid = 20", ""),
        ALL_BUT("*", "t.oid = 20", ""),
        ALL_BUT("*", "typtype IN ('b')", ""),
    };
    rw_known_value values[RW_KNOWN_VALUES];
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        assert_int_equal(read(all[i], values)->search, RW_TYPE_ALL);
    assert_int_equal(read(ALL_BUT("rngmultitypid", THOSE, ""), values)->search, RW_TYPE_ALL_RANGES);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_null(read(others[i], values));
    pgw_arena_free(&arena);
}

static void texts_that_are_too_long_are_none(void **state)
{
    (void)state;
    rw_known_value values[RW_KNOWN_VALUES];
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
    rw_known_value values[RW_KNOWN_VALUES];
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
    rw_known_value values[RW_KNOWN_VALUES];
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

static unsigned wrong;

static void check_type(const vector_line *line)
{
    rw_pg_type found[3];
    assert_true(rw_pg_type_called(line->fields[0], &found[0]));
    assert_true(rw_pg_type_of((uint32_t)vector_number(line->fields[2]), &found[1]));
    assert_true(rw_pg_type_written(line->fields[1], &found[2]));
    for (size_t i = 0; i < sizeof found / sizeof *found; i++) {
        const rw_pg_type *type = &found[i];
        pgw_buf got = {0};
        pgw_buf_addf(&got, "%u %u %u %u %d %c %c %c", type->oid, type->array, type->element,
                     type->subtype, type->length, type->is_array ? 't' : 'f', type->kind,
                     type->delimiter);
        wrong += !vector_same(line, line->fields[2], &got);
        assert_true(pgw_slice_eq_str(line->fields[0], type->name));
        assert_true(pgw_slice_eq_str(line->fields[1], type->shown));
        pgw_buf_free(&got);
    }
}

static void types_are_those_of_postgres(void **state)
{
    (void)state;
    rw_pg_type none;
    assert_int_equal(vector_each(VECTORS "/plain/pg_types.txt", check_type), 185);
    assert_int_equal(wrong, 0);
    assert_false(rw_pg_type_of(0, &none));
    assert_false(rw_pg_type_of(4711, &none));
    assert_false(rw_pg_type_called(PGW_LITERAL("_any"), &none));
    assert_false(rw_pg_type_called(PGW_LITERAL(""), &none));
    assert_false(rw_pg_type_written(PGW_LITERAL("any[]"), &none));
}

static void check_answer(const vector_line *line)
{
    pgw_error error = PGW_ERROR_NONE;
    pgw_buf body = {0}, columns = {0}, rows = {0};
    rw_said said;
    rw_known_value values[RW_KNOWN_VALUES];
    const rw_type_question *question = rw_type_question_read(line->fields[0], &arena, values);
    assert_non_null(question);
    if (rw_type_answer(question, values, &(pgw_reading){&(pgw_env){0}, &arena, &error}, &said)) {
        rw_type_columns(question, &body);
        said_columns(pgw_slice_buf(&body), &columns);
        said_rows(&said, &rows);
        assert_string_equal(said.tag, pgw_arena_printf(&arena, "SELECT %zu", said.rows));
    } else {
        pgw_buf_addf(&rows, "!%s %s", error.sqlstate, error.message);
    }
    wrong += !vector_same(line, line->fields[1], &columns);
    wrong += !vector_same(line, line->fields[2], &rows);
    pgw_buf_free(&body);
    pgw_buf_free(&columns);
    pgw_buf_free(&rows);
    pgw_arena_free(&arena);
}

static void answers_are_those_of_postgres(void **state)
{
    (void)state;
    assert_true(vector_each(VECTORS "/plain/type_answers.txt", check_answer) > 75);
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_are_those_of_postgres),
        cmocka_unit_test(answers_are_those_of_postgres),
        cmocka_unit_test(values_are_constants_and_parameters),
        cmocka_unit_test(other_texts_are_none),
        cmocka_unit_test(all_types_are_asked_for_by_their_kinds_alone),
        cmocka_unit_test(texts_that_are_too_long_are_none),
        cmocka_unit_test(parameters_have_the_types_that_nobody_said),
        cmocka_unit_test(answers_have_their_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
