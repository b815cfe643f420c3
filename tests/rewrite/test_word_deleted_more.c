/* Statements that are seldom, with a word left out, or twice, before tables of which anything may
 * be true, and catalogs of which more may be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "any_tables.h"
#include "word_deleted_statement.h"

enum { ROUNDS = 6 };

static any_tables tables;

/* Each round has other words of each text. */
static void judge_lines(unsigned round)
{
    word_deleted_lines(VECTORS "/left_out_more.sql", round, ROUNDS, judge);
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

static void every_text_holds(void **state)
{
    (void)state;
    for (unsigned round = 0; round < ROUNDS; round++) {
        any_tables_make(&tables, 100 + round);
        if (round == 0)
            hide();
        tables.catalog.executes = round % 2 == 1;
        tables.catalog.informs = round % 3 == 1;
        catalog = &tables.catalog;
        env = &tables.env;
        judge_lines(round);
    }
    assert_in_range(word_deleted_count, 1000, 1000000);
}

int main(int argc, char **argv)
{
    return word_deleted_main(argc, argv, every_text_holds);
}
