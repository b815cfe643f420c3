/* Names that a text gives to EXECUTE. */
#include "rewrite/lex/executed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <time.h>

#include <cmocka.h>

/* The names of the text, each with a blank behind it. */
static void names_are(const char *text, bool conforming, const char *expected)
{
    pgw_arena arena = {0};
    pgw_buf found = {0};
    pgw_slice name;
    rw_executed it = rw_executed_in(pgw_slice_str(text), conforming);
    while (rw_executed_next(&it, &arena, &name)) {
        pgw_buf_add_slice(&found, name);
        pgw_buf_add_byte(&found, ' ');
    }
    assert_false(rw_executed_next(&it, &arena, &name));
    pgw_buf_add_byte(&found, '\0');
    assert_string_equal(found.ptr, expected);
    pgw_buf_free(&found);
    pgw_arena_free(&arena);
}

static void every_name_is_found(void **state)
{
    (void)state;
    names_are("execute p", true, "p ");
    names_are("EXECUTE P(1); explain analyze execute /* x */ \"Q\"\"r\" (2)", true, "p Q\"r ");
    names_are("execute execute; execute b", true, "execute b ");
    names_are("create table x as execute p", true, "p ");
}

static void names_are_cut_and_unescaped(void **state)
{
    (void)state;
#define TEN "0123456789"
#define SIXTY TEN TEN TEN TEN TEN TEN
    names_are("execute U&\"!0070!!\" UESCAPE '!' (1); execute q", true, "p! q ");
    names_are("execute u&\"\\0070\" (1); execute U&\"x!0070\"", true, "p x!0070 ");
    names_are("execute \"" SIXTY "abcdef\"(1); execute q", true, SIXTY "abc q ");
    names_are("execute \"" SIXTY "ab\u00e9f\"(1)", true, SIXTY "ab ");
    names_are("execute U&\"!0070\" uescape 'no'; execute U&\"!0070\" uescape; execute q", true,
              "!0070 !0070 q ");
}

static void nothing_else_is(void **state)
{
    (void)state;
    names_are("", true, "");
    names_are("select 'execute p', \"execute\", executed, $$execute p$$ -- execute p", true, "");
    names_are("execute 'p'; execute 1; execute", true, "");
    names_are("execute p; 'unterminated execute q", true, "p ");
    names_are("select '\\' execute p -- '", true, "p ");
    names_are("select '\\' execute p -- '", false, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_name_is_found),
                                       cmocka_unit_test(names_are_cut_and_unescaped),
                                       cmocka_unit_test(nothing_else_is)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
