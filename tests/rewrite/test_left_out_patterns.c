/* Statements of tables that patterns name, with a word left out, or twice: also what is sent behind
 * them, which asks the server what such a table is like. */
#include "tests/protocol/value_vectors.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "left_out_statement.h"
#include "pattern_tables.h"

static pgw_buf lines;

static void add_line(const vector_line *line)
{
    pgw_buf_addf(&lines, "%u", line->number);
    left_out_variants(line->fields[0], 1, describe, &lines);
    pgw_buf_add_byte(&lines, '\n');
}

static char *all(void)
{
    static const rw_table *const tables[] = {&there};
    const rw_table *pointers[PATTERNS];
    for (size_t i = 0; i < PATTERNS; i++)
        pointers[i] = &patterns[i];
    const rw_catalog planned = {.tables = pointers, .count = PATTERNS};
    const rw_catalog known = {.tables = tables, .count = 1, .planned = &planned};
    lines = (pgw_buf){0};
    env = &test_env;
    catalog = &known;
    vector_each(VECTORS "/patterns.txt", add_line);
    pgw_buf_add_byte(&lines, '\0');
    return lines.ptr;
}

static void nothing_changes_unseen(void **state)
{
    (void)state;
    assert_true(left_out_same(VECTORS "/left_out_patterns.txt", all));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_changes_unseen)};
    return left_out_asked(argc, argv, all) ? 0 : cmocka_run_group_tests(tests, NULL, NULL);
}
