/* Statements that are seldom, with a word left out, or twice, before tables of which anything may
 * be true, and catalogs of which more may be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "any_tables.h"
#include "left_out_statement.h"

enum { ROUNDS = 6 };

static any_tables tables;

/* Each round has other words of each text. */
static void add_lines(unsigned round, pgw_buf *out)
{
    char title[16];
    snprintf(title, sizeof title, "%u", round);
    left_out_lines(VECTORS "/left_out_more.sql", title, round, ROUNDS, describe, out);
}

/* In the first round all is hidden: each other table is in partitions. */
static void hide(void)
{
    for (size_t i = 0; i < TEST_TABLE_COUNT; i++) {
        tables.tables[i].strict = tables.tables[i].looked_up = true;
        tables.tables[i].shows_hash = tables.tables[i].listed = false;
        tables.tables[i].in_parts = i % 2 == 0;
    }
    tables.catalog.unqualified = NULL;
}

static char *all(void)
{
    pgw_buf out = {0};
    for (unsigned round = 0; round < ROUNDS; round++) {
        any_tables_make(&tables, 100 + round);
        if (round == 0)
            hide();
        tables.catalog.executes = round % 2 == 1;
        tables.catalog.informs = round % 3 == 1;
        catalog = &tables.catalog;
        env = &tables.env;
        add_lines(round, &out);
    }
    pgw_buf_add_byte(&out, '\0');
    return out.ptr;
}

static void nothing_changes_unseen(void **state)
{
    (void)state;
    assert_true(left_out_same(VECTORS "/left_out_more.txt", all));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_changes_unseen)};
    return left_out_asked(argc, argv, all) ? 0 : cmocka_run_group_tests(tests, NULL, NULL);
}
