/* The lines of explain, whole. */
#include "rewrite/read/explain.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "exact.h"
#include "tables.h"

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    pgw_buf text = {0};
    char part[4096];
    for (size_t len; (len = fread(part, 1, sizeof part, file)) > 0;)
        pgw_buf_add(&text, part, len);
    fclose(file);
    pgw_buf_add_byte(&text, '\0');
    return text.ptr;
}

static char *explain(const char *text)
{
    const rw_table *pointers[TEST_TABLE_COUNT];
    rw_catalog catalog = test_catalog(pointers);
    pgw_buf out = {0};
    rw_explain(exact(text), &catalog, &test_env, &out);
    pgw_buf_add_byte(&out, '\0');
    return out.ptr;
}

static void every_statement_is_explained(void **state)
{
    (void)state;
    static const char *const files[][2] = {{VECTORS "/explain.sql", VECTORS "/explain.txt"},
                                           {VECTORS "/lookups.sql", VECTORS "/lookups.txt"}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char *text = read_file(files[i][0]);
        char *expected = read_file(files[i][1]);
        char *lines = explain(text);
        assert_string_equal(lines, expected);
        free(text);
        free(expected);
        free(lines);
    }
}

static void nothing_is_explained_by_nothing(void **state)
{
    (void)state;
    static const char *const texts[] = {"", " ; ;", "-- nothing"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char *lines = explain(texts[i]);
        assert_string_equal(lines, "");
        free(lines);
    }
}

/* Each line is one line, whatever the statement holds. */
static void values_stay_on_their_line(void **state)
{
    (void)state;
    char *lines = explain("SELECT 'a\r\n\\n'\n, 1");
    assert_non_null(strstr(lines, "original: SELECT 'a\\r\\n\\\\n'\\n, 1\n"));
    assert_non_null(strstr(lines, "rewritten: SELECT 'a\\r\\n\\\\n'\\n, 1\n"));
    free(lines);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_statement_is_explained),
        cmocka_unit_test(nothing_is_explained_by_nothing),
        cmocka_unit_test(values_stay_on_their_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
