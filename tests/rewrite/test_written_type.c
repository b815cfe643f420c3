/* Types, expressions and statements as PostgreSQL's grammar has them, by tables of texts. */
#include "rewrite/statement/script/written_type.h"

#include "rewrite/statement/script/syntax.h"
#include "rewrite/statement/script/types.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void types_are_read_as_in_create_table(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t type;
    } cases[] = {
        {"bigint", PGW_INT8},
        {"timestamp (3) with time zone", PGW_TIMESTAMPTZ},
        {"pg_catalog.int4", PGW_INT4},
        {"character varying(14)", PGW_VARCHAR},
        {"public.int4", PGW_UNSPECIFIED},
        {"nothing", PGW_UNSPECIFIED},
        {"", PGW_UNSPECIFIED},
        {"int4), (1", PGW_UNSPECIFIED},
        {"int4) + (1", PGW_UNSPECIFIED},
        {"int4); SELECT (1", PGW_UNSPECIFIED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(rw_written_type(cases[i].text), cases[i].type);
}

static void expressions_are_one_value_of_no_table(void **state)
{
    (void)state;
    static const char *const are[] = {"1", "now()", "'a'::text || 'b'", "SELECT 1", "(2) + (3)"};
    static const char *const are_none[] = {
        "",           "1, 2) , (3",         "1) FROM t; SELECT (2",
        "1) FROM (t", "1) WHERE (true",     "1); SELECT (2",
        "1 +",        "1) UNION SELECT (2", "1) INTO (t",
    };
    for (size_t i = 0; i < sizeof are / sizeof *are; i++)
        assert_true(rw_is_expression(are[i]));
    for (size_t i = 0; i < sizeof are_none / sizeof *are_none; i++)
        assert_false(rw_is_expression(are_none[i]));
}

/* 200 bytes are read, and no more. */
static void long_texts_are_neither(void **state)
{
    (void)state;
    char text[] = "int4                                                                            "
                  "                                                                                "
                  "                                         ";
    assert_int_equal(strlen(text), 201);
    assert_int_equal(rw_written_type(text + 1), PGW_UNSPECIFIED);
    assert_int_equal(rw_written_type(text), PGW_UNSPECIFIED);
    text[200] = '\0';
    assert_int_equal(rw_written_type(text), PGW_INT4);
    memcpy(text, "now()    ", 9);
    assert_true(rw_is_expression(text));
    text[200] = ' ';
    assert_false(rw_is_expression(text));
}

static void texts_are_checked_whole(void **state)
{
    (void)state;
    static const pgw_env env = {.utf8 = true, .conforming = true};
    static const struct {
        const char *text;
        size_t position; /* of an error; 0: it is fine */
    } cases[] = {
        {"", 0},
        {"SELECT 1", 0},
        {"SELECT 1; INSERT INTO t VALUES (2); ", 0},
        {"SELECT 1; SELEC 2", 11},
        {"SELECT (1", 10},
        {"SELECT 'a", 8},
        {"SELECT 1 2", 10},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pgw_error error = PGW_ERROR_NONE;
        bool fine = rw_syntax_check(pgw_slice_str(cases[i].text), &env, &error);
        assert_int_equal(fine, cases[i].position == 0);
        if (!fine) {
            assert_string_equal(error.sqlstate, "42601");
            assert_int_equal(error.position, cases[i].position);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_are_read_as_in_create_table),
        cmocka_unit_test(expressions_are_one_value_of_no_table),
        cmocka_unit_test(long_texts_are_neither),
        cmocka_unit_test(texts_are_checked_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
