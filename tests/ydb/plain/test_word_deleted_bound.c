/* Bound values and results with a byte left out, or twice: what stands for a value is an expression
 * of SQL. And statements with a word left out, or twice, in which parameters are replaced: none of
 * them is left, and the statement is no longer than it may be. */
#include "protocol/array.h"
#include "ydb/plain/inline.h"
#include "ydb/plain/result.h"
#include "rewrite/statement/script/types.h"
#include "tests/protocol/value_vectors.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "rewrite/statement/script/syntax.h"
#include "tests/rewrite/error_holds.h"

static const pgw_env envs[] = {
    {.utf8 = true, .zone_known = true, .conforming = true},
    {.utf8 = false, .zone_known = false, .conforming = false},
};

/* --- what is made of them --- */

static uint32_t type; /* of the value */

static uint32_t read_type(pgw_slice name)
{
    bool array = name.len > 2 && name.ptr[name.len - 1] == ']';
    uint32_t named = rw_type_named((pgw_slice){name.ptr, name.len - (array ? 2 : 0)});
    return named == PGW_UNSPECIFIED ? (uint32_t)vector_number(name)
           : array                  ? pgw_array_of(named)
                                    : named;
}

static void add_error(const pgw_error *error, pgw_slice text, pgw_buf *out)
{
    holds_of_error(error, text, true);
    pgw_buf_addf(out, "!%s %s|%s|%s", error->sqlstate, error->message, error->detail, error->hint);
}

static bool parses(pgw_slice text, const pgw_env *env)
{
    pgw_arena arena = {0};
    pgw_error error = PGW_ERROR_NONE;
    rw_syntax syntax;
    bool right = rw_syntax_parse(text, env, &arena, &syntax, &error);
    if (right)
        rw_syntax_free(&syntax);
    pgw_arena_free(&arena);
    return right;
}

static bool is_expression(pgw_slice text, const pgw_env *env)
{
    pgw_buf select = {0};
    pgw_buf_add_str(&select, "SELECT ");
    pgw_buf_add_slice(&select, text);
    bool right = parses(pgw_slice_buf(&select), env);
    pgw_buf_free(&select);
    return right;
}

enum { MOST = 200 /* bytes that may stand for a value */ };

static void add_bound(pgw_slice bytes, bool binary, const pgw_env *env, pgw_buf *out)
{
    pgw_arena arena = {0};
    pgw_error error = PGW_ERROR_NONE;
    const pgw_slice *texts;
    const rw_param param = {.type = type, .binary = binary, .bytes = bytes};
    if (rw_bound_texts((rw_params){&param, 1}, MOST, &(pgw_reading){env, &arena, &error}, &texts)) {
        word_deleted_holds(texts[0].len <= MOST,
                           "what stands for a value is as short as it must be");
        word_deleted_holds(is_expression(texts[0], env),
                           "what stands for a value is an expression of SQL");
        pgw_buf_add_slice(out, texts[0]);
    } else
        add_error(&error, bytes, out);
    pgw_arena_free(&arena);
}

static void judge_bound(pgw_slice bytes, pgw_buf *out)
{
    for (size_t i = 0; i < sizeof envs / sizeof *envs; i++) {
        add_bound(bytes, true, &envs[i], out);
        add_bound(bytes, false, &envs[i], out);
    }
}

static void judge_result(pgw_slice text, pgw_buf *out)
{
    for (size_t i = 0; i < sizeof envs / sizeof *envs; i++) {
        pgw_error error = PGW_ERROR_NONE;
        if (!rw_result_send(type, text, &envs[i], out, &error))
            add_error(&error, text, out);
    }
}

/* With operands that are longer and shorter than what they stand for. */
static void judge_inlined(pgw_slice text, pgw_buf *out)
{
    static const pgw_slice operands[] = {{"5", 1}, {"'a ''long'' one'::text", 22}, {"NULL", 4}};
    static const size_t unnamed[] = {7, 10, 14};
    const rw_inlining how = {.texts = operands,
                             .count = 3,
                             .conforming = true,
                             .most = 110,
                             .unnamed = unnamed,
                             .unnamed_count = 3};
    pgw_error error = PGW_ERROR_NONE;
    size_t from = out->len;
    if (!rw_inline(text, &how, out, &error)) {
        add_error(&error, text, out);
        return;
    }
    pgw_slice inlined = {out->ptr + from, out->len - from};
    word_deleted_holds(inlined.len <= how.most || pgw_slice_eq(inlined, text),
                       "a statement with its values is as short as it must be");
    for (uint32_t parameter = 1; parameter <= how.count; parameter++)
        word_deleted_holds(rw_parameter_uses(inlined, true, parameter) == 0,
                           "a statement with its values has no parameter of them");
}

/* --- the vectors --- */

/* A value is read as one of its own type, and as one of the type of the line before it. */
static void vary_values(const vector_line *line, pgw_slice bytes, word_deleted_judge *judge)
{
    static uint32_t other = PGW_INT8;
    uint32_t own = read_type(line->fields[0]);
    const uint32_t types[] = {own, other};
    for (size_t i = 0; i < 2; i++) {
        type = types[i];
        if (bytes.len <= 80)
            word_deleted_bytes(bytes, judge);
    }
    other = own;
}

static void vary_constant(const vector_line *line)
{
    vary_values(line, line->fields[2], judge_bound);
}

static void vary_result(const vector_line *line)
{
    vary_values(line, line->fields[1], judge_result);
}

static void vary_statement(const vector_line *line)
{
    word_deleted_some(line->fields[0], 0, 1, judge_inlined);
}

static void every_text_holds(void **state)
{
    (void)state;
    vector_each(VECTORS "/plain/constants.txt", vary_constant);
    vector_each(VECTORS "/plain/results.txt", vary_result);
    vector_each(VECTORS "/plain/inline.txt", vary_statement);
    vector_each(VECTORS "/plain/orders.txt", vary_statement);
    assert_in_range(word_deleted_count, 5000, 1000000);
}

int main(int argc, char **argv)
{
    return word_deleted_main(argc, argv, every_text_holds);
}
