/* Which statements read whole tables most: counted by all, told once, and bounded. */
#include "proxy/base/scans.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* What the log says of them, without its times; freed by free(). */
static char *told(px_scans *scans)
{
    int pipes[2], log = dup(STDERR_FILENO);
    char lines[8192], *out = calloc(1, sizeof lines);
    assert_int_equal(pipe(pipes), 0);
    dup2(pipes[1], STDERR_FILENO);
    px_scans_log(scans);
    dup2(log, STDERR_FILENO);
    close(log);
    close(pipes[1]);
    ssize_t len = read(pipes[0], lines, sizeof lines - 1);
    close(pipes[0]);
    lines[len > 0 ? len : 0] = '\0';
    for (char *line = strtok(lines, "\n"); line != NULL; line = strtok(NULL, "\n"))
        strcat(strcat(out, strstr(line, "event=")), "\n");
    return out;
}

static void note(px_scans *scans, const char *table, const char *shape, unsigned times)
{
    while (times-- > 0)
        px_scans_note(scans, table, shape);
}

static void the_most_are_told_first_and_once(void **state)
{
    (void)state;
    px_scans *scans = px_scans_new();
    char shape[32];
    for (unsigned i = 1; i <= 12; i++) {
        snprintf(shape, sizeof shape, "select %u", i);
        note(scans, "public.a", shape, i);
    }
    note(scans, "public.b", "select 1", 20);
    char *lines = told(scans);
    assert_int_equal(strncmp(lines,
                             "event=table_scanned table=public.b times=20 shape=\"select 1\"\n"
                             "event=table_scanned table=public.a times=12 shape=\"select 12\"\n",
                             strlen("event=table_scanned table=public.b times=20 shape=\"select 1\"\n")),
                     0);
    assert_non_null(strstr(lines, "times=4 shape=\"select 4\"\n"));
    assert_null(strstr(lines, "times=3 "));
    free(lines);
    lines = told(scans);
    assert_string_equal(lines, "");
    free(lines);
    px_scans_free(scans);
}

static void what_is_met_often_is_not_lost(void **state)
{
    (void)state;
    px_scans *scans = px_scans_new();
    char shape[32];
    for (unsigned i = 0; i < 20 * PX_SCANS_KEPT; i++) {
        snprintf(shape, sizeof shape, "select %u", i);
        px_scans_note(scans, "t", shape);
        if (i % 8 == 0)
            px_scans_note(scans, "t", "often");
    }
    char *lines = told(scans);
    assert_int_equal(strncmp(lines, "event=table_scanned table=t times=640 shape=often\n", 50), 0);
    free(lines);
    px_scans_free(scans);
    px_scans_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_most_are_told_first_and_once),
        cmocka_unit_test(what_is_met_often_is_not_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
