/* Parameters replaced by what they were bound to, and results in binary: by vectors; bounds. */
#include "protocol/array.h"
#include "ydb/plain/inline.h"
#include "ydb/plain/result.h"
#include "rewrite/statement/script/types.h"
#include "tests/protocol/value_vectors.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const pgw_env env = {.utf8 = true, .zone_known = true, .conforming = true};
static unsigned wrong;

static uint32_t read_type(pgw_slice name)
{
    bool array = name.len > 2 && name.ptr[name.len - 1] == ']';
    uint32_t type = rw_type_named((pgw_slice){name.ptr, name.len - (array ? 2 : 0)});
    return type == PGW_UNSPECIFIED ? (uint32_t)vector_number(name)
           : array                 ? pgw_array_of(type)
                                   : type;
}

static void check_constant(const vector_line *line)
{
    pgw_arena arena = {0};
    pgw_error error;
    pgw_buf got = {0};
    rw_param param = {.type = read_type(line->fields[0]),
                      .binary = line->fields[1].ptr[0] == 'b',
                      .null = line->fields[1].ptr[0] == 'n',
                      .bytes = line->fields[2]};
    const pgw_slice *texts;
    if (rw_bound_texts((rw_params){&param, 1}, 1000, &(pgw_reading){&env, &arena, &error}, &texts))
        pgw_buf_add_slice(&got, texts[0]);
    else
        pgw_buf_addf(&got, "!%s %s", error.sqlstate, error.message);
    wrong += !vector_same(line, line->fields[3], &got);
    pgw_buf_free(&got);
    pgw_arena_free(&arena);
}

static void values_become_constants(void **state)
{
    (void)state;
    wrong = 0;
    assert_true(vector_each(VECTORS "/plain/constants.txt", check_constant) > 100);
    assert_int_equal(wrong, 0);
}

static void check_inline(const vector_line *line)
{
    pgw_buf got = {0};
    pgw_error error;
    size_t unnamed[] = {SIZE_MAX};
    rw_inlining how = {.texts = line->fields + 2,
                       .count = line->count - 2,
                       .conforming = true,
                       .most = 100,
                       .unnamed = unnamed,
                       .unnamed_count = 1};
    pgw_slice text = line->fields[0];
    for (size_t i = 0; i + 1 < text.len; i++)
        if (text.ptr[i] == '$' && text.ptr[i + 1] == '9')
            unnamed[0] = i;
    if (unnamed[0] != SIZE_MAX)
        how.count = 9;
    pgw_slice nine[9];
    for (size_t i = 0; i < 9; i++)
        nine[i] = line->fields[2];
    if (how.count == 9)
        how.texts = nine;
    if (!rw_inline(text, &how, &got, &error))
        pgw_buf_addf(&got, "!%s %s", error.sqlstate, error.message);
    wrong += !vector_same(line, line->fields[1], &got);
    pgw_buf_free(&got);
}

static void parameters_are_replaced(void **state)
{
    (void)state;
    wrong = 0;
    assert_true(vector_each(VECTORS "/plain/inline.txt", check_inline) > 25);
    assert_int_equal(wrong, 0);
}

/* One byte less than there is makes the difference. */
static void results_are_bounded(void **state)
{
    (void)state;
    pgw_error error;
    pgw_buf out = {0};
    pgw_slice operands[] = {PGW_LITERAL("'abc'")};
    rw_inlining how = {.texts = operands, .count = 1, .conforming = true, .most = 15};
    assert_true(rw_inline(PGW_LITERAL("select $1 ,1"), &how, &out, &error));
    assert_int_equal(out.len, 15);
    how.most = 14;
    assert_false(rw_inline(PGW_LITERAL("select $1 ,1"), &how, &out, &error));
    assert_string_equal(error.sqlstate, "54000");
    assert_int_equal(out.len, 15);
    how.most = 4;
    assert_false(rw_inline(PGW_LITERAL("$1"), &how, &out, &error));
    assert_string_equal(error.sqlstate, "54000");
    pgw_buf_free(&out);
}

/* What grows when it is written as text is counted as it grows. */
static void values_are_bounded_together(void **state)
{
    (void)state;
    pgw_arena arena = {0};
    pgw_error error;
    const pgw_slice *texts;
    rw_param params[] = {{.type = PGW_BYTEA, .binary = true, .bytes = PGW_LITERAL("abcd")},
                         {.type = PGW_BYTEA, .binary = true, .bytes = PGW_LITERAL("efgh")}};
    pgw_reading reading = {&env, &arena, &error};
    assert_true(rw_bound_texts((rw_params){params, 2}, 38, &reading, &texts));
    assert_true(pgw_slice_eq(texts[1], PGW_LITERAL("'\\x65666768'::bytea")));
    assert_false(rw_bound_texts((rw_params){params, 2}, 37, &reading, &texts));
    assert_string_equal(error.sqlstate, "54000");
    assert_false(rw_bound_texts((rw_params){params, 2}, 3, &reading, &texts));
    assert_string_equal(error.sqlstate, "54000");
    pgw_arena_free(&arena);
}

static void nulls_have_types(void **state)
{
    (void)state;
    pgw_arena arena = {0};
    const uint32_t types[] = {PGW_INT8, 1009, 4711};
    const pgw_slice *texts = rw_null_texts(types, 3, &arena);
    assert_true(pgw_slice_eq(texts[0], PGW_LITERAL("NULL::int8")));
    assert_true(pgw_slice_eq(texts[1], PGW_LITERAL("NULL::text[]")));
    assert_true(pgw_slice_eq(texts[2], PGW_LITERAL("NULL")));
    pgw_arena_free(&arena);
}

static void check_result(const vector_line *line)
{
    pgw_buf got = {0}, bytes = {0};
    pgw_error error;
    uint32_t type = read_type(line->fields[0]);
    if (rw_result_send(type, line->fields[1], &env, &bytes, &error)) {
        assert_true(rw_result_has_binary(type));
        pgw_buf_add_byte(&got, '=');
        vector_add_hex(pgw_slice_buf(&bytes), &got);
    } else {
        assert_int_equal(bytes.len, 0);
        pgw_buf_addf(&got, "!%s %s", error.sqlstate, error.message);
    }
    wrong += !vector_same(line, line->fields[2], &got);
    pgw_buf_free(&bytes);
    pgw_buf_free(&got);
}

static void results_are_sent_in_binary(void **state)
{
    (void)state;
    wrong = 0;
    assert_true(vector_each(VECTORS "/plain/results.txt", check_result) > 45);
    assert_int_equal(wrong, 0);
    assert_true(rw_result_has_binary(1009));
    assert_false(rw_result_has_binary(600));
    assert_false(rw_result_has_binary(1017));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_become_constants), cmocka_unit_test(parameters_are_replaced),
        cmocka_unit_test(results_are_bounded),     cmocka_unit_test(values_are_bounded_together),
        cmocka_unit_test(nulls_have_types),        cmocka_unit_test(results_are_sent_in_binary),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
