#define _GNU_SOURCE
/* Log lines, as they come out of stderr. */
#include "tests/proxy/logged.h"

#include <float.h>
#include <limits.h>
#include <regex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static void expect(const char *line)
{
    assert_string_equal(logged_line(), line);
}

/* time() is of a coarser clock, a few milliseconds behind. */
static time_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    return time.tv_sec;
}

static void lines_begin_with_the_time(void **state)
{
    (void)state;
    time_t before = now();
    px_log(CFG_LOG_INFO, "ready", "a=b");
    time_t after = now();
    regex_t form;
    const char *line = logged();
    assert_int_equal(regcomp(&form,
                             "^time=[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}"
                             "\\.[0-9]{3}Z level=info event=ready a=b\n$",
                             REG_EXTENDED),
                     0);
    assert_int_equal(regexec(&form, line, 0, NULL, 0), 0);
    regfree(&form);
    struct tm utc = {0};
    assert_non_null(strptime(line, "time=%Y-%m-%dT%H:%M:%S", &utc));
    time_t told = timegm(&utc);
    assert_true(told >= before && told <= after);
}

static void every_conversion_is_known(void **state)
{
    (void)state;
    px_log(CFG_LOG_INFO, "x", "s=%s u=%u d=%d zu=%zu lu=%lu llu=%llu ld=%ld f=%.1f", "text",
           UINT_MAX, INT_MIN, SIZE_MAX, ULONG_MAX, ULLONG_MAX, LONG_MIN, 0.25);
    expect("level=info event=x s=text u=4294967295 d=-2147483648 zu=18446744073709551615 "
           "lu=18446744073709551615 llu=18446744073709551615 ld=-9223372036854775808 f=0.2\n");
}

static void fields_keep_their_place(void **state)
{
    (void)state;
    px_log(CFG_LOG_INFO, "x", "a=%s:%u b= c=%s-%s d=e", "h", 5u, "p", "q");
    expect("level=info event=x a=h:5 b=\"\" c=p-q d=e\n");
    px_log(CFG_LOG_INFO, "x", "a=%u   b=%u", 1u, 2u);
    expect("level=info event=x a=1 b=2\n");
}

static void a_value_cannot_end_its_field(void **state)
{
    (void)state;
    px_log(CFG_LOG_INFO, "x", "a=%s b=%s", "one two", "x\ny=\"z\"");
    const char *line = logged();
    assert_non_null(strstr(line, " a=\"one two\" b=\"x"));
    assert_ptr_equal(strchr(line, '\n'), line + strlen(line) - 1);
}

static void only_what_matters_is_logged(void **state)
{
    (void)state;
    static const char *const names[] = {"error", "warn", "info", "debug"};
    for (int threshold = CFG_LOG_ERROR; threshold <= CFG_LOG_DEBUG; threshold++) {
        px_log_level((cfg_log_level)threshold);
        for (int level = CFG_LOG_ERROR; level <= CFG_LOG_DEBUG; level++) {
            char line[64];
            snprintf(line, sizeof line, "level=%s event=x a=b\n", names[level]);
            px_log((cfg_log_level)level, "x", "a=b");
            if (level <= threshold)
                expect(line);
            else
                assert_string_equal(logged(), "");
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(lines_begin_with_the_time, redirect_log, restore_log),
        cmocka_unit_test_setup_teardown(every_conversion_is_known, redirect_log, restore_log),
        cmocka_unit_test_setup_teardown(fields_keep_their_place, redirect_log, restore_log),
        cmocka_unit_test_setup_teardown(a_value_cannot_end_its_field, redirect_log, restore_log),
        cmocka_unit_test_setup_teardown(only_what_matters_is_logged, redirect_log, restore_log),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
