/* Statements of the other tests with a word left out, or twice, before tables of which anything may
 * be true: each round has other ones, and other words. */
#include "rewrite/lex/splitter.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "any_tables.h"
#include "word_deleted_statement.h"

enum { ROUNDS = 12 };

static const char *const files[] = {"explain", "define", "lookups", "stars", "system_catalog"};

static any_tables tables;

static void judge_file(const char *name, unsigned round)
{
    char path[256];
    snprintf(path, sizeof path, VECTORS "/%s.sql", name);
    char *bytes = word_deleted_read(path);
    pgw_slice text = pgw_slice_str(bytes);
    rw_lexer lexer;
    rw_piece piece;
    rw_lexer_init(&lexer, text, true);
    while (rw_split_next(&lexer, &piece))
        word_deleted_some((pgw_slice){text.ptr + piece.start, piece.end - piece.start}, round,
                          ROUNDS, judge);
    free(bytes);
}

static void every_text_holds(void **state)
{
    (void)state;
    for (unsigned round = 0; round < ROUNDS; round++) {
        any_tables_make(&tables, round);
        catalog = &tables.catalog;
        env = &tables.env;
        for (size_t i = 0; i < sizeof files / sizeof *files; i++)
            judge_file(files[i], round);
        word_deleted_lines(VECTORS "/left_out.sql", round, ROUNDS, judge);
    }
    assert_in_range(word_deleted_count, 10000, 1000000);
}

int main(int argc, char **argv)
{
    return word_deleted_main(argc, argv, every_text_holds);
}
