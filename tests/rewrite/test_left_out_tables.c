/* Statements of the other tests with a word left out, or twice, before tables of which anything may
 * be true: each round has other ones, and other words. */
#include "rewrite/lex/splitter.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "any_tables.h"
#include "left_out_statement.h"

enum { ROUNDS = 12 };

static const char *const files[] = {"explain", "define", "lookups", "stars", "system_catalog"};

static any_tables tables;

static void add_file(const char *name, unsigned round, pgw_buf *out)
{
    char path[256];
    snprintf(path, sizeof path, VECTORS "/%s.sql", name);
    char *bytes = left_out_read(path);
    pgw_slice text = pgw_slice_str(bytes);
    rw_lexer lexer;
    rw_piece piece;
    rw_lexer_init(&lexer, text, true);
    pgw_buf_addf(out, "%u %s", round, name);
    while (rw_split_next(&lexer, &piece))
        left_out_some((pgw_slice){text.ptr + piece.start, piece.end - piece.start}, round, ROUNDS,
                      describe, out);
    pgw_buf_add_byte(out, '\n');
    free(bytes);
}

/* Each line is a text, maybe of several statements. */
static void add_lines(unsigned round, pgw_buf *out)
{
    char *text = left_out_read(VECTORS "/left_out.sql"), *rest;
    pgw_buf_addf(out, "%u left_out", round);
    for (char *line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest))
        left_out_some(pgw_slice_str(line), round, ROUNDS, describe, out);
    pgw_buf_add_byte(out, '\n');
    free(text);
}

static char *all(void)
{
    pgw_buf out = {0};
    for (unsigned round = 0; round < ROUNDS; round++) {
        any_tables_make(&tables, round);
        catalog = &tables.catalog;
        env = &tables.env;
        for (size_t i = 0; i < sizeof files / sizeof *files; i++)
            add_file(files[i], round, &out);
        add_lines(round, &out);
    }
    pgw_buf_add_byte(&out, '\0');
    return out.ptr;
}

static void nothing_changes_unseen(void **state)
{
    (void)state;
    assert_true(left_out_same(VECTORS "/left_out_tables.txt", all));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_changes_unseen)};
    return left_out_asked(argc, argv, all) ? 0 : cmocka_run_group_tests(tests, NULL, NULL);
}
