/* Statements of the other tests with a word left out, or twice, before a session. */
#include "rewrite/lex/splitter.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "left_out_statement.h"
#include "planned.h"

static const struct {
    const char *name, *path;
    size_t every; /* so many words' step: there are many that are alike */
} files[] = {{"explain", VECTORS "/explain.sql", 1},
             {"define", VECTORS "/define.sql", 1},
             {"lookups", VECTORS "/lookups.sql", 2},
             {"stars", VECTORS "/stars.sql", 2}};

static test_planned planned;

/* The same tables as they are on a server, in partitions or not, their hash columns hidden from who
 * names them, and from who asks PostgreSQL's catalog. */
static void hide(void)
{
    static rw_table tables[TEST_TABLE_COUNT];
    static const rw_table *pointers[TEST_TABLE_COUNT];
    for (size_t i = 0; i < TEST_TABLE_COUNT; i++) {
        tables[i] = test_tables[i];
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

static void add_statements(const char *name, const char *path, size_t every, pgw_buf *out)
{
    char *bytes = left_out_read(path);
    pgw_slice text = pgw_slice_str(bytes);
    rw_lexer lexer;
    rw_piece piece;
    rw_lexer_init(&lexer, text, true);
    for (size_t i = 1; rw_split_next(&lexer, &piece); i++) {
        pgw_buf_addf(out, "%s %zu", name, i);
        left_out_variants((pgw_slice){text.ptr + piece.start, piece.end - piece.start}, every,
                          describe, out);
        pgw_buf_add_byte(out, '\n');
    }
    free(bytes);
}

/* Each line is a text, maybe of several statements. */
static void add_lines(pgw_buf *out)
{
    left_out_lines(VECTORS "/left_out.sql", "left_out", 0, 1, describe, out);
}

static char *all(void)
{
    pgw_buf out = {0};
    env = &test_env;
    catalog = test_planned_catalog(&planned);
    add_lines(&out);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        add_statements(files[i].name, files[i].path, files[i].every, &out);
    hide();
    add_lines(&out);
    add_statements("hidden", VECTORS "/system_catalog.sql", 1, &out);
    add_statements("hidden stars", VECTORS "/stars.sql", 3, &out);
    pgw_buf_add_byte(&out, '\0');
    return out.ptr;
}

static void nothing_changes_unseen(void **state)
{
    (void)state;
    assert_true(left_out_same(VECTORS "/left_out.txt", all));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_changes_unseen)};
    return left_out_asked(argc, argv, all) ? 0 : cmocka_run_group_tests(tests, NULL, NULL);
}
