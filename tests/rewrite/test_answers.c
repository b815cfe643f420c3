/* Keys that are asked for: the question, the statement with the answers in it, and where what
 * PostgreSQL says about either stands in the client's text. */
#include "rewrite/insert/answers.h"
#include "rewrite/insert/parse.h"
#include "rewrite/insert/render.h"
#include "rewrite/insert/typed.h"
#include "tests/rewrite/exact.h"
#include "tests/rewrite/tables.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static rw_column columns[] = {
    COLUMN("v", PGW_TEXT, -1, .not_null = false),
    COLUMN("id", PGW_INT8, -1, .default_text = "nextval('s')", .has_default = true, .always = true,
           .identity = true),
    COLUMN("w", PGW_TEXT, -1, .has_default = true),
    COLUMN("at", PGW_TIMESTAMPTZ, -1, .default_text = "now()", .has_default = true),
    HASH("h"),
};
static size_t key[] = {1, 3};
static const rw_table made =
    TEST_TABLE("public", "made", columns, 4, key, key, 2, .oid = 7, .mergeable = true);
static const rw_table *tables[] = {&made};
static const rw_catalog catalog = {.tables = tables, .count = 1};

static rw_insert *parse(const char *sql, pgw_arena *arena)
{
    rw_insert *insert = NULL;
    pgw_error error = PGW_ERROR_NONE;
    if (!rw_insert_parse(exact(sql), &catalog, &test_env, arena, &insert, &error))
        fail_msg("%s: %s", sql, error.message);
    assert_non_null(insert);
    return insert;
}

static char *text_of(pgw_slice text)
{
    return pgw_strndup(text.ptr, text.len);
}

