/* What is reported of settings while a Query is sent in parts, and what its client is told of it.
 */
#include "proxy/client/core/reports.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "protocol/frame.h"

/* Reports "name before now", one by one; "-": it is not known. Told is "name=value", each behind a
 * blank. */
static const struct {
    const char *reports[5], *told;
} cases[] = {
    {{NULL}, ""},
    {{"a x y"}, " a=y"},
    {{"a x x"}, ""},
    {{"a x y", "a y x"}, ""},
    {{"a x y", "a y z"}, " a=z"},
    {{"a x y", "a y x", "a x y"}, " a=y"},
    {{"a x y", "b x y"}, " a=y b=y"},
    {{"b x y", "a x y", "b y x"}, " a=y"},
    {{"a x y", "ab x y", "b y y", "ab y x"}, " a=y"},
    {{"a x y", "b z w", "c 1 2", "b w v"}, " a=y b=v c=2"},
    /* of which nobody knows what it was, unless it can only have been the other */
    {{"a - x"}, " a=x"},
    {{"a - x", "a - y"}, " a=y"},
    {{"a - x", "a x x"}, " a=x"},
    {{"a - x", "a x on"}, " a=on"},
    {{"a - x", "a x off"}, " a=off"},
    {{"a - on"}, " a=on"},
    {{"a - off"}, " a=off"},
    {{"a - on", "a - off"}, ""},
    {{"a - off", "a - on"}, ""},
    {{"a - off", "a - on", "a - off"}, " a=off"},
    {{"a - on", "b - off", "a - off"}, " b=off"},
    {{"a - o", "a - of"}, " a=of"},
    {{"a off on", "a on off"}, ""},
    {{"a on on"}, ""},
};

static void print_told(pgw_slice rest, pgw_buf *out)
{
    pgw_frame frame;
    while (rest.len > 0) {
        assert_int_equal(pgw_frame_next(rest, &frame), PGW_FRAME_OK);
        assert_int_equal(frame.type, 'S');
        const char *name = pgw_frame_body(rest, frame).ptr;
        pgw_buf_addf(out, " %s=%s", name, name + strlen(name) + 1);
        rest.ptr += frame.size;
        rest.len -= frame.size;
    }
    pgw_buf_add_byte(out, '\0');
}

static void what_ends_otherwise_is_told_once(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        px_reports reports = {0};
        pgw_buf out = {0}, told = {0};
        for (size_t k = 0; k < 5 && cases[i].reports[k] != NULL; k++) {
            char name[8], before[8], now[8];
            assert_int_equal(sscanf(cases[i].reports[k], "%7s %7s %7s", name, before, now), 3);
            px_reports_keep(&reports, pgw_slice_str(name), strcmp(before, "-") ? before : NULL,
                            pgw_slice_str(now));
        }
        px_reports_write(&reports, &out);
        print_told(pgw_slice_buf(&out), &told);
        assert_string_equal(told.ptr, cases[i].told);
        pgw_buf_clear(&out);
        px_reports_free(&reports);
        assert_int_equal(reports.count, 0);
        px_reports_write(&reports, &out);
        assert_int_equal(out.len, 0);
        pgw_buf_free(&out);
        pgw_buf_free(&told);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_ends_otherwise_is_told_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
