/* The usual form of a timestamptz is read as every other one, or not at all. */
#include "protocol/value_time.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const pgw_env env = {.utf8 = true, .zone_known = true, .conforming = true};

/* The day of the last usual text, whatever text it was. */
static pgw_day last_day;

static bool reads_alike(const char *text, bool *usual)
{
    pgw_error error;
    pgw_value value;
    int64_t usecs, again;
    pgw_slice slice = pgw_slice_str(text);
    *usual = pgw_time_usual(slice, &usecs);
    if (slice.len == PGW_TIME_USUAL &&
        (pgw_time_usual_at(text, &last_day, &again) != *usual || (*usual && again != usecs)))
        return false;
    return !*usual || (pgw_time_in(PGW_TIMESTAMPTZ, slice, &env, &value, &error) == PGW_KNOWN &&
                       value.as.integer == usecs);
}

static void all_days_are_read_alike(void **state)
{
    (void)state;
    char text[96];
    bool usual;
    size_t count = 0;
    for (int year = 990; year < 10000; year += year % 100 == 3 ? 7 : 13)
        for (int month = 0; month < 14; month++)
            for (int day = 0; day < 33; day += 1 + day % 3) {
                snprintf(text, sizeof text, "%04d-%02d-%02d %02d:%02d:%02d+%02d", year, month, day,
                         (year + day) % 26, (year * month) % 62, (year + month) % 62,
                         (year * day) % 17);
                assert_true(reads_alike(text, &usual));
                count += usual;
            }
    assert_true(count > 10000);
}

static void times_of_one_day_are_read_alike(void **state)
{
    (void)state;
    char text[96];
    bool usual;
    for (int i = 0; i < 10000; i++) {
        snprintf(text, sizeof text, "2026-0%d-3%d %02d:%02d:%02d+%02d", i % 7 == 0 ? 2 : 1,
                 i % 11 == 0, i % 25, i % 61, i % 62, i % 5 == 0);
        assert_true(reads_alike(text, &usual));
        assert_int_equal(usual, i % 7 != 0 && i % 25 < 24 && i % 61 < 60 && i % 62 < 60);
    }
}

/* Each byte of it in the place of each other. */
static void other_forms_are_not_usual(void **state)
{
    (void)state;
    const char good[] = "2026-01-02 03:04:05+06";
    char text[sizeof good];
    bool usual;
    for (size_t i = 0; i < sizeof good - 1; i++)
        for (int byte = 1; byte < 256; byte++) {
            memcpy(text, good, sizeof good);
            text[i] = (char)byte;
            assert_true(reads_alike(text, &usual));
            bool digit = good[i] >= '0' && good[i] <= '9' && byte >= '0' && byte <= '9';
            assert_true(!usual || digit || byte == good[i]);
        }
    assert_true(reads_alike(good, &usual) && usual);
    assert_true(reads_alike("2026-01-02 03:04:05+0", &usual) && !usual);
    assert_true(reads_alike("2026-01-02 03:04:05+06 ", &usual) && !usual);
    assert_true(reads_alike("", &usual) && !usual);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_days_are_read_alike),
        cmocka_unit_test(times_of_one_day_are_read_alike),
        cmocka_unit_test(other_forms_are_not_usual),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
