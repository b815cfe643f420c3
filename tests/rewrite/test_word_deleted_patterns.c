/* Statements of tables that patterns name, with a word left out, or twice: also what is sent behind
 * them, which asks the server what such a table is like. */
#include "tests/protocol/value_vectors.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "word_deleted_statement.h"
#include "pattern_tables.h"

static void judge_line(const vector_line *line)
{
    word_deleted_some(line->fields[0], 0, 1, judge);
}

static void every_text_holds(void **state)
{
    (void)state;
    static const rw_table *const tables[] = {&there};
    const rw_table *pointers[PATTERNS];
    for (size_t i = 0; i < PATTERNS; i++)
        pointers[i] = &patterns[i];
    const rw_catalog planned = {.tables = pointers, .count = PATTERNS};
    const rw_catalog known = {.tables = tables, .count = 1, .planned = &planned};
    env = &test_env;
    catalog = &known;
    vector_each(VECTORS "/patterns.txt", judge_line);
    assert_in_range(word_deleted_count, 1000, 1000000);
}

int main(int argc, char **argv)
{
    return word_deleted_main(argc, argv, every_text_holds);
}
