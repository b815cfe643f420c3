/* Bound values and results with a byte left out, or twice: as values of their own types, and of
 * others; and statements with a word left out, or twice, in which parameters are replaced. */
#include "protocol/array.h"
#include "ydb/plain/inline.h"
#include "ydb/plain/result.h"
#include "rewrite/statement/script/types.h"
#include "tests/protocol/value_vectors.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/rewrite/left_out.h"

static const pgw_env envs[] = {
    {.utf8 = true, .zone_known = true, .conforming = true},
    {.utf8 = false, .zone_known = false, .conforming = false},
};
static pgw_buf lines;

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

static void add_error(const pgw_error *error, pgw_buf *out)
{
    pgw_buf_addf(out, "!%s %s|%s|%s", error->sqlstate, error->message, error->detail, error->hint);
}

static void add_bound(pgw_slice bytes, bool binary, const pgw_env *env, pgw_buf *out)
{
    pgw_arena arena = {0};
    pgw_error error = PGW_ERROR_NONE;
    const pgw_slice *texts;
    const rw_param param = {.type = type, .binary = binary, .bytes = bytes};
    if (rw_bound_texts((rw_params){&param, 1}, 200, &(pgw_reading){env, &arena, &error}, &texts))
        pgw_buf_add_slice(out, texts[0]);
    else
        add_error(&error, out);
    pgw_arena_free(&arena);
}

static void describe_bound(pgw_slice bytes, pgw_buf *out)
{
    for (size_t i = 0; i < sizeof envs / sizeof *envs; i++) {
        add_bound(bytes, true, &envs[i], out);
        add_bound(bytes, false, &envs[i], out);
    }
}

static void describe_result(pgw_slice text, pgw_buf *out)
{
    for (size_t i = 0; i < sizeof envs / sizeof *envs; i++) {
        pgw_error error = PGW_ERROR_NONE;
        if (!rw_result_send(type, text, &envs[i], out, &error))
            add_error(&error, out);
    }
}

/* With operands that are longer and shorter than what they stand for. */
static void describe_inlined(pgw_slice text, pgw_buf *out)
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
    if (!rw_inline(text, &how, out, &error))
        add_error(&error, out);
}

/* --- the vectors --- */

/* … as if they were of the next type of the file, too. */
static void add_values(const vector_line *line, pgw_slice bytes, left_out_describe *describe)
{
    static uint32_t other = PGW_INT8;
    uint32_t own = read_type(line->fields[0]);
    const uint32_t types[] = {own, other};
    pgw_buf_addf(&lines, "%s %u", strrchr(line->file, '/') + 1, line->number);
    for (size_t i = 0; i < 2; i++) {
        type = types[i];
        if (bytes.len <= 80)
            left_out_bytes(bytes, describe, &lines);
    }
    pgw_buf_add_byte(&lines, '\n');
    other = own;
}

static void add_constant(const vector_line *line)
{
    add_values(line, line->fields[2], describe_bound);
}

static void add_result(const vector_line *line)
{
    add_values(line, line->fields[1], describe_result);
}

static void add_statement(const vector_line *line)
{
    pgw_buf_addf(&lines, "%s %u", strrchr(line->file, '/') + 1, line->number);
    left_out_variants(line->fields[0], 1, describe_inlined, &lines);
    pgw_buf_add_byte(&lines, '\n');
}

static char *all(void)
{
    lines = (pgw_buf){0};
    vector_each(VECTORS "/plain/constants.txt", add_constant);
    vector_each(VECTORS "/plain/results.txt", add_result);
    vector_each(VECTORS "/plain/inline.txt", add_statement);
    vector_each(VECTORS "/plain/orders.txt", add_statement);
    pgw_buf_add_byte(&lines, '\0');
    return lines.ptr;
}

static void nothing_changes_unseen(void **state)
{
    (void)state;
    assert_true(left_out_same(VECTORS "/plain/left_out_bound.txt", all));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_changes_unseen)};
    return left_out_asked(argc, argv, all) ? 0 : cmocka_run_group_tests(tests, NULL, NULL);
}
