/* The names of savepoints: the last one of a name counts, and all together are bounded. */
#include "ydb/server/savepoints.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static pgw_savepoints savepoints;

static bool add(const char *name)
{
    return pgw_savepoints_add(&savepoints, pgw_slice_str(name));
}

static bool have(const char *name)
{
    return pgw_savepoints_have(&savepoints, pgw_slice_str(name));
}

static bool release(const char *name)
{
    return pgw_savepoints_release(&savepoints, pgw_slice_str(name));
}

static void the_last_of_a_name_counts(void **state)
{
    (void)state;
    assert_false(have("a"));
    assert_false(release("a"));
    assert_true(add("a") && add("b") && add("a") && add("c"));
    assert_true(have("a") && have("b") && have("c"));
    assert_false(have("ab") || have("") || have("A"));
    assert_true(release("a")); /* the second, and c behind it */
    assert_true(have("a") && have("b"));
    assert_false(have("c") || release("c"));
    assert_true(release("a"));
    assert_false(have("a") || have("b"));
    pgw_savepoints_free(&savepoints);
    assert_true(add("") && have("") && release(""));
    assert_false(have(""));
    pgw_savepoints_free(&savepoints);
}

/* A mebibyte of names, each with its end. */
static void names_are_bounded(void **state)
{
    (void)state;
    enum { MOST = 1024 * 1024, LEN = 63 };
    char name[LEN + 1] = "";
    memset(name, 'n', LEN);
    for (size_t bytes = 0; bytes + LEN + 1 <= MOST; bytes += LEN + 1)
        assert_true(add(name));
    assert_int_equal(savepoints.names.len, MOST);
    assert_false(add(""));
    savepoints.names.len--; /* … as if one of them were shorter */
    assert_false(add("a"));
    assert_true(add(""));
    assert_int_equal(savepoints.names.len, MOST);
    pgw_savepoints_free(&savepoints);
    assert_true(add(name));
    pgw_savepoints_free(&savepoints);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_of_a_name_counts),
        cmocka_unit_test(names_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
