/* Who gets a link of the process, in which order: as tables of steps. */
#include "proxy/base/seats.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SEATS = 16, MOST = 3 };

static struct {
    px_seats seats;
    px_seat all[SEATS];
    char called[256]; /* their numbers, in the order in which they were called */
} here;

static void note_call(px_seat *seat)
{
    char *end = here.called + strlen(here.called);
    snprintf(end, sizeof here.called - strlen(here.called), " %d", (int)(seat - here.all));
}

static int begin(void **state)
{
    (void)state;
    memset(&here, 0, sizeof here);
    for (int i = 0; i < SEATS; i++)
        here.all[i] = (px_seat){.kind = PX_SEAT_SESSION, .whose = &here, .call = note_call};
    return 0;
}

static bool take(int i)
{
    return px_seats_take(&here.seats, &here.all[i], MOST);
}

static void leave(int i)
{
    px_seats_leave(&here.seats, &here.all[i], MOST);
}

/* Those who were called since the last time, and took what they were called for. */
static void expect_called(const char *numbers)
{
    assert_string_equal(here.called, numbers);
    here.called[0] = '\0';
    while (px_seats_called(&here.seats, &here) != NULL)
        continue;
}

static void expect_counts(unsigned links, unsigned session_links)
{
    assert_int_equal(atomic_load(&here.seats.links), links);
    assert_int_equal(atomic_load(&here.seats.session_links), session_links);
}

static void who_asked_first_is_first(void **state)
{
    (void)state;
    assert_true(take(0));
    assert_true(take(1));
    for (int i = 2; i < 7; i++)
        assert_false(take(i)); /* sessions leave one */
    expect_counts(2, 2);
    for (int i = 6; i > 1; i--)
        assert_false(take(i)); /* asking again changes nothing */
    leave(1);
    expect_called(" 2");
    leave(0);
    expect_called(" 3");
    leave(2);
    leave(3);
    expect_called(" 4 5");
    expect_counts(2, 2);
}

static void who_comes_later_is_no_faster(void **state)
{
    (void)state;
    assert_true(take(0) && take(1));
    assert_false(take(2));
    leave(0);
    assert_false(take(3)); /* 2 was called, though it has not come yet */
    assert_true(take(2));
    assert_null(px_seats_called(&here.seats, &here));
    expect_counts(2, 2);
}

static void who_leaves_holds_up_nobody(void **state)
{
    (void)state;
    assert_true(take(0) && take(1));
    for (int i = 2; i < 6; i++)
        assert_false(take(i));
    leave(2);
    leave(4);
    expect_called("");
    leave(0);
    assert_string_equal(here.called, " 3");
    leave(3); /* before it has come */
    expect_called(" 3 5");
    leave(3);
    leave(4);
    expect_counts(2, 2);
    leave(1);
    leave(5);
    expect_counts(0, 0);
    expect_called("");
}

static void each_worker_takes_its_own(void **state)
{
    (void)state;
    int other;
    assert_true(take(0) && take(1));
    here.all[2].whose = &other;
    assert_false(take(2) || take(3));
    leave(0);
    leave(1);
    assert_string_equal(here.called, " 2 3");
    assert_ptr_equal(px_seats_called(&here.seats, &here), &here.all[3]);
    assert_null(px_seats_called(&here.seats, &here));
    assert_ptr_equal(px_seats_called(&here.seats, &other), &here.all[2]);
    expect_counts(2, 2);
}

static void sessions_hold_up_no_others(void **state)
{
    (void)state;
    here.all[5].kind = here.all[6].kind = PX_SEAT_BATCH;
    here.all[7].kind = PX_SEAT_LOOK;
    assert_true(take(0) && take(1));
    assert_false(take(2));
    assert_true(take(5)); /* what they leave */
    assert_false(take(6) || take(3) || take(7));
    leave(0);
    expect_called(" 7"); /* everybody waits for that */
    leave(1);
    expect_called(" 2"); /* it came before 6 */
    leave(5);
    expect_called(" 6");
    leave(7);
    expect_called(" 3");
    expect_counts(3, 2);
}

static void a_borrower_may_have_the_last(void **state)
{
    (void)state;
    assert_true(take(0) && take(1));
    assert_false(take(2) || take(3) || take(4));
    px_seats_borrow(&here.seats, &here.all[4]);
    px_seats_borrow(&here.seats, &here.all[3]);
    assert_true(take(3)); /* it has asked earlier */
    assert_false(take(4) || take(2));
    expect_counts(3, 3);
    leave(3);
    expect_called(" 4");
    leave(0);
    expect_called("");
    leave(4);
    expect_called(" 2");
    expect_counts(2, 2);
}

static void what_is_spare_is_nobodys(void **state)
{
    (void)state;
    assert_true(px_seats_take_spare(&here.seats, &here.all[0], 1, MOST));
    assert_false(px_seats_take_spare(&here.seats, &here.all[1], 1, MOST));
    assert_true(px_seats_take_spare(&here.seats, &here.all[1], MOST, MOST));
    assert_false(px_seats_take_spare(&here.seats, &here.all[2], MOST, MOST)); /* sessions' */
    leave(2);
    expect_counts(2, 2);
}

/* After a reload. */
static void there_may_be_more_or_fewer(void **state)
{
    (void)state;
    assert_true(take(0) && take(1));
    assert_false(take(2) || take(3) || take(4));
    assert_false(px_seats_take(&here.seats, &here.all[4], 5));
    expect_called(" 2 3");
    px_seats_leave(&here.seats, &here.all[0], 2);
    px_seats_leave(&here.seats, &here.all[1], 2);
    expect_called("");
    px_seats_leave(&here.seats, &here.all[2], 2);
    px_seats_leave(&here.seats, &here.all[3], 2);
    expect_called(" 4");
    expect_counts(1, 1);
}

#define TEST(name) cmocka_unit_test_setup(name, begin)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(who_asked_first_is_first),   TEST(who_comes_later_is_no_faster),
        TEST(who_leaves_holds_up_nobody), TEST(each_worker_takes_its_own),
        TEST(sessions_hold_up_no_others), TEST(a_borrower_may_have_the_last),
        TEST(what_is_spare_is_nobodys),   TEST(there_may_be_more_or_fewer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
