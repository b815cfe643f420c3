/* Things by their names: many of them, those that have the beginning of 63 bytes in common, and
 * what is left when some are taken away. */
#include "ydb/server/names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { MANY = 1000 };

static void many_are_found(void **state)
{
    (void)state;
    static pgw_named list[MANY];
    static char texts[MANY][16];
    pgw_names names = {0};
    assert_null(pgw_names_find(&names, PGW_LITERAL("s0")));
    for (size_t i = 0; i < MANY; i++) {
        size_t len = (size_t)snprintf(texts[i], sizeof texts[i], "s%zu", i);
        list[i].name = (pgw_slice){texts[i], len};
        assert_null(pgw_names_find(&names, list[i].name));
        pgw_names_enter(&names, &list[i]);
        assert_in_range(names.size, names.count, names.count < 16 ? 16 : 2 * names.count);
    }
    for (size_t i = 0; i < MANY; i++)
        assert_ptr_equal(pgw_names_find(&names, list[i].name), &list[i]);
    for (size_t i = 0; i < MANY; i += 2)
        pgw_names_remove(&names, &list[i]);
    assert_int_equal(names.count, MANY / 2);
    for (size_t i = 0; i < MANY; i++)
        assert_ptr_equal(pgw_names_find(&names, list[i].name), i % 2 == 0 ? NULL : &list[i]);
    pgw_names_free(&names);
    assert_int_equal(names.count, 0);
}

/* Each once, and each may be removed when what follows it is known. */
static void all_are_walked(void **state)
{
    (void)state;
    static pgw_named list[MANY];
    static char texts[MANY][16];
    static unsigned seen[MANY];
    pgw_names names = {0};
    size_t slot = 0, met = 0;
    assert_null(pgw_names_next(&names, &slot, NULL));
    for (size_t i = 0; i < MANY; i++) {
        list[i].name = (pgw_slice){texts[i], (size_t)snprintf(texts[i], sizeof texts[i], "%zu", i)};
        pgw_names_enter(&names, &list[i]);
    }
    pgw_named *at = pgw_names_next(&names, &slot, NULL);
    while (at != NULL) {
        pgw_named *next = pgw_names_next(&names, &slot, at);
        seen[at - list]++;
        met++;
        pgw_names_remove(&names, at);
        at = next;
    }
    assert_int_equal(met, MANY);
    assert_int_equal(names.count, 0);
    for (size_t i = 0; i < MANY; i++)
        assert_int_equal(seen[i], 1);
    slot = 0;
    assert_null(pgw_names_next(&names, &slot, NULL));
    pgw_names_free(&names);
}

static void names_have_63_bytes(void **state)
{
    (void)state;
    char text[65];
    memset(text, 'n', sizeof text);
    pgw_names names = {0};
    pgw_named named = {.name = {text, 64}};
    pgw_names_enter(&names, &named);
    assert_ptr_equal(pgw_names_find(&names, (pgw_slice){text, 65}), &named);
    assert_ptr_equal(pgw_names_find(&names, (pgw_slice){text, 63}), &named);
    assert_null(pgw_names_find(&names, (pgw_slice){text, 62}));
    text[63] = 'x';
    assert_ptr_equal(pgw_names_find(&names, (pgw_slice){text, 64}), &named);
    char other[64];
    memset(other, 'n', sizeof other);
    other[62] = 'x';
    assert_null(pgw_names_find(&names, (pgw_slice){other, 64}));
    assert_null(pgw_names_find(&names, PGW_LITERAL("")));
    pgw_names_free(&names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_are_found),
        cmocka_unit_test(all_are_walked),
        cmocka_unit_test(names_have_63_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
