/* Texts of several statements whose keys are to be asked for: which may be, and with what question.
 */
#include "rewrite/insert/question.h"
#include "rewrite/statement/special/wanting.h"
#include "tests/rewrite/exact.h"
#include "tests/rewrite/tables.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static rw_column columns[] = {
    COLUMN("v", PGW_TEXT, -1, .not_null = false),
    COLUMN("id", PGW_INT8, -1, .default_text = "nextval('s')", .has_default = true,
           .sequence = true, .draws_from = 16),
    HASH("h"),
};
static rw_column looking[] = {
    COLUMN("v", PGW_TEXT, -1, .not_null = false),
    COLUMN("id", PGW_INT4, -1, .default_text = "f()", .has_default = true, .computed = true),
    HASH("h"),
};
static rw_column drawing[] = {
    COLUMN("v", PGW_TEXT, -1, .not_null = false),
    COLUMN("id", PGW_INT4, -1, .default_text = "nextval('t')", .has_default = true,
           .sequence = true, .draws_from = 17),
    HASH("h"),
    COLUMN("n", PGW_INT4, -1, .has_default = true, .sequence = true, .draws_from = 16),
};
static size_t key[] = {1, 0};
static const rw_table made = TEST_TABLE("public", "made", columns, 2, key, key, 1, .oid = 7,
                                        .mergeable = true),
                      looks = TEST_TABLE("public", "looks", looking, 2, key, key, 1, .oid = 8,
                                         .mergeable = true),
                      fires = TEST_TABLE("public", "fires", columns, 2, key, key, 1, .oid = 9),
                      twice = TEST_TABLE("public", "twice", drawing, 2, key, key, 1, .oid = 10,
                                         .mergeable = true),
                      other = TEST_TABLE("public", "other", drawing, 2, key, key, 1, .oid = 11,
                                         .mergeable = true);
static const rw_table *tables[] = {&made, &looks, &fires, &twice, &other};
static const rw_catalog catalog = {.tables = tables, .count = 5};

static rw_script parse(const char *text, pgw_arena *arena)
{
    rw_script script;
    rw_script_parse(exact(text), &catalog, &test_env, NULL, arena, &script);
    return script;
}

static void defaults_are_asked_for_before_all(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t position; /* of the first that is refused; 0: none is */
    } cases[] = {
        {"INSERT INTO made (v) VALUES ('x'); INSERT INTO made DEFAULT VALUES; SELECT 1", 0},
        {"INSERT INTO made VALUES ('x', 1); INSERT INTO made (v) VALUES ('x')", 0},
        {"BEGIN; INSERT INTO made (v) VALUES ('x') RETURNING id; COMMIT; SELECT f()", 0},
        {"START TRANSACTION READ WRITE; INSERT INTO made (v) VALUES ('x')", 0},
        {"INSERT INTO made (v) VALUES ('x'); SELECT lastval()", 0},
        {"SELECT 'ä'; INSERT INTO made (v) VALUES ('x')", 13},
        {"COMMIT; INSERT INTO made (v) VALUES ('x')", 9},
        {"SET TimeZone = 'UTC'; INSERT INTO made (v) VALUES ('x')", 23},
        {"INSERT INTO made (v, id) VALUES (f(), nextval('s')); SELECT currval('s')", 0},
        {"BEGIN; INSERT INTO made (v, id) VALUES ('x', nextval('s')); COMMIT; SELECT f()", 0},
        {"INSERT INTO fires (v) VALUES (lastval()); INSERT INTO fires VALUES ('y', 2)", 0},
        {"INSERT INTO made (v, id) VALUES ('x', nextval('s')); INSERT INTO made (v) VALUES ('y')",
         39},
        {"INSERT INTO made (v, id) VALUES ('x', nextval('s') + 1); SELECT 1", 39},
        {"INSERT INTO made (v) VALUES (lastval()); INSERT INTO made (v) VALUES ('x')", 1},
        {"INSERT INTO made (v) VALUES (f()); INSERT INTO public.made (v) VALUES ('x')", 1},
        {"INSERT INTO made (v, id) VALUES ('x', 1 + 1); INSERT INTO made VALUES ('x', 2)", 39},
        {"INSERT INTO made (v) VALUES ('x'); INSERT INTO made (v) SELECT 'x'", 0},
        {"INSERT INTO made (v) SELECT 'x'; INSERT INTO made (v) VALUES ('x')", 34},
        {"INSERT INTO twice VALUES ('x', 1); INSERT INTO made (v) VALUES ('x')", 36},
        {"INSERT INTO twice VALUES ('x', 1); INSERT INTO other (v) VALUES ('x')", 0},
        {"INSERT INTO looks (v) VALUES ('x'); INSERT INTO made (v) VALUES ('x')", 1},
        {"INSERT INTO looks VALUES ('x', 1); INSERT INTO made (v) VALUES ('x')", 36},
        {"INSERT INTO fires VALUES ('x', 1); INSERT INTO made (v) VALUES ('x')", 36},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pgw_arena arena = {0};
        size_t position = 0;
        rw_script script = parse(cases[i].text, &arena);
        rw_wanting_check(pgw_slice_str(cases[i].text), &script, &arena);
        for (size_t k = script.count; k-- > 0;)
            if (script.statements[k].error != NULL)
                position = script.statements[k].error->position;
        if (position != cases[i].position || script.refused != (position > 0))
            fail_msg("%s: %zu", cases[i].text, position);
        pgw_arena_free(&arena);
    }
}

