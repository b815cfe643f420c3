/* What is known of each database that clients named. */
#include "proxy/backend/base/databases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static px_databases *databases;

static int setup(void **state)
{
    (void)state;
    databases = px_databases_new();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    px_databases_free(databases);
    return 0;
}

static void expect(const char *name, bool used, bool written)
{
    assert_int_equal(px_databases_used(databases, name), used);
    assert_int_equal(px_databases_written(databases, name), written);
}

static void used_while_it_has_sessions(void **state)
{
    (void)state;
    expect("a", false, false);
    px_databases_enter(databases, "a");
    px_databases_enter(databases, "b");
    px_databases_enter(databases, "a");
    expect("a", true, false);
    px_databases_leave(databases, "a");
    expect("a", true, false);
    px_databases_leave(databases, "a");
    expect("a", false, false);
    expect("b", true, false);
    expect("ab", false, false);
    px_databases_leave(databases, "a"); /* there is none to leave */
    expect("a", false, false);
    px_databases_leave(databases, "b");
    expect("b", false, false);
}

static void written_for_ever(void **state)
{
    (void)state;
    px_databases_enter(databases, "a");
    px_databases_write(databases, "a");
    expect("a", true, true);
    px_databases_leave(databases, "a");
    expect("a", false, true);
    px_databases_write(databases, "b");
    expect("b", false, true);
    px_databases_enter(databases, "b");
    expect("b", true, true);
    expect("c", false, false);
}

static void none_at_all(void **state)
{
    (void)state;
    px_databases_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(used_while_it_has_sessions, setup, teardown),
        cmocka_unit_test_setup_teardown(written_for_ever, setup, teardown),
        cmocka_unit_test(none_at_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
