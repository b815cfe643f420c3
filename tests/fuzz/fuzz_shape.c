/* Any statement: with other constants, PostgreSQL's grammar must make the same of one shape. */
#include "rewrite/lex/splitter.h"
#include "rewrite/statement/script/shape.h"
#include "rewrite/statement/script/tree.h"
#include "tests/rewrite/mutants.h"
#include "tests/rewrite/tables.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_BYTES = 1024 }; /* libpg_query needs stack in proportion */

static void require(bool holds)
{
    if (!holds)
        abort();
}

static rw_tree_answer ask(pgw_slice text, const rw_catalog *catalog, rw_tree_found *found)
{
    pgw_arena arena = {0};
    pgw_error error;
    rw_tree_answer answer = rw_tree_check(text, catalog, &test_env, &arena, found, &error);
    pgw_arena_free(&arena);
    return answer;
}

static bool shape_of(pgw_slice text, const rw_catalog *catalog, rw_shape *out)
{
    rw_lexer lexer;
    rw_lexer_init(&lexer, text, true);
    return rw_shape_of(lexer, catalog, out);
}

static void check_statement(pgw_slice text, const rw_catalog *catalog)
{
    rw_shape shape, other;
    if (!shape_of(text, catalog, &shape))
        return;
    require(shape.len <= RW_SHAPE_MAX);
    rw_tree_found found, mutant_found;
    rw_tree_answer answer = ask(text, catalog, &found);
    if (found.by_value)
        return; /* it is not kept */
    pgw_buf mutant = {0};
    for (unsigned turn = 0; turn < MUTANTS; turn += 2) {
        pgw_buf_clear(&mutant);
        add_mutant(text, true, turn, &mutant);
        if (!shape_of(pgw_slice_buf(&mutant), catalog, &other) || other.len != shape.len ||
            memcmp(other.bytes, shape.bytes, shape.len) != 0)
            continue;
        require(ask(pgw_slice_buf(&mutant), catalog, &mutant_found) == answer);
        require(mutant_found.inserts == found.inserts);
    }
    pgw_buf_free(&mutant);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const rw_table *pointers[TEST_TABLE_COUNT];
    rw_catalog catalog = test_catalog(pointers);
    pgw_slice text = {(const char *)data, size < MOST_BYTES ? size : MOST_BYTES};
    rw_lexer lexer;
    rw_piece piece;
    rw_lexer_init(&lexer, text, true);
    while (rw_split_next(&lexer, &piece))
        check_statement((pgw_slice){text.ptr + piece.start, piece.end - piece.start}, &catalog);
    return 0;
}
