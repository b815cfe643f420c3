/* Statements of the other tests with a word left out, or twice, before a session. */
#include "rewrite/lex/splitter.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "word_deleted_statement.h"
#include "planned.h"

static const struct {
    const char *path;
    size_t every; /* so many words' step: there are many that are alike */
} files[] = {{VECTORS "/explain.sql", 1},
             {VECTORS "/define.sql", 1},
             {VECTORS "/lookups.sql", 2},
             {VECTORS "/stars.sql", 2}};

static test_planned planned;

/* The same tables as they are on a server, in partitions or not, their hash columns hidden from who
 * names them, and from who asks PostgreSQL's catalog. */
static void hide(void)
{
    static rw_table tables[TEST_TABLE_COUNT];
    static rw_column columns[TEST_TABLE_COUNT][TEST_MOST_COLUMNS];
    static const rw_table *pointers[TEST_TABLE_COUNT];
    for (size_t i = 0; i < TEST_TABLE_COUNT; i++) {
        tables[i] = test_tables[i];
        test_tell_columns(&tables[i], columns[i]);
        tables[i].oid = (uint32_t)(4711 + i);
        tables[i].strict = i % 4 != 3;
        tables[i].in_parts = i % 3 == 0;
        tables[i].heeds_updates = i % 5 == 1;
        tables[i].moves_keys = i % 5 == 2;
        tables[i].listed = i == 2;
        tables[i].shows_hash = i == 7;
        tables[i].last = (int16_t)(i == 0 ? 9 : 4);
        tables[i].part_names = (char *)(i == 0 ? "part\1part_pkey\1events_pkey\2" : NULL);
        pointers[i] = &tables[i];
    }
    static rw_catalog hidden;
    hidden =
        (rw_catalog){.tables = pointers, .count = TEST_TABLE_COUNT, .planned = &planned.planned};
    catalog = &hidden;
}

static void judge_statements(const char *path, size_t every)
{
    char *bytes = word_deleted_read(path);
    pgw_slice text = pgw_slice_str(bytes);
    rw_lexer lexer;
    rw_piece piece;
    rw_lexer_init(&lexer, text, true);
    while (rw_split_next(&lexer, &piece))
        word_deleted_some((pgw_slice){text.ptr + piece.start, piece.end - piece.start}, 0, every,
                          judge);
    free(bytes);
}

/* Each line is a text, maybe of several statements. */
static void judge_lines(void)
{
    word_deleted_lines(VECTORS "/left_out.sql", 0, 1, judge);
}

static void every_text_holds(void **state)
{
    (void)state;
    env = &test_env;
    catalog = test_planned_catalog(&planned);
    judge_lines();
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        judge_statements(files[i].path, files[i].every);
    hide();
    judge_lines();
    judge_statements(VECTORS "/system_catalog.sql", 1);
    judge_statements(VECTORS "/stars.sql", 3);
    assert_in_range(word_deleted_count, 10000, 1000000);
}

int main(int argc, char **argv)
{
    return word_deleted_main(argc, argv, every_text_holds);
}
