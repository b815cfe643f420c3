/* Statements of the other tests with a word left out, or twice, as SQL's PREPARE keeps them, before
 * tables as they are on a server: what their keys are compared with is then computed there. */
#include "rewrite/lex/splitter.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "left_out_statement.h"
#include "tables.h"

enum { EVERY = 5 }; /* words' step: there are many that are alike */

/* The functions that a server may have, or not. */
static const rw_hash_function functions[] = {RW_XXH3, RW_PG_HASH, RW_XXH3, RW_CITYHASH64};

static rw_catalog on_a_server(void)
{
    static rw_table tables[TEST_TABLE_COUNT];
    static const rw_table *pointers[TEST_TABLE_COUNT];
    for (size_t i = 0; i < TEST_TABLE_COUNT; i++) {
        tables[i] = test_tables[i];
        tables[i].oid = (uint32_t)(4711 + i);
        tables[i].hash_function = functions[i % (sizeof functions / sizeof *functions)];
        tables[i].hash_type = i == 7 ? RW_HASH_UINT64 : RW_HASH_INT8;
        pointers[i] = &tables[i];
    }
    return (rw_catalog){.tables = pointers, .count = TEST_TABLE_COUNT};
}

/* Nothing is said of the parameters' types, or the first of them. */
static void add_kept(const char *prepare, pgw_slice statement, pgw_buf *out)
{
    pgw_buf text = {0};
    pgw_buf_add_str(&text, prepare);
    pgw_buf_add_slice(&text, statement);
    left_out_variants(pgw_slice_buf(&text), EVERY, describe, out);
    pgw_buf_free(&text);
}

static char *all(void)
{
    pgw_buf out = {0};
    char *bytes = left_out_read(VECTORS "/lookups.sql");
    pgw_slice text = pgw_slice_str(bytes);
    const rw_catalog server = on_a_server();
    rw_lexer lexer;
    rw_piece piece;
    env = &test_env;
    catalog = &server;
    rw_lexer_init(&lexer, text, true);
    for (size_t i = 1; rw_split_next(&lexer, &piece); i++) {
        pgw_slice statement = {text.ptr + piece.start, piece.end - piece.start};
        pgw_buf_addf(&out, "%zu", i);
        add_kept("PREPARE p AS ", statement, &out);
        add_kept("PREPARE p (bigint, text) AS ", statement, &out);
        pgw_buf_add_byte(&out, '\n');
    }
    free(bytes);
    pgw_buf_add_byte(&out, '\0');
    return out.ptr;
}

static void nothing_changes_unseen(void **state)
{
    (void)state;
    assert_true(left_out_same(VECTORS "/left_out_kept.txt", all));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_changes_unseen)};
    return left_out_asked(argc, argv, all) ? 0 : cmocka_run_group_tests(tests, NULL, NULL);
}
