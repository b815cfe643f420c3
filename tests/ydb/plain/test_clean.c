/* Statements as they are sent alone: by vectors. */
#include "ydb/plain/clean.h"
#include "rewrite/statement/script/tree.h"
#include "tests/protocol/value_vectors.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const pgw_env env = {.utf8 = true, .zone_known = true, .conforming = true};
static unsigned wrong;

static const char *const kinds[] = {
    [RW_CLEAN_READ] = "read",
    [RW_CLEAN_WRITE] = "write",
    [RW_CLEAN_DDL] = "ddl",
    [RW_CLEAN_SESSION] = "session",
    [RW_CLEAN_BEGIN] = "begin",
    [RW_CLEAN_COMMIT] = "commit",
    [RW_CLEAN_ROLLBACK] = "rollback",
    [RW_CLEAN_SAVEPOINT] = "savepoint",
    [RW_CLEAN_RELEASE] = "release",
    [RW_CLEAN_ROLLBACK_TO] = "rollback_to",
    [RW_CLEAN_TWO_PHASE] = "two_phase",
    [RW_CLEAN_WRONG] = "wrong",
};

static void describe(const rw_clean *it, pgw_slice text, pgw_buf *out)
{
    pgw_buf_addf(out, "%s%s%s", out->len > 0 ? " " : "", kinds[it->kind],
                 it->chain ? " chain" : "");
    if (it->name.len > 0)
        pgw_buf_addf(out, " name=%.*s", (int)it->name.len, it->name.ptr);
    if (it->kind == RW_CLEAN_WRONG)
        pgw_buf_addf(out, " %s %zu %s", it->error->sqlstate, it->error->position,
                     it->error->message);
    pgw_buf_addf(out, " <%.*s>", (int)it->text.len, it->text.ptr);
    assert_true(it->start < text.len);
    if (it->kind < RW_CLEAN_BEGIN)
        assert_ptr_equal(it->text.ptr, text.ptr + it->start);
}

static void check(const vector_line *line)
{
    pgw_arena arena = {0};
    pgw_buf got = {0};
    rw_clean statement;
    rw_lexer lexer;
    rw_lexer_init(&lexer, line->fields[0], true);
    while (rw_clean_next(&lexer, &env, &arena, &statement))
        describe(&statement, line->fields[0], &got);
    wrong += !vector_same(line, line->fields[1], &got);
    pgw_buf_free(&got);
    pgw_arena_free(&arena);
}

static void statements_are_cleaned(void **state)
{
    (void)state;
    wrong = 0;
    assert_true(vector_each(VECTORS "/plain/clean.txt", check) > 70);
    assert_int_equal(wrong, 0);
}

/* What libpg_query cannot be given is taken for a write, where its words leave that open. */
static void large_statements_are_careful(void **state)
{
    (void)state;
    pgw_arena arena = {0};
    pgw_buf text = {0};
    rw_clean statement;
    rw_lexer lexer;
    pgw_buf_add_str(&text, "with a as (delete from t) select '");
    size_t tail = text.len;
    pgw_buf_reserve(&text, RW_TREE_MAX_BYTES);
    memset(text.ptr + tail, 'x', RW_TREE_MAX_BYTES);
    text.len += RW_TREE_MAX_BYTES;
    pgw_buf_add_byte(&text, '\'');
    rw_lexer_init(&lexer, pgw_slice_buf(&text), true);
    assert_true(rw_clean_next(&lexer, &env, &arena, &statement));
    assert_int_equal(statement.kind, RW_CLEAN_WRITE);
    pgw_buf_free(&text);
    pgw_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statements_are_cleaned),
        cmocka_unit_test(large_statements_are_careful),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
