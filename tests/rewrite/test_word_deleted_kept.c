/* Statements of the other tests with a word left out, or twice, as SQL's PREPARE keeps them, before
 * tables as they are on a server: what their keys are compared with is then computed there. */
#include "rewrite/lex/splitter.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "word_deleted_statement.h"
#include "tables.h"

enum { EVERY = 5 }; /* words' step: there are many that are alike */

/* The functions that a server may have, or not. */
static const rw_hash_function functions[] = {RW_XXH3, RW_PG_HASH, RW_XXH3, RW_CITYHASH64};

static rw_catalog on_a_server(void)
{
    static rw_table tables[TEST_TABLE_COUNT];
    static rw_column columns[TEST_TABLE_COUNT][TEST_MOST_COLUMNS];
    static const rw_table *pointers[TEST_TABLE_COUNT];
    for (size_t i = 0; i < TEST_TABLE_COUNT; i++) {
        tables[i] = test_tables[i];
        test_tell_columns(&tables[i], columns[i]);
        tables[i].oid = (uint32_t)(4711 + i);
        tables[i].hash_function = functions[i % (sizeof functions / sizeof *functions)];
        tables[i].hash_type = i == 7 ? RW_HASH_UINT64 : RW_HASH_INT8;
        pointers[i] = &tables[i];
    }
    return (rw_catalog){.tables = pointers, .count = TEST_TABLE_COUNT};
}

/* Nothing is said of the parameters' types, or the first of them. */
static void judge_kept(const char *prepare, pgw_slice statement)
{
    pgw_buf text = {0};
    pgw_buf_add_str(&text, prepare);
    pgw_buf_add_slice(&text, statement);
    word_deleted_some(pgw_slice_buf(&text), 0, EVERY, judge);
    pgw_buf_free(&text);
}

static void every_text_holds(void **state)
{
    (void)state;
    char *bytes = word_deleted_read(VECTORS "/lookups.sql");
    pgw_slice text = pgw_slice_str(bytes);
    const rw_catalog server = on_a_server();
    rw_lexer lexer;
    rw_piece piece;
    env = &test_env;
    catalog = &server;
    rw_lexer_init(&lexer, text, true);
    while (rw_split_next(&lexer, &piece)) {
        pgw_slice statement = {text.ptr + piece.start, piece.end - piece.start};
        judge_kept("PREPARE p AS ", statement);
        judge_kept("PREPARE p (bigint, text) AS ", statement);
    }
    free(bytes);
    assert_in_range(word_deleted_count, 1000, 1000000);
}

int main(int argc, char **argv)
{
    return word_deleted_main(argc, argv, every_text_holds);
}
