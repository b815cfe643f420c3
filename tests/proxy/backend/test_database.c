/* What workers share of a database: one of a name, its marks, and the newest snapshot. */
#include "proxy/backend/schema/database.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void there_is_one_of_a_name(void **state)
{
    (void)state;
    px_database *a = px_database_take("a"), *b = px_database_take("b");
    assert_ptr_not_equal(a, b);
    assert_string_equal(a->name, "a");
    assert_ptr_equal(px_database_take("a"), a);
    assert_ptr_equal(px_database_again(a), a);
    assert_int_equal(a->references, 3);
    px_database_drop(a);
    px_database_drop(a);
    assert_int_equal(a->references, 1);
    px_database_mark("a", 1);
    px_database_drop(a); /* the last: a leak would be seen */
    a = px_database_take("a");
    assert_int_equal(a->marks, 0); /* it is a new one */
    px_database_drop(b);
    px_database_drop(a);
    px_database_drop(NULL);
}

static void marks_are_those_of_a_name(void **state)
{
    (void)state;
    px_database *a = px_database_take("a"), *b = px_database_take("b");
    px_database_mark("a", 1);
    px_database_mark("a", 1);
    px_database_mark("nobody", 1);
    assert_int_equal(a->marks, 2);
    assert_int_equal(a->keys, 2);
    px_database_mark_kept("a", 3);
    assert_int_equal(a->marks, 5);
    assert_int_equal(a->keys, 2);
    assert_int_equal(b->marks, 0);
    px_database_drop(a);
    px_database_drop(b);
}

static void the_newest_is_seen(void **state)
{
    (void)state;
    px_database *a = px_database_take("a");
    px_catalog one = {.references = 1}, two = {.references = 1};
    px_seen seen = {0};
    px_database_look(a, &seen);
    assert_null(seen.catalog);
    px_database_publish(a, (px_seen){px_catalog_take(&one), 3, {"x"}, {"p"}, 7, 0});
    px_database_look(a, &seen);
    assert_ptr_equal(seen.catalog, &one);
    assert_int_equal(seen.marks, 3);
    assert_string_equal(seen.fingerprint.text, "x");
    assert_int_equal(seen.checked_at, 7);
    assert_int_equal(one.references, 3);
    px_database_publish(a, (px_seen){px_catalog_take(&two), 4, {"y"}, {"p"}, 8, 0});
    assert_int_equal(one.references, 2); /* who looked has it still */
    px_database_look(a, &seen);
    assert_ptr_equal(seen.catalog, &two);
    assert_int_equal(one.references, 1);
    px_database_look(a, &seen);
    assert_int_equal(two.references, 3);
    px_catalog_drop(seen.catalog);
    px_database_drop(a);
    assert_int_equal(two.references, 1);
}

static void publish(px_database *database, px_catalog *catalog, uint64_t marks, uint64_t at)
{
    px_database_publish(
        database, (px_seen){.catalog = px_catalog_take(catalog), .marks = marks, .checked_at = at});
}

/* Two look at once, and the one that began first is the last to tell. */
static void what_is_newer_stays(void **state)
{
    (void)state;
    static const cfg_config another;
    static const struct {
        uint64_t marks, at;
        bool reloaded, stays;
    } cases[] = {{3, 9, false, true}, /* marked since */
                 {4, 6, false, true}, /* begun before */
                 {4, 7, false, false},
                 {5, 6, false, false},
                 {3, 6, true, false}}; /* of another configuration */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        px_database *a = px_database_take("a");
        px_catalog one = {.references = 1}, two = {.references = 1};
        two.config = cases[i].reloaded ? &another : NULL;
        publish(a, &one, 4, 7);
        publish(a, &two, cases[i].marks, cases[i].at);
        assert_ptr_equal(a->newest.catalog, cases[i].stays ? &one : &two);
        assert_int_equal((cases[i].stays ? &two : &one)->references, 1);
        assert_int_equal(one.current, cases[i].stays);
        assert_int_equal(two.current, !cases[i].stays);
        px_database_drop(a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(there_is_one_of_a_name),
        cmocka_unit_test(marks_are_those_of_a_name),
        cmocka_unit_test(the_newest_is_seen),
        cmocka_unit_test(what_is_newer_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
