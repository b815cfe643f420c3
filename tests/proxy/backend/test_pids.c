/* The process ids that clients were told, and whose they are. */
#include "proxy/backend/base/pids.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { FIRST_VIRTUAL = 4194305, LAST = INT32_MAX };

static px_pids *pids;

static int setup(void **state)
{
    (void)state;
    pids = px_pids_new();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    px_pids_free(pids);
    return 0;
}

static void expect(uint32_t pid, unsigned worker, size_t slot)
{
    px_place place = {99, 99};
    assert_true(px_pids_find(pids, pid, &place));
    assert_int_equal(place.worker, worker);
    assert_int_equal(place.slot, slot);
}

static void expect_none(uint32_t pid)
{
    px_place place = {98, 99};
    assert_false(px_pids_find(pids, pid, &place));
    assert_int_equal(place.worker, 98); /* as it was */
}

static void one_is_found_until_it_is_dropped(void **state)
{
    (void)state;
    assert_true(px_pids_take(pids, 1000, (px_place){1, 2}));
    assert_true(px_pids_take(pids, 1064, (px_place){3, 4})); /* in the same slot */
    expect(1000, 1, 2);
    expect(1064, 3, 4);
    expect_none(1128);
    px_pids_drop(pids, 1000);
    expect_none(1000);
    expect(1064, 3, 4);
    px_pids_drop(pids, 1000);
    px_pids_drop(pids, 0);
    expect(1064, 3, 4);
}

static void nobody_takes_what_is_taken_or_is_none(void **state)
{
    (void)state;
    assert_true(px_pids_take(pids, 7, (px_place){1, 1}));
    assert_false(px_pids_take(pids, 7, (px_place){2, 2}));
    expect(7, 1, 1);
    assert_false(px_pids_take(pids, 0, (px_place){1, 1}));
    assert_false(px_pids_take(pids, UINT32_C(1) << 31, (px_place){1, 1}));
    assert_true(px_pids_take(pids, LAST, (px_place){4, 4}));
    px_pids_drop(pids, 7);
    assert_true(px_pids_take(pids, 7, (px_place){2, 2}));
    expect(7, 2, 2);
}

static void virtual_ones_stand_above_all_processes(void **state)
{
    (void)state;
    assert_int_equal(px_pids_take_virtual(pids, (px_place){1, 1}), FIRST_VIRTUAL);
    assert_true(px_pids_take(pids, FIRST_VIRTUAL + 1, (px_place){2, 2}));
    assert_int_equal(px_pids_take_virtual(pids, (px_place){3, 3}), FIRST_VIRTUAL + 2);
    px_pids_drop(pids, FIRST_VIRTUAL);
    assert_int_equal(px_pids_take_virtual(pids, (px_place){4, 4}), FIRST_VIRTUAL + 3);
    expect(FIRST_VIRTUAL + 2, 3, 3);
    expect(FIRST_VIRTUAL + 3, 4, 4);
}

static void there_may_be_many(void **state)
{
    (void)state;
    enum { MANY = 3000 };
    for (unsigned i = 1; i <= MANY; i++)
        assert_true(px_pids_take(pids, i * 64, (px_place){i, i + 1}));
    for (unsigned i = 1; i <= MANY; i += 2)
        px_pids_drop(pids, i * 64);
    for (unsigned i = 1; i <= MANY; i++)
        if (i % 2 == 1)
            expect_none(i * 64);
        else
            expect(i * 64, i, i + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(one_is_found_until_it_is_dropped, setup, teardown),
        cmocka_unit_test_setup_teardown(nobody_takes_what_is_taken_or_is_none, setup, teardown),
        cmocka_unit_test_setup_teardown(virtual_ones_stand_above_all_processes, setup, teardown),
        cmocka_unit_test_setup_teardown(there_may_be_many, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