/* A constant that only the server can read is asked for where its statement stands alone. */
static void constants_are_not_asked_for_among_others(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t wanted[3]; /* of each statement */
    } cases[] = {
        {"INSERT INTO made VALUES ('x', '7'::t)", {1}},
        {"INSERT INTO made VALUES ('x', '7'::t); SELECT 1", {0}},
        {"SELECT 1; INSERT INTO made VALUES ('x', '7'::t)", {0, 0}},
        {"INSERT INTO made VALUES ('x', '7'::t), ('y', DEFAULT); INSERT INTO made VALUES ('z', "
         "'8'::t); INSERT INTO made (v) VALUES ('a')",
         {1, 0, 1}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pgw_arena arena = {0};
        rw_script script = parse(cases[i].text, &arena);
        rw_wanting_check(pgw_slice_str(cases[i].text), &script, &arena);
        assert_false(script.refused);
        for (size_t k = 0; k < script.count; k++)
            if (script.statements[k].insert != NULL)
                assert_int_equal(script.statements[k].insert->wanted_count, cases[i].wanted[k]);
        pgw_arena_free(&arena);
    }
}

static void one_question_is_for_all(void **state)
{
    (void)state;
    pgw_arena arena = {0};
    rw_question question;
    rw_script script = parse("INSERT INTO made (v) VALUES ('x'), ('y'); INSERT INTO looks (v) "
                             "VALUES ('z'); INSERT INTO made (v) VALUES ('a')",
                             &arena);
    const rw_insert *inserts[] = {script.statements[0].insert, script.statements[1].insert,
                                  script.statements[2].insert};
    rw_question_of_several(inserts, 3, false, &arena, &question);
    const char *sql = pgw_strndup(question.sql.ptr, question.sql.len);
    const char *first = strstr(sql, "'{0,1}'"), *second = strstr(sql, "'{2}'");
    assert_non_null(first);
    assert_non_null(second);
    const char *both = strstr(first, " union all ");
    assert_true(both != NULL && both < second);
    assert_int_equal(question.types[1], PGW_INT8);
    assert_int_equal(question.types[2], PGW_INT4);
    assert_non_null(strstr(second, "'{3}'"));
    assert_int_equal(question.types[3], PGW_INT8);
    free((void *)sql);
    pgw_arena_free(&arena);
}

static void what_is_refused_says_why(void **state)
{
    (void)state;
    pgw_arena arena = {0};
    pgw_error error;
    rw_script script = parse("SELECT 1; INSERT INTO made (v) VALUES ('x')", &arena);
    pgw_fail(&error, "2200H", "no more");
    rw_wanting_refuse(&script, 1, &error, &arena);
    pgw_fail(&error, "22000", "another");
    assert_int_equal(script.statements[1].kind, RW_STATEMENT_REFUSED);
    assert_string_equal(script.statements[1].error->message, "no more");
    assert_int_equal(script.inserts, 0);
    assert_true(script.refused);
    pgw_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_asked_for_before_all),
        cmocka_unit_test(constants_are_not_asked_for_among_others),
        cmocka_unit_test(one_question_is_for_all),
        cmocka_unit_test(what_is_refused_says_why),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
