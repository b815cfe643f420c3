/* What is prepared on one link, and what goes when there is no room. */
#include "proxy/backend/postgres/prepared.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { NOW = 1000 };

static const uint32_t types[] = {20, 25};

static px_prepared prepared;

static int teardown(void **state)
{
    (void)state;
    px_prepared_free(&prepared);
    assert_null(prepared.first);
    return 0;
}

static px_write_group_prepared of(const char *name)
{
    return (px_write_group_prepared){
        .name = pgw_slice_str(name), .text = PGW_LITERAL("text"), .types = types, .type_count = 2};
}

static void add(unsigned number)
{
    char name[16];
    snprintf(name, sizeof name, "s%u", number);
    px_write_group_prepared what = of(name);
    px_prepared_add(&prepared, &what, NOW);
}

static bool has(unsigned number)
{
    char name[16];
    snprintf(name, sizeof name, "s%u", number);
    px_write_group_prepared what = of(name);
    return px_prepared_use(&prepared, &what, NOW);
}

/* s1, but for one thing. */
static bool has_other(px_write_group_prepared what)
{
    return px_prepared_use(&prepared, &what, NOW);
}

static void a_name_stands_for_its_text_and_types(void **state)
{
    (void)state;
    static const uint32_t others[] = {20, 23};
    px_write_group_prepared other = of("s1");
    assert_false(has(1));
    add(1);
    assert_true(has(1));
    assert_false(has_other(of("s")));
    other.text = PGW_LITERAL("texT");
    assert_false(has_other(other));
    other = of("s1");
    other.type_count = 1;
    assert_false(has_other(other));
    other = of("s1");
    other.types = others;
    assert_false(has_other(other));
    other = (px_write_group_prepared){.name = PGW_LITERAL("s1"), .text = PGW_LITERAL("other")};
    px_prepared_add(&prepared, &other, NOW);
    assert_true(has_other(other));
    assert_false(has(1));
    px_prepared_remove(&prepared, other.name);
    assert_false(has_other(other));
    px_prepared_remove(&prepared, other.name);
}

static bool has_at(const char *name, uint64_t now)
{
    px_write_group_prepared what = of(name);
    return px_prepared_use(&prepared, &what, now);
}

/* It was prepared a moment ago, or it is prepared again. */
static void what_is_doubted_is_used_for_a_moment(void **state)
{
    (void)state;
    px_write_group_prepared what = of("s1"), other = of("s2");
    px_prepared_doubt(&prepared, what.name);
    px_prepared_add(&prepared, &what, NOW);
    px_prepared_add(&prepared, &other, NOW);
    px_prepared_doubt(&prepared, what.name);
    assert_true(has_at("s1", NOW));
    assert_true(has_at("s1", NOW + PX_DOUBTED_MS - 1));
    assert_false(has_at("s1", NOW + PX_DOUBTED_MS));
    assert_true(has_at("s2", NOW + PX_DOUBTED_MS));
    px_prepared_add(&prepared, &what, NOW + PX_DOUBTED_MS);
    assert_true(has_at("s1", NOW + 9 * PX_DOUBTED_MS));
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

static void what_was_not_used_for_longest_goes_first(void **state)
{
    (void)state;
    for (unsigned i = 0; i < PX_PREPARED_MAX; i++) {
        expect_evicted(NULL);
        add(i);
    }
    px_prepared_remove(&prepared, PGW_LITERAL("s1"));
    expect_evicted(NULL); /* there is its place */
    add(1000);
    expect_evicted("s0");
    assert_false(has(0));
    add(1001);
    assert_true(has(2)); /* it is used */
    expect_evicted("s3");
    add(4); /* once more */
    add(1002);
    char name[16];
    for (unsigned i = 5; i < PX_PREPARED_MAX; i++) {
        snprintf(name, sizeof name, "s%u", i);
        expect_evicted(name);
        add(2000 + i);
    }
    expect_evicted("s1000");
    assert_true(has(1001) && has(2) && has(4) && has(1002) && has(2000 + PX_PREPARED_MAX - 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_name_stands_for_its_text_and_types, teardown),
        cmocka_unit_test_teardown(what_is_doubted_is_used_for_a_moment, teardown),
        cmocka_unit_test_teardown(what_was_not_used_for_longest_goes_first, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
