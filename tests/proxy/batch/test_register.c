/* Units that are under way: found by their tickets, counted by what became of them, weighed. */
#include "proxy/batch/register.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "config/config.h"
#include "proxy/base/shared.h"

enum { WRITE_GROUPS = 200 };

static struct {
    px_worker worker;
    cfg_config config;
    px_register home;
    px_write_group write_groups[WRITE_GROUPS];
    size_t done;
    const px_write_group *last;
} here;

static void on_done(px_write_group *write_group)
{
    here.done++;
    here.last = write_group;
}

static int setup(void **state)
{
    (void)state;
    memset(&here, 0, sizeof here);
    here.config.limits.queue_bytes = 1000;
    here.worker.config = &here.config;
    here.worker.metrics = px_metrics_new(NULL);
    here.home.worker = &here.worker;
    for (size_t i = 0; i < WRITE_GROUPS; i++)
        here.write_groups[i] = (px_write_group){.ticket = i + 1, .bytes = 10, .done = on_done};
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    px_register_free(&here.home);
    px_metrics_free(here.worker.metrics);
    return px_register_all_idle() && px_register_bytes() == 0 && here.home.slots == NULL ? 0 : -1;
}

static void deliver(px_write_group *write_group)
{
    size_t done = here.done;
    px_register_deliver(&here.home, write_group);
    assert_int_equal(here.done, done + 1);
    assert_ptr_equal(here.last, write_group);
}

static void write_groups_are_found_until_they_are_delivered(void **state)
{
    (void)state;
    assert_null(px_register_find(&here.home, &here.write_groups[0], 1));
    for (size_t i = 0; i < WRITE_GROUPS; i++)
        px_register_add(&here.home, &here.write_groups[i]);
    assert_int_equal(here.home.count, WRITE_GROUPS);
    for (size_t i = 0; i < WRITE_GROUPS; i++) {
        assert_ptr_equal(px_register_find(&here.home, &here.write_groups[i], i + 1),
                         &here.write_groups[i]);
        assert_null(px_register_find(&here.home, &here.write_groups[i], i + 2));
        assert_true(here.write_groups[i].submitted > 0);
    }
    for (size_t i = 0; i < WRITE_GROUPS; i += 2)
        deliver(&here.write_groups[i]);
    assert_int_equal(here.home.count, WRITE_GROUPS / 2);
    for (size_t i = 0; i < WRITE_GROUPS; i++)
        assert_ptr_equal(px_register_find(&here.home, &here.write_groups[i], i + 1),
                         i % 2 == 0 ? NULL : &here.write_groups[i]);
    for (size_t i = 1; i < WRITE_GROUPS; i += 2)
        deliver(&here.write_groups[i]);
}

/* Another write group may be where one was: it has another ticket. */
static void one_at_the_same_place_is_another(void **state)
{
    (void)state;
    px_register_add(&here.home, &here.write_groups[0]);
    deliver(&here.write_groups[0]);
    here.write_groups[0].ticket = 1 + WRITE_GROUPS;
    px_register_add(&here.home, &here.write_groups[0]);
    assert_null(px_register_find(&here.home, &here.write_groups[0], 1));
    assert_non_null(px_register_find(&here.home, &here.write_groups[0], 1 + WRITE_GROUPS));
    deliver(&here.write_groups[0]);
}

static void a_write_group_that_is_looked_at_comes_back_later(void **state)
{
    (void)state;
    px_register_add(&here.home, &here.write_groups[0]);
    here.write_groups[0].pins = 1;
    px_register_deliver(&here.home, &here.write_groups[0]);
    assert_int_equal(here.done, 0);
    assert_true(here.write_groups[0].came_back);
    assert_non_null(px_register_find(&here.home, &here.write_groups[0], 1));
    assert_false(px_register_all_idle());
    here.write_groups[0].pins = 0;
    deliver(&here.write_groups[0]);
}

static void write_groups_are_weighed(void **state)
{
    (void)state;
    here.write_groups[0].bytes = 600;
    here.write_groups[1].bytes = 399;
    here.write_groups[2].bytes = 1;
    assert_true(px_register_all_idle());
    px_register_add(&here.home, &here.write_groups[0]);
    px_register_add(&here.home, &here.write_groups[1]);
    assert_int_equal(px_register_bytes(), 999);
    assert_true(px_register_has_room(&here.worker));
    px_register_add(&here.home, &here.write_groups[2]);
    assert_false(px_register_has_room(&here.worker));
    assert_false(px_register_all_idle());
    deliver(&here.write_groups[0]);
    assert_int_equal(px_register_bytes(), 400);
    assert_true(px_register_has_room(&here.worker));
    deliver(&here.write_groups[1]);
    deliver(&here.write_groups[2]);
}

static uint64_t counted(px_counter counter)
{
    return px_number_get(&here.worker.metrics->counters[counter]);
}

static void outcomes_are_counted(void **state)
{
    (void)state;
    static const struct {
        int outcome, failure;
        px_counter counter;
    } cases[] = {
        {PX_WRITE_GROUP_COMMITTED, 0, PX_WRITE_GROUPS_COMMITTED},
        {PX_WRITE_GROUP_REROUTED, 0, PX_WRITE_GROUPS_REROUTED},
        {PX_WRITE_GROUP_FAILED, PX_FAILED_BY_ERROR, PX_WRITE_GROUPS_FAILED},
        {PX_WRITE_GROUP_FAILED, PX_FAILED_UNSENT, PX_WRITE_GROUPS_FAILED},
        {PX_WRITE_GROUP_FAILED, PX_FAILED_UNKNOWN, PX_WRITE_GROUPS_UNKNOWN},
        {PX_WRITE_GROUP_FAILED, PX_FAILED_EXPIRED, PX_WRITE_GROUPS_EXPIRED},
        {PX_WRITE_GROUP_FAILED, PX_FAILED_WITHDRAWN, PX_WRITE_GROUPS_WITHDRAWN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t before = counted(cases[i].counter), rows = counted(PX_BATCHED_ROWS);
        here.write_groups[i].outcome = cases[i].outcome;
        here.write_groups[i].failure = cases[i].failure;
        here.write_groups[i].statement_count = 2;
        here.write_groups[i].row_count = 7;
        px_register_add(&here.home, &here.write_groups[i]);
        deliver(&here.write_groups[i]);
        assert_int_equal(counted(cases[i].counter), before + 1);
        assert_int_equal(counted(PX_BATCHED_ROWS), rows + (i == 0 ? 7 : 0));
        assert_int_equal(counted(PX_BATCHED_STATEMENTS), 2);
    }
    uint64_t observed = 0;
    for (size_t i = 0; i <= PX_BUCKETS; i++)
        observed += px_number_get(&here.worker.metrics->buckets[PX_WRITE_GROUP_DURATION][i]);
    assert_int_equal(observed, sizeof cases / sizeof *cases);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(write_groups_are_found_until_they_are_delivered),
        TEST(one_at_the_same_place_is_another),
        TEST(a_write_group_that_is_looked_at_comes_back_later),
        TEST(write_groups_are_weighed),
        TEST(outcomes_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
