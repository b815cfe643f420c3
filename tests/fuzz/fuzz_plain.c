/* Any statement, inlined, is still of PostgreSQL's grammar and has no parameters left; any value is
 * one constant, which the lexer reads back. */
#include "rewrite/lex/lexer_text.h"
#include "ydb/plain/clean.h"
#include "ydb/plain/constant.h"
#include "ydb/plain/infer.h"
#include "ydb/plain/inline.h"
#include "ydb/plain/result.h"
#include "rewrite/statement/script/syntax.h"
#include "tests/rewrite/tables.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_BYTES = 1024, MOST = 1 << 20 }; /* libpg_query needs stack in proportion */

static const pgw_env env = {.utf8 = true, .zone_known = true, .conforming = true};

static void require(bool holds)
{
    if (!holds)
        abort();
}

static bool has_parameters(pgw_slice text)
{
    return rw_highest_parameter(text, true) > 0;
}

static void check_statement(pgw_slice text, const rw_catalog *catalog, pgw_arena *arena)
{
    pgw_error error;
    pgw_buf out = {0};
    rw_inferred found;
    rw_syntax syntax;
    if (!rw_infer(text, catalog, (rw_declared){NULL, 0}, &(pgw_reading){&env, arena, &error},
                  &found))
        return;
    rw_inlining how = {.texts = rw_null_texts(found.types, found.count, arena),
                       .count = found.count,
                       .conforming = true,
                       .most = MOST,
                       .unnamed = found.unnamed,
                       .unnamed_count = found.unnamed_count};
    if (found.count > 0 && rw_inline(text, &how, &out, &error)) {
        require(!has_parameters(pgw_slice_buf(&out)));
        require(rw_syntax_parse(pgw_slice_buf(&out), &env, arena, &syntax, &error));
        rw_syntax_free(&syntax);
    }
    pgw_buf_free(&out);
}

/* A string, and perhaps its type. */
static void check_constant(const rw_param *param, pgw_slice constant, pgw_arena *arena)
{
    rw_lexer lexer;
    pgw_slice value;
    rw_lexer_init(&lexer, constant, true);
    rw_token token = rw_lexer_next(&lexer), next = rw_lexer_next(&lexer);
    require(token.kind == RW_TOKEN_STRING && token.start == 0);
    require(rw_token_string(constant, token, true, arena, &value));
    require(param->binary || pgw_slice_eq(value, param->bytes));
    require(next.kind == RW_TOKEN_END || (next.kind == RW_TOKEN_CAST && next.start == token.end));
}

static void check_value(pgw_slice bytes, uint32_t type, bool binary, pgw_arena *arena)
{
    pgw_error error;
    pgw_buf out = {0};
    rw_param param = {.type = type, .binary = binary, .bytes = bytes};
    if (rw_add_bound(&param, &env, &out, &error))
        check_constant(&param, pgw_slice_buf(&out), arena);
    else
        require(out.len == 0 && error.sqlstate[0] != '\0');
    pgw_buf_clear(&out);
    if (!rw_result_send(type, bytes, &env, &out, &error))
        require(out.len == 0 && error.sqlstate[0] != '\0');
    pgw_buf_free(&out);
}

/* The first byte says what the others are. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint32_t types[] = {16,   17,   19,   20,   21,   23,   25,   26,   114,  700,
                                     701,  1042, 1043, 1082, 1083, 1114, 1184, 1186, 1700, 2950,
                                     3802, 1007, 1009, 1231, 199,  3807, 0,    705,  869,  1560};
    enum { TYPES = sizeof types / sizeof *types };
    const rw_table *pointers[TEST_TABLE_COUNT];
    rw_catalog catalog = test_catalog(pointers);
    pgw_arena arena = {0};
    if (size == 0 || size > MOST_BYTES)
        return 0;
    pgw_slice rest = {(const char *)data + 1, size - 1};
    if (data[0] < 2 * TYPES) {
        check_value(rest, types[data[0] / 2], data[0] % 2 == 1, &arena);
    } else {
        rw_lexer lexer;
        rw_clean statement;
        rw_lexer_init(&lexer, rest, true);
        while (rw_clean_next(&lexer, &env, &arena, &statement)) {
            require(statement.start + statement.text.len <= rest.len ||
                    statement.kind >= RW_CLEAN_BEGIN);
            check_statement(statement.text, &catalog, &arena);
        }
    }
    pgw_arena_free(&arena);
    return 0;
}
