/* What is prepared on one link, and what goes when there is no room. */
#include "proxy/backend/postgres/prepared.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const uint32_t types[] = {20, 25};

static px_prepared prepared;

static int teardown(void **state)
{
    (void)state;
    px_prepared_free(&prepared);
    assert_null(prepared.ring);
    return 0;
}

static void add(unsigned number)
{
    char name[16];
    snprintf(name, sizeof name, "s%u", number);
    px_prepared_add(&prepared, pgw_slice_str(name), PGW_LITERAL("text"), types, 2);
}

static bool has(unsigned number)
{
    char name[16];
    snprintf(name, sizeof name, "s%u", number);
    return px_prepared_has(&prepared, pgw_slice_str(name), PGW_LITERAL("text"), types, 2);
}

static void a_name_stands_for_its_text_and_types(void **state)
{
    (void)state;
    static const uint32_t others[] = {20, 23};
    pgw_slice name = PGW_LITERAL("s1"), text = PGW_LITERAL("text");
    assert_false(has(1));
    add(1);
    assert_true(has(1));
    assert_false(px_prepared_has(&prepared, PGW_LITERAL("s"), text, types, 2));
    assert_false(px_prepared_has(&prepared, name, PGW_LITERAL("texT"), types, 2));
    assert_false(px_prepared_has(&prepared, name, text, types, 1));
    assert_false(px_prepared_has(&prepared, name, text, others, 2));
    px_prepared_add(&prepared, name, PGW_LITERAL("other"), NULL, 0);
    assert_true(px_prepared_has(&prepared, name, PGW_LITERAL("other"), NULL, 0));
    assert_false(has(1));
    px_prepared_remove(&prepared, name);
    assert_false(px_prepared_has(&prepared, name, PGW_LITERAL("other"), NULL, 0));
    px_prepared_remove(&prepared, name);
}

static void expect_evicted(const char *expected)
{
    char *name = px_prepared_evict(&prepared);
    if (expected == NULL)
        assert_null(name);
    else
        assert_string_equal(name, expected);
    free(name);
}

static void the_oldest_goes_first(void **state)
{
    (void)state;
    for (unsigned i = 0; i < PX_PREPARED_MAX; i++) {
        expect_evicted(NULL);
        add(i);
    }
    px_prepared_remove(&prepared, PGW_LITERAL("s1"));
    expect_evicted("s0");
    assert_false(has(0));
    add(1000);
    expect_evicted(NULL); /* the place of s1, which is empty */
    add(1001);
    expect_evicted("s2");
    add(2); /* once more: it is young again */
    char name[16];
    for (unsigned i = 3; i < PX_PREPARED_MAX; i++) {
        snprintf(name, sizeof name, "s%u", i);
        char *evicted = px_prepared_evict(&prepared);
        while (evicted == NULL)
            evicted = px_prepared_evict(&prepared);
        assert_string_equal(evicted, name);
        free(evicted);
        add(2000 + i);
    }
    assert_true(has(1000) && has(1001) && has(2) && has(2000 + PX_PREPARED_MAX - 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_name_stands_for_its_text_and_types, teardown),
        cmocka_unit_test_teardown(the_oldest_goes_first, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
