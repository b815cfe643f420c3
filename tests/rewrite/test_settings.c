/* Settings by their names, and what search_path finds first. */
#include "rewrite/statement/words/settings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/rewrite/exact.h"

static void names_are_in_small_letters(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"TimeZone", "timezone"}, {"AZaz", "azaz"},         {"@[`{", "@[`{"},
        {"a.B_9", "a.b_9"},       {"\xc3\x89", "\xc3\x89"}, {"", ""},
    };
    pgw_arena arena = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_true(pgw_slice_eq_str(rw_setting_name(&arena, exact(cases[i][0])), cases[i][1]));
    pgw_arena_free(&arena);
}

/* Behind pg_catalog, which is searched first wherever it stands. */
static void the_first_schema_informs_or_not(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        bool informs;
    } cases[] = {
        {"information_schema", true},
        {"information_schema, public", true},
        {"\"information_schema\",public", true},
        {"pg_catalog, information_schema", true},
        {"pg_catalog,\"pg_catalog\" , pg_catalog,information_schema", true},
        {" , information_schema", true},
        {"public, information_schema", false},
        {"\"$user\", information_schema", false},
        {"information_schemas", false},
        {"xinformation_schema", false},
        {"information_schem", false},
        {"pg_catalog", false},
        {"pg_catalog, public, information_schema", false},
        {"", false},
        {"\"\"", false},
        {" ", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (rw_path_informs(exact(cases[i].path)) != cases[i].informs)
            fail_msg("%s", cases[i].path);
}

static void settings_are_told_by_what_they_change(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        rw_setting_kind kind;
        bool parts;
    } cases[] = {
        {"client_encoding", RW_SETTING_TRACKED, false},
        {"search_path", RW_SETTING_PATH, false},
        {"bytea_output", RW_SETTING_OUTPUT, false},
        {"escape_string_warning", RW_SETTING_PLAIN, false},
        {"enable_self_join_elimination", RW_SETTING_PLAIN, false},
        {"enable_self_join_eliminatio", RW_SETTING_OTHER, true},
        {"enable_something_new", RW_SETTING_OTHER, true},
        {"backslash_quote", RW_SETTING_TEXT, true},
        {"array_nulls", RW_SETTING_VALUE, true},
        {"row_security", RW_SETTING_CONDUCT, true},
        {"my.tenant", RW_SETTING_OTHER, true},
        {"jit.", RW_SETTING_OTHER, true},
        {"", RW_SETTING_OTHER, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rw_setting_kind kind = rw_setting_kind_of(exact(cases[i].name));
        if (kind != cases[i].kind || rw_setting_parts(kind) != cases[i].parts)
            fail_msg("%s", cases[i].name);
    }
    for (size_t i = 0; i < RW_TRACKED; i++)
        assert_false(rw_setting_parts(rw_setting_kind_of(pgw_slice_str(rw_tracked[i]))));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_in_small_letters),
        cmocka_unit_test(the_first_schema_informs_or_not),
        cmocka_unit_test(settings_are_told_by_what_they_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
