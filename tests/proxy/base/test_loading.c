/* How far COPYs have come that are under way, as the administrator is told. */
#include "proxy/base/loading.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* What is told, less the times. */
static char *told(px_loading *loading)
{
    pgw_buf page = {0}, out = {0};
    px_loading_write(loading, &page);
    pgw_buf_add_byte(&page, '\0');
    for (char *line = strtok(page.ptr, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        size_t fields = 0, len = 0;
        for (; line[len] != '\0' && fields < 6; len++)
            fields += line[len] == '\t';
        pgw_buf_add(&out, line, len);
        pgw_buf_add_byte(&out, '\n');
    }
    pgw_buf_add_byte(&out, '\0');
    pgw_buf_free(&page);
    return out.ptr;
}

#define NAMES "pid\tdatname\trelname\tmode\tbytes_processed\ttuples_processed\t\n"

static void check(px_loading *loading, const char *expected)
{
    char *lines = told(loading);
    assert_string_equal(lines, expected);
    free(lines);
}

static void those_under_way_are_told(void **state)
{
    (void)state;
    px_loading *loading = px_loading_new();
    check(loading, NAMES);
    px_loading_copy *first = px_loading_begin(loading, 7, "shop", "events", "atomic");
    px_loading_copy *second = px_loading_begin(loading, 8, "a\tb", "c\nd", "partition");
    px_loading_copy *third = px_loading_begin(loading, 9, "shop", "more", "atomic");
    px_loading_more(first, 100, 2);
    px_loading_more(first, 50, 1);
    check(loading, NAMES "7\tshop\tevents\tatomic\t150\t3\t\n8\ta?b\tc?d\tpartition\t0\t0\t\n"
                         "9\tshop\tmore\tatomic\t0\t0\t\n");
    px_loading_end(loading, second);
    check(loading, NAMES "7\tshop\tevents\tatomic\t150\t3\t\n9\tshop\tmore\tatomic\t0\t0\t\n");
    px_loading_end(loading, first);
    px_loading_end(loading, third);
    check(loading, NAMES);
    px_loading_free(loading);
}

static void without_a_list_nothing_is_told(void **state)
{
    (void)state;
    px_loading_copy *copy = px_loading_begin(NULL, 7, "shop", "events", "atomic");
    assert_null(copy);
    px_loading_more(copy, 1, 1);
    px_loading_end(NULL, copy);
    px_loading_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(those_under_way_are_told),
        cmocka_unit_test(without_a_list_nothing_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
