/* What an EXECUTE may give its parameters; tests/integration/test_plain_types.py compares all types
 * with PostgreSQL. */
#include "ydb/plain/assigned.h"
#include "rewrite/statement/script/types.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const pgw_env env = {.utf8 = true, .zone_known = true, .conforming = true};

static const struct {
    const char *expression;
    uint32_t type;
    const char *message; /* "": it fits */
} arguments[] = {
    {"'5'", PGW_INT4, ""},
    {"null -- nothing", PGW_BOOL, ""},
    {"'5'::text", PGW_INT4,
     "parameter $1 of type text cannot be coerced to the expected type integer"},
    {"(upper('5'))", PGW_INT8,
     "parameter $1 of type text cannot be coerced to the expected type bigint"},
    {"1.6", PGW_INT4, ""},
    {"1", PGW_TEXT, ""},
    {"-3000000000", PGW_BOOL,
     "parameter $1 of type bigint cannot be coerced to the expected type boolean"},
    {"true", PGW_INT4,
     "parameter $1 of type boolean cannot be coerced to the expected type integer"},
    {"'x' COLLATE \"C\"", PGW_INT4, ""},
    {"array[1.5]", 1007, ""},
    {"array['1']", 1007,
     "parameter $1 of type text[] cannot be coerced to the expected type integer[]"},
    {"array[1]", PGW_INT4,
     "parameter $1 of type integer[] cannot be coerced to the expected type integer"},
    {"'{}'::json", RW_JSONB, ""},
    /* what is not known here, or no expression, is the database's to judge */
    {"somebodys(1)", PGW_BOOL, ""},
    {"1::somebodys", PGW_BOOL, ""},
    {"1 +", PGW_BOOL, ""},
    {"true", 99999, ""},
};

static void arguments_are_assigned(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof arguments / sizeof *arguments; i++) {
        pgw_arena arena = {0};
        pgw_error error = PGW_ERROR_NONE;
        const pgw_slice expression = pgw_slice_str(arguments[i].expression);
        const bool fits = rw_arguments_fit(&expression, &arguments[i].type, 1,
                                           &(pgw_reading){&env, &arena, &error});
        assert_string_equal(error.message, arguments[i].message);
        assert_string_equal(error.sqlstate, fits ? "" : "42804");
        pgw_arena_free(&arena);
    }
}

/* The first that does not fit. */
static void arguments_are_counted(void **state)
{
    (void)state;
    pgw_arena arena = {0};
    pgw_error error;
    const pgw_slice expressions[] = {PGW_LITERAL("1"), PGW_LITERAL("now()"), PGW_LITERAL("true")};
    const uint32_t types[] = {PGW_INT4, PGW_DATE, PGW_UUID};
    assert_false(rw_arguments_fit(expressions, types, 3, &(pgw_reading){&env, &arena, &error}));
    assert_string_equal(error.message,
                        "parameter $3 of type boolean cannot be coerced to the expected type uuid");
    assert_true(rw_arguments_fit(expressions, types, 2, &(pgw_reading){&env, &arena, &error}));
    pgw_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(arguments_are_assigned),
                                       cmocka_unit_test(arguments_are_counted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
