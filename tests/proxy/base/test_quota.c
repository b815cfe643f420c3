/* Who gets a link for batches, by numbers. */
#include "proxy/base/quota.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void test_most(void **state)
{
    (void)state;
    static const struct {
        unsigned batch_links, max_links, workers, most;
    } cases[] = {{8, 90, 2, 8},   {8, 90, 16, 16}, {8, 90, 100, 45}, {50, 90, 2, 45},
                 {45, 90, 2, 45}, {46, 90, 2, 45}, {2, 90, 3, 3},    {3, 90, 3, 3},
                 {8, 10, 2, 5},   {8, 11, 2, 5},   {8, 3, 2, 1},     {8, 2, 4, 1},
                 {1, 1, 1, 1},    {8, 1, 4, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cfg_config config = {0};
        config.backend.batch_links = cases[i].batch_links;
        config.backend.max_links = cases[i].max_links;
        unsigned most = px_quota_most(&config, cases[i].workers);
        if (most != cases[i].most)
            fail_msg("case %zu: %u, not %u", i, most, cases[i].most);
    }
}

static void test_part(void **state)
{
    (void)state;
    static const unsigned cases[][3] = {{0, 8, 1}, {1, 8, 8}, {2, 8, 4}, {3, 8, 2}, {4, 8, 2},
                                        {7, 8, 1}, {8, 8, 1}, {9, 8, 1}, {1, 1, 1}, {2, 1, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        px_quota quota = {.pools = cases[i][0]};
        assert_int_equal(px_quota_part(&quota, cases[i][1]), cases[i][2]);
    }
}

static void test_claim(void **state)
{
    (void)state;
    static const struct {
        unsigned links, pools, wanting, starving;
        size_t count; /* of the pool that asks */
        bool claimed;
    } cases[] = {
        {0, 1, 0, 0, 0, true},  {7, 1, 0, 0, 7, true},  {8, 1, 0, 0, 0, false},
        {8, 2, 0, 0, 4, false}, {9, 2, 0, 0, 4, false}, {5, 2, 0, 0, 5, true}, /* nobody else */
        {5, 2, 1, 0, 3, true},  {5, 2, 1, 0, 4, false}, {5, 2, 1, 0, 5, false},
        {5, 2, 1, 1, 1, false}, {5, 2, 1, 1, 0, true},  {5, 2, 0, 1, 1, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        px_quota quota = {.links = cases[i].links,
                          .pools = cases[i].pools,
                          .wanting = cases[i].wanting,
                          .starving = cases[i].starving};
        unsigned before = quota.links;
        if (px_quota_claim(&quota, 8, cases[i].count) != cases[i].claimed)
            fail_msg("case %zu", i);
        assert_int_equal(quota.links, before + cases[i].claimed);
        if (!cases[i].claimed)
            continue;
        px_quota_release(&quota);
        assert_int_equal(quota.links, before);
    }
}

static void test_count(void **state)
{
    (void)state;
    _Atomic unsigned counter = 5;
    bool is = false;
    static const struct {
        bool now;
        unsigned counter;
    } steps[] = {{false, 5}, {true, 6}, {true, 6}, {false, 5}, {false, 5}, {true, 6}};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        px_quota_count(&counter, &is, steps[i].now);
        assert_int_equal(is, steps[i].now);
        assert_int_equal(counter, steps[i].counter);
    }
}

/* Loads give way to batches that are on their way, and for a second after if they were many. */
static void test_busy(void **state)
{
    (void)state;
    px_quota quota = {0};
    assert_false(px_quota_is_busy(&quota, 500));
    px_quota_fly(&quota);
    px_quota_fly(&quota);
    assert_true(px_quota_is_busy(&quota, 500));
    px_quota_land(&quota, 5000);
    assert_true(px_quota_is_busy(&quota, 50000));
    px_quota_land(&quota, 6000);
    assert_false(px_quota_is_busy(&quota, 6000));
    for (unsigned i = 0; i < 2 * PX_QUOTA_FEW; i++) { /* one a second */
        px_quota_fly(&quota);
        px_quota_land(&quota, 7000 + 1000 * i);
        assert_false(px_quota_is_busy(&quota, 7000 + 1000 * i));
    }
    for (unsigned i = 0; i < PX_QUOTA_FEW; i++) {
        assert_false(px_quota_is_busy(&quota, 50000 + i));
        px_quota_fly(&quota);
        px_quota_land(&quota, 50000 + i);
    }
    assert_true(px_quota_is_busy(&quota, 50999));
    assert_false(px_quota_is_busy(&quota, 51000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_most),  cmocka_unit_test(test_part), cmocka_unit_test(test_claim),
        cmocka_unit_test(test_count), cmocka_unit_test(test_busy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