static void cells_are_filled(void **state)
{
    (void)state;
    static const struct {
        const char *sql, *filled;
    } cases[] = {
        {"INSERT INTO made (v) VALUES ('x')",
         "INSERT INTO made (v, \"id\", \"at\") OVERRIDING SYSTEM VALUE VALUES ('x', $5, $6)"},
        {"INSERT INTO made VALUES ('x'), ('y')", "INSERT INTO made OVERRIDING SYSTEM VALUE VALUES "
                                                 "('x', $5, DEFAULT, $6), ('y', $7, DEFAULT, "
                                                 "$8)"},
        {"INSERT INTO made VALUES ('x', DEFAULT, 'w')",
         "INSERT INTO made OVERRIDING SYSTEM VALUE VALUES ('x', $5, 'w', $6)"},
        {"INSERT INTO made DEFAULT VALUES RETURNING id",
         "INSERT INTO made (\"id\", \"at\") OVERRIDING SYSTEM VALUE VALUES ($5, $6) RETURNING id"},
        {"INSERT INTO made (at, id) OVERRIDING SYSTEM VALUE VALUES (DEFAULT, 1 + 1 /* ) */)",
         "INSERT INTO made (at, id) OVERRIDING SYSTEM VALUE VALUES ($6, $5 /* ) */)"},
        {"INSERT INTO made (at, id) OVERRIDING USER VALUE VALUES (DEFAULT, '7'), (DEFAULT, "
         "DEFAULT)",
         "INSERT INTO made (at, id) OVERRIDING SYSTEM VALUE VALUES ($6, $5), ($8, $7)"},
        {"INSERT INTO made (id, at, v) VALUES (5, '2026-01-01 00:00+00', 'a'), (6, DEFAULT, 'b')",
         "INSERT INTO made (id, at, v) VALUES (5, '2026-01-01 00:00+00', 'a'), (6, $5, 'b')"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pgw_arena arena = {0};
        rw_filled filled;
        rw_fill_parameters(parse(cases[i].sql, &arena), 5, &arena, &filled);
        char *text = text_of(filled.text);
        assert_string_equal(text, cases[i].filled);
        for (size_t at = 0; at < filled.text.len; at++) { /* what is the client's stands there */
            size_t there = rw_filled_offset(&filled, at);
            assert_true(there <= filled.client.len);
        }
        assert_int_equal(rw_filled_offset(&filled, filled.text.len - 1), filled.client.len - 1);
        free(text);
        pgw_arena_free(&arena);
    }
}

static void answers_become_constants(void **state)
{
    (void)state;
    pgw_arena arena = {0};
    rw_filled filled;
    pgw_error error;
    const rw_insert *insert = parse("INSERT INTO made (v, id) VALUES ('x', f(1))", &arena);
    rw_answer answers[] = {{.text = PGW_LITERAL("5")}, {.null = true}};
    assert_true(rw_fill(insert, answers, &arena, &filled, &error));
    char *text = text_of(filled.text);
    assert_string_equal(text, "INSERT INTO made (v, id, \"at\") VALUES ('x', '5', NULL)");
    free(text);
    /* The client's bytes are found again: 'x' and the last ')'. */
    assert_int_equal(rw_filled_position(&filled, 40, true), 34);
    assert_int_equal(rw_filled_position(&filled, 0, true), 0);
    columns[1].type_name = "bigint";
    answers[0].other_type = PGW_LITERAL("json");
    assert_false(rw_fill(insert, answers, &arena, &filled, &error));
    assert_string_equal(error.sqlstate, "42804");
    assert_string_equal(error.message,
                        "column \"id\" is of type bigint but expression is of type json");
    assert_int_equal(error.position, 39);
    pgw_arena_free(&arena);
}

/* Of an error at a byte of the question, -1: at none. */
static size_t position_of(const rw_question *question, ptrdiff_t at)
{
    pgw_error error;
    pgw_fail(&error, "42883", "no such thing");
    error.position = (size_t)(at + 1);
    rw_question_failed(question, &error);
    return error.position;
}

/* A cast that does not exist is ours where it stands before an expression. */
static void casts_are_assignments(void **state)
{
    (void)state;
    static const struct {
        const char *code, *message, *told, *type;
    } cases[] = {
        {"42846", "cannot cast type json to bigint",
         "column \"id\" is of type bigint but expression is of type json", "bigint"},
        {"42846", "cannot cast type box to numeric",
         "column \"id\" is of type numeric but expression is of type box", "numeric(6,2)"},
        {"42846", "cannot cast type box to timestamp without time zone",
         "column \"id\" is of type timestamp without time zone but expression is of type box",
         "timestamp(3) without time zone"},
        {"42846", "der Typ json kann nicht", "der Typ json kann nicht", "bigint"},
        {"42883", "cannot cast type json to bigint", "cannot cast type json to bigint", "bigint"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pgw_arena arena = {0};
        rw_question question;
        columns[1].type_name = (char *)cases[i].type;
        rw_question_of(parse("INSERT INTO made (v, id) VALUES ('x', f())", &arena), false, &arena,
                       &question);
        pgw_error error;
        pgw_fail(&error, cases[i].code, "%s", cases[i].message);
        error.position = 60;
        rw_question_failed(&question, &error);
        assert_string_equal(error.message, cases[i].told);
        assert_int_equal(error.position, i < 3 ? 39 : 0);
        pgw_arena_free(&arena);
    }
}

static void expressions_are_found_in_the_question(void **state)
{
    (void)state;
    pgw_arena arena = {0};
    rw_question question;
    const char *sql = "INSERT INTO made (v, id) VALUES ('ä', nosuch(1)), ('y', wrong(2))";
    rw_question_of(parse(sql, &arena), false, &arena, &question);
    char *text = text_of(question.sql);
    assert_int_equal(question.count, 2);
    assert_non_null(strstr(text, "unnest('{1}'"));
    assert_non_null(strstr(text, "has_any_column_privilege(7::"));
    assert_int_equal(position_of(&question, strstr(text, "wrong") - text),
                     strstr(sql, "wrong") - sql); /* ä is one character of two bytes */
    assert_int_equal(position_of(&question, 0), 0);
    assert_int_equal(position_of(&question, -1), 0);
    assert_int_equal(position_of(&question, (ptrdiff_t)question.sql.len - 1), 0);
    free(text);
    pgw_arena_free(&arena);
}

/* YDB has no catalog that could be asked: the table is the file's. */
static void tables_of_the_file_are_asked_about_in_plain_words(void **state)
{
    (void)state;
    static const struct {
        const char *code, *message, *told_code, *told;
    } cases[] = {
        {"42804", "COALESCE types text and timestamp with time zone cannot be matched", "42804",
         "column \"at\" is of type timestamp with time zone but expression is of type text"},
        {"42846", "cannot cast type box to timestamp with time zone", "42804",
         "column \"at\" is of type timestamp with time zone but expression is of type box"},
        {"42804", "argument of WHERE must be type boolean", "42804",
         "argument of WHERE must be type boolean"},
        {"22012", "division by zero", "22012", "division by zero"},
    };
    pgw_arena arena = {0};
    rw_question question;
    rw_table table = made;
    rw_insert *insert = parse("INSERT INTO made (at, v) VALUES (f(), 'x')", &arena);
    table.columns[3].type_name = "timestamp with time zone";
    insert->table = &table;
    for (size_t i = 0; i < insert->wanted_count; i++)
        if (insert->wanted[i].expression)
            insert->wanted[0] = insert->wanted[i];
    insert->wanted_count = 1;
    rw_question_of(insert, true, &arena, &question);
    assert_true(pgw_slice_eq_str(
        question.sql,
        "select '0'::text, '1184'::text, "
        "cast(cast(coalesce(f()\n, cast(null as timestamptz)) as timestamptz) as text)"));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pgw_error error;
        pgw_fail(&error, cases[i].code, "%s", cases[i].message);
        rw_question_failed(&question, &error);
        assert_string_equal(error.sqlstate, cases[i].told_code);
        assert_string_equal(error.message, cases[i].told);
        bool assigned = strstr(error.message, "but expression is of type") != NULL;
        assert_string_equal(error.hint,
                            assigned ? "You will need to rewrite or cast the expression." : "");
    }
    pgw_arena_free(&arena);
}

/* Each default of theirs is a question of its own: rows of a set might have one value for all. */
static void defaults_of_the_file_are_asked_for_one_by_one(void **state)
{
    (void)state;
    pgw_arena arena = {0};
    rw_question question;
    rw_insert *insert = parse("INSERT INTO made (v) VALUES ('x'), ('y')", &arena);
    rw_question_of(insert, true, &arena, &question);
    char *text = text_of(question.sql);
    char *third = strstr(text, " union all select '2'::text, '20'::text, cast(cast((");
    assert_non_null(third);
    assert_non_null(strstr(third, ") as int8) as text)"));
    assert_null(strstr(text, "pg_catalog.unnest"));
    free(text);
    rw_question_of_several((const rw_insert *const[]){insert, insert}, 2, true, &arena, &question);
    text = text_of(question.sql);
    assert_non_null(strstr(text, " union all select '6'::text, '20'::text, cast(cast(("));
    assert_true(question.plain);
    free(text);
    pgw_arena_free(&arena);
}

/* Their real numbers come as text. */
static void plain_answers_are_as_they_are_told(void **state)
{
    (void)state;
    uint32_t types[] = {PGW_FLOAT8};
    pgw_arena arena = {0};
    const rw_question question = {.types = types, .plain = true};
    rw_answer answer = rw_answer_read(&question, 0, PGW_LITERAL("701"), PGW_LITERAL("0.1"), &arena);
    assert_true(pgw_slice_eq_str(answer.text, "0.1"));
    assert_false(answer.null);
    assert_true(
        rw_answer_read(&question, 0, PGW_LITERAL("701"), (pgw_slice){NULL, 0}, &arena).null);
    pgw_arena_free(&arena);
}

/* A sequence's numbers go where they would without keyspread. */
static void values_are_made_in_the_order_of_the_insert(void **state)
{
    (void)state;
    static const struct {
        const char *sql, *first, *second;
    } cases[] = {
        {"INSERT INTO made (v, at) VALUES ('x', f())", "unnest('{0}'", "select '1'"},
        {"INSERT INTO made (at, id) VALUES (f(), g())", "select '0'", "select '1'"},
        {"INSERT INTO made (v, at) VALUES ('x', f()), ('y', g())", "select '1'", "unnest('{0}'"},
        {"INSERT INTO made (at, id) VALUES (f(), g()), (h(), i())", "select '1'", "select '0'"},
        {"INSERT INTO made (at, id) VALUES (f(), g()), (h(), i())", "select '0'", "select '3'"},
        {"INSERT INTO made (at, id) VALUES (f(), g()), (h(), i())", "select '3'", "select '2'"},
        {"INSERT INTO made (v) VALUES ('x'), ('y')", "unnest('{0,1,2,3}'", "unnest('{1,3,1,3}'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pgw_arena arena = {0};
        rw_question question;
        rw_question_of(parse(cases[i].sql, &arena), false, &arena, &question);
        char *text = text_of(question.sql);
        const char *first = strstr(text, cases[i].first), *second = strstr(text, cases[i].second);
        if (first == NULL || second == NULL || first > second)
            fail_msg("%s: %s", cases[i].sql, text);
        free(text);
        pgw_arena_free(&arena);
    }
}

static void real_numbers_are_read_from_their_bits(void **state)
{
    (void)state;
    static const struct {
        const char *told, *text;
    } cases[] = {{"00000001000002bd000000083fd5555555555555", "0.33333333333333331"},
                 {"00000001000002bd000000088000000000000000", "-0"},
                 {"00000001000002bd000000087ff8000000000000", "NaN"},
                 {"00000001000002bd00000008fff8000000000000", "NaN"},
                 {"00000001000002bd00000008fff0000000000000", "-inf"},
                 {"00000001000002bd000000080000000000000001", "4.9406564584124654e-324"}};
    pgw_arena arena = {0};
    uint32_t types[] = {PGW_FLOAT8, PGW_TEXT};
    rw_question question = {.types = types};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rw_answer answer = rw_answer_read(&question, 0, exact("701"), exact(cases[i].told), &arena);
        assert_false(answer.null);
        assert_true(pgw_slice_eq_str(answer.text, cases[i].text));
        answer = rw_answer_read(&question, 1, exact("701"), exact(cases[i].told), &arena);
        assert_true(pgw_slice_eq_str(answer.text, cases[i].told)); /* text is as it is shown */
    }
    assert_true(
        rw_answer_read(&question, 0, exact("701"), exact("00000001000002bdffffffff"), &arena).null);
    assert_true(rw_answer_read(&question, 1, exact("25"), (pgw_slice){NULL, 0}, &arena).null);
    pgw_arena_free(&arena);
}

static void expressions_of_parameters_keep_their_place(void **state)
{
    (void)state;
    static const struct {
        const char *sql, *rendered;
        bool first, second;
    } cases[] = {
        {"INSERT INTO made (id, v, at) VALUES ($1 + 1 /*)*/, $2, $3 -- )\n)",
         " VALUES (case when true or ($1 + 1\n) is null then $5 end /*)*/, $2, $3 -- )\n, ", true,
         false},
        {"INSERT INTO made (at, id) VALUES ($1, $2 + 1)",
         " VALUES ($1, case when true or ($2 + 1\n) is null then $5 end, ", false, true},
        {"INSERT INTO made (v, id) OVERRIDING USER VALUE VALUES ($1, $2)",
         " VALUES ($1, case when true or ($2\n)::pg_catalog.int8 is null then $5 end, $6, ", false,
         true},
        {"INSERT INTO made (v, id, at) VALUES ($1, 1 + 1, $2)", " VALUES ($1, $5, $2, ", false,
         false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pgw_arena arena = {0};
        rw_filled filled;
        pgw_buf out = {0};
        const rw_insert *asked = parse(cases[i].sql, &arena);
        rw_fill_parameters(asked, 5, &arena, &filled);
        rw_insert *insert =
            parse(pgw_arena_printf(&arena, "%.*s", (int)filled.text.len, filled.text.ptr), &arena);
        rw_keep_expressions(asked, &filled, &arena, insert);
        insert->param_count = 9;
        rw_render_statement(insert, RW_HASH_PARAMETER, NULL, &out);
        pgw_buf_add_byte(&out, '\0');
        if (strstr(out.ptr, cases[i].rendered) == NULL)
            fail_msg("%s", out.ptr);
        const char *kept = strstr(out.ptr, "true or ("), *byte = NULL;
        if (kept != NULL) /* its second byte */
            byte = rw_render_written(insert, RW_HASH_PARAMETER, NULL,
                                     (size_t)(kept - out.ptr) + strlen("true or (") + 2);
        if (byte != (kept != NULL ? asked->text.ptr + asked->wanted[0].from + 1 : NULL))
            fail_msg("%s", byte != NULL ? byte : "nowhere");
        const bool *has = rw_asked_parameters(asked, true, &arena);
        assert_int_equal(has[0], cases[i].first);
        assert_int_equal(has[1], cases[i].second);
        pgw_buf_free(&out);
        pgw_arena_free(&arena);
    }
}

static void what_cannot_be_asked_for_is_refused(void **state)
{
    (void)state;
    static const char *const refused[] = {
        "INSERT INTO made (v, id[1], at) VALUES ('x', 1, now())",
        "UPSERT INTO made (v, id, at) VALUES ('x', 1 + 1, '2026-01-01 00:00+00')"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        pgw_arena arena = {0};
        rw_insert *insert;
        pgw_error error = PGW_ERROR_NONE;
        assert_false(
            rw_insert_parse(exact(refused[i]), &catalog, &test_env, &arena, &insert, &error));
        assert_string_equal(error.sqlstate, "0A000");
        pgw_arena_free(&arena);
    }
}

/* Its text is written for standard_conforming_strings. */
static void a_default_is_asked_for_where_it_means_what_it_says(void **state)
{
    (void)state;
    static const char sql[] = "INSERT INTO made (v, id) OVERRIDING SYSTEM VALUE VALUES ('x', 1)";
    pgw_env other = test_env;
    other.conforming = false;
    for (int i = 0; i < 4; i++) {
        pgw_arena arena = {0};
        rw_insert *insert = NULL;
        pgw_error error = PGW_ERROR_NONE;
        columns[3].default_text = i % 2 == 0 ? "f('\\')" : "now()";
        bool asked = i != 2;
        assert_int_equal(rw_insert_parse(exact(sql), &catalog, i < 2 ? &test_env : &other, &arena,
                                         &insert, &error),
                         asked);
        if (asked)
            assert_int_equal(insert->wanted_count, 1);
        else
            assert_string_equal(error.sqlstate, "0A000");
        pgw_arena_free(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_are_filled),
        cmocka_unit_test(answers_become_constants),
        cmocka_unit_test(casts_are_assignments),
        cmocka_unit_test(expressions_are_found_in_the_question),
        cmocka_unit_test(tables_of_the_file_are_asked_about_in_plain_words),
        cmocka_unit_test(defaults_of_the_file_are_asked_for_one_by_one),
        cmocka_unit_test(plain_answers_are_as_they_are_told),
        cmocka_unit_test(values_are_made_in_the_order_of_the_insert),
        cmocka_unit_test(real_numbers_are_read_from_their_bits),
        cmocka_unit_test(expressions_of_parameters_keep_their_place),
        cmocka_unit_test(what_cannot_be_asked_for_is_refused),
        cmocka_unit_test(a_default_is_asked_for_where_it_means_what_it_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
