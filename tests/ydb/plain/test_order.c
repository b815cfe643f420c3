/* What statements of the session's say, by vectors; an EXECUTE's arguments as operands. */
#include "ydb/plain/inline.h"
#include "ydb/plain/order.h"
#include "rewrite/statement/script/tree.h"
#include "tests/protocol/value_vectors.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const pgw_env env = {.utf8 = true, .zone_known = true, .conforming = true};
static unsigned wrong;

static void describe_lists(const pgw_piece *piece, pgw_buf *out)
{
    const pgw_order *order = piece->order;
    for (size_t i = 0; i < order->count; i++)
        if (piece->command == PGW_COMMAND_PREPARE)
            pgw_buf_addf(out, " %u", order->types[i]);
        else
            pgw_buf_addf(out, " <%.*s>", (int)order->arguments[i].len, order->arguments[i].ptr);
    if (order->text.ptr != NULL)
        pgw_buf_addf(out, " %s<%.*s>", order->command == PGW_COMMAND_WRITE ? "write " : "",
                     (int)order->text.len, order->text.ptr);
}

static void describe(const pgw_piece *piece, pgw_buf *out)
{
    const pgw_order *order = piece->order;
    pgw_buf_add_str(out, piece->command == PGW_COMMAND_SESSION   ? "SESSION"
                         : piece->command == PGW_COMMAND_WRITE   ? "WRITE"
                         : piece->command == PGW_COMMAND_EXECUTE ? "EXECUTE"
                                                                 : pgw_command_tag(piece->command));
    if (order == NULL)
        return;
    pgw_buf_addf(out, " \"%.*s\"", (int)order->name.len, order->name.ptr);
    if (order->rows > 0)
        pgw_buf_addf(out, " %u", order->rows);
    pgw_buf_add_str(out, order->all ? " all" : "");
    pgw_buf_add_str(out, order->binary ? " binary" : "");
    describe_lists(piece, out);
    if (order->refusal != NULL)
        pgw_buf_addf(out, " !%s@%zu %s", order->refusal->sqlstate, order->refusal->position,
                     order->refusal->message);
}

static bool read(pgw_slice text, pgw_arena *arena, pgw_piece *piece, pgw_error *error)
{
    rw_clean statement;
    rw_lexer lexer;
    rw_lexer_init(&lexer, text, true);
    assert_true(rw_clean_next(&lexer, &env, arena, &statement));
    if (statement.kind == RW_CLEAN_WRONG)
        *error = *statement.error;
    return statement.kind != RW_CLEAN_WRONG &&
           rw_order_read(text, &statement, &(pgw_reading){&env, arena, error}, piece);
}

static void check(const vector_line *line)
{
    pgw_arena arena = {0};
    pgw_buf got = {0};
    pgw_piece piece;
    pgw_error error;
    if (read(line->fields[0], &arena, &piece, &error))
        describe(&piece, &got);
    else
        pgw_buf_addf(&got, "!%s@%zu %s", error.sqlstate, error.position, error.message);
    wrong += !vector_same(line, line->fields[1], &got);
    pgw_buf_free(&got);
    pgw_arena_free(&arena);
}

static void orders_are_read(void **state)
{
    (void)state;
    wrong = 0;
    assert_true(vector_each(VECTORS "/plain/orders.txt", check) > 60);
    assert_int_equal(wrong, 0);
}

static void too_long_is_told(void **state)
{
    (void)state;
    pgw_arena arena = {0};
    pgw_buf text = {0};
    pgw_piece piece;
    pgw_error error;
    pgw_buf_add_str(&text, "execute s('");
    size_t head = text.len;
    memset(pgw_buf_reserve(&text, RW_TREE_MAX_BYTES), 'x', RW_TREE_MAX_BYTES);
    text.len = head + RW_TREE_MAX_BYTES;
    pgw_buf_add_str(&text, "')");
    assert_false(read(pgw_slice_buf(&text), &arena, &piece, &error));
    assert_string_equal(error.sqlstate, "54000");
    pgw_buf_free(&text);
    pgw_arena_free(&arena);
}

static void arguments_have_types(void **state)
{
    (void)state;
    pgw_arena arena = {0};
    const pgw_slice arguments[] = {PGW_LITERAL("1 + 1"), PGW_LITERAL("null"), PGW_LITERAL("x")};
    const uint32_t types[] = {PGW_INT8, 1009, 4711};
    const pgw_slice *texts = rw_argument_texts(arguments, types, 3, &arena);
    assert_true(pgw_slice_eq_str(texts[0], "(1 + 1)::int8"));
    assert_true(pgw_slice_eq_str(texts[1], "(null)::text[]"));
    assert_true(pgw_slice_eq_str(texts[2], "(x)"));
    pgw_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders_are_read),
        cmocka_unit_test(too_long_is_told),
        cmocka_unit_test(arguments_have_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
