/* Units that are under way: found by their tickets, counted by what became of them, weighed. */
#include "proxy/batch/register.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "config/config.h"
#include "proxy/base/shared.h"

enum { UNITS = 200 };

static struct {
    px_worker worker;
    cfg_config config;
    px_register home;
    px_unit units[UNITS];
    size_t done;
    const px_unit *last;
} here;

static void on_done(px_unit *unit)
{
    here.done++;
    here.last = unit;
}

static int setup(void **state)
{
    (void)state;
    memset(&here, 0, sizeof here);
    here.config.limits.queue_bytes = 1000;
    here.worker.config = &here.config;
    here.worker.metrics = px_metrics_new(NULL);
    here.home.worker = &here.worker;
    for (size_t i = 0; i < UNITS; i++)
        here.units[i] = (px_unit){.ticket = i + 1, .bytes = 10, .done = on_done};
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    px_register_free(&here.home);
    px_metrics_free(here.worker.metrics);
    return px_register_all_idle() && px_register_bytes() == 0 && here.home.slots == NULL ? 0 : -1;
}

static void deliver(px_unit *unit)
{
    size_t done = here.done;
    px_register_deliver(&here.home, unit);
    assert_int_equal(here.done, done + 1);
    assert_ptr_equal(here.last, unit);
}

static void units_are_found_until_they_are_delivered(void **state)
{
    (void)state;
    assert_null(px_register_find(&here.home, &here.units[0], 1));
    for (size_t i = 0; i < UNITS; i++)
        px_register_add(&here.home, &here.units[i]);
    assert_int_equal(here.home.count, UNITS);
    for (size_t i = 0; i < UNITS; i++) {
        assert_ptr_equal(px_register_find(&here.home, &here.units[i], i + 1), &here.units[i]);
        assert_null(px_register_find(&here.home, &here.units[i], i + 2));
        assert_true(here.units[i].submitted > 0);
    }
    for (size_t i = 0; i < UNITS; i += 2)
        deliver(&here.units[i]);
    assert_int_equal(here.home.count, UNITS / 2);
    for (size_t i = 0; i < UNITS; i++)
        assert_ptr_equal(px_register_find(&here.home, &here.units[i], i + 1),
                         i % 2 == 0 ? NULL : &here.units[i]);
    for (size_t i = 1; i < UNITS; i += 2)
        deliver(&here.units[i]);
}

/* Another unit may be where one was: it has another ticket. */
static void one_at_the_same_place_is_another(void **state)
{
    (void)state;
    px_register_add(&here.home, &here.units[0]);
    deliver(&here.units[0]);
    here.units[0].ticket = 1 + UNITS;
    px_register_add(&here.home, &here.units[0]);
    assert_null(px_register_find(&here.home, &here.units[0], 1));
    assert_non_null(px_register_find(&here.home, &here.units[0], 1 + UNITS));
    deliver(&here.units[0]);
}

static void a_unit_that_is_looked_at_comes_back_later(void **state)
{
    (void)state;
    px_register_add(&here.home, &here.units[0]);
    here.units[0].pins = 1;
    px_register_deliver(&here.home, &here.units[0]);
    assert_int_equal(here.done, 0);
    assert_true(here.units[0].came_back);
    assert_non_null(px_register_find(&here.home, &here.units[0], 1));
    assert_false(px_register_all_idle());
    here.units[0].pins = 0;
    deliver(&here.units[0]);
}

static void units_are_weighed(void **state)
{
    (void)state;
    here.units[0].bytes = 600;
    here.units[1].bytes = 399;
    here.units[2].bytes = 1;
    assert_true(px_register_all_idle());
    px_register_add(&here.home, &here.units[0]);
    px_register_add(&here.home, &here.units[1]);
    assert_int_equal(px_register_bytes(), 999);
    assert_true(px_register_has_room(&here.worker));
    px_register_add(&here.home, &here.units[2]);
    assert_false(px_register_has_room(&here.worker));
    assert_false(px_register_all_idle());
    deliver(&here.units[0]);
    assert_int_equal(px_register_bytes(), 400);
    assert_true(px_register_has_room(&here.worker));
    deliver(&here.units[1]);
    deliver(&here.units[2]);
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
        {PX_UNIT_COMMITTED, 0, PX_UNITS_COMMITTED},
        {PX_UNIT_REROUTED, 0, PX_UNITS_REROUTED},
        {PX_UNIT_FAILED, PX_FAILED_BY_ERROR, PX_UNITS_FAILED},
        {PX_UNIT_FAILED, PX_FAILED_UNSENT, PX_UNITS_FAILED},
        {PX_UNIT_FAILED, PX_FAILED_UNKNOWN, PX_UNITS_UNKNOWN},
        {PX_UNIT_FAILED, PX_FAILED_EXPIRED, PX_UNITS_EXPIRED},
        {PX_UNIT_FAILED, PX_FAILED_WITHDRAWN, PX_UNITS_WITHDRAWN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t before = counted(cases[i].counter), rows = counted(PX_BATCHED_ROWS);
        here.units[i].outcome = cases[i].outcome;
        here.units[i].failure = cases[i].failure;
        here.units[i].statement_count = 2;
        here.units[i].row_count = 7;
        px_register_add(&here.home, &here.units[i]);
        deliver(&here.units[i]);
        assert_int_equal(counted(cases[i].counter), before + 1);
        assert_int_equal(counted(PX_BATCHED_ROWS), rows + (i == 0 ? 7 : 0));
        assert_int_equal(counted(PX_BATCHED_STATEMENTS), 2);
    }
    uint64_t observed = 0;
    for (size_t i = 0; i <= PX_BUCKETS; i++)
        observed += px_number_get(&here.worker.metrics->buckets[PX_UNIT_DURATION][i]);
    assert_int_equal(observed, sizeof cases / sizeof *cases);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(units_are_found_until_they_are_delivered),
        TEST(one_at_the_same_place_is_another),
        TEST(a_unit_that_is_looked_at_comes_back_later),
        TEST(units_are_weighed),
        TEST(outcomes_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
