/* What a name in front of a parenthesis may do, by the name alone. */
#include "rewrite/lex/calls.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "exact.h"

static void names_are_known_in_any_case(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        rw_call call;
    } cases[] = {
        {"abs", RW_CALL_HARMLESS},
        {"xmlserialize", RW_CALL_HARMLESS},
        {"now", RW_CALL_HARMLESS},
        {"NOW", RW_CALL_HARMLESS},
        {"coalesCe", RW_CALL_HARMLESS},
        {"atan2", RW_CALL_HARMLESS},
        {"nextval", RW_CALL_DRAWS},
        {"currval", RW_CALL_DRAWS},
        {"SetVal", RW_CALL_RESETS},
        {"lastval", RW_CALL_DRAWS},
        {"setseed", RW_CALL_KEEPS},
        {"pg_advisory_lock", RW_CALL_KEEPS},
        {"PG_ADVISORY_x", RW_CALL_KEEPS},
        {"pg_try_advisory_lock", RW_CALL_KEEPS},
        {"pg_advisory", RW_CALL_UNKNOWN},
        {"pg_try_advisory", RW_CALL_UNKNOWN},
        {"set_config", RW_CALL_UNKNOWN},
        {"hide", RW_CALL_UNKNOWN},
        {"ab", RW_CALL_UNKNOWN},
        {"absx", RW_CALL_UNKNOWN},
        {"nextvalx", RW_CALL_UNKNOWN},
        {"", RW_CALL_UNKNOWN},
        {"@bs", RW_CALL_UNKNOWN},
        {"[bs", RW_CALL_UNKNOWN},
        {"n\xc3\x96w", RW_CALL_UNKNOWN},
        {"pg_get_function_identity_arguments", RW_CALL_HARMLESS},
        {"pg_advisory_34567890123456789012345678", RW_CALL_KEEPS}, /* the longest that is read */
        {"pg_advisory_345678901234567890123456789", RW_CALL_KEEPS},
        {"pg_advisory_3456789012345678901234567890", RW_CALL_UNKNOWN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (rw_call_of(exact(cases[i].name)) != cases[i].call)
            fail_msg("%s", cases[i].name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(names_are_known_in_any_case)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
