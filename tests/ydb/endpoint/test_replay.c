/* What is kept of a group's transaction, and which outcomes are the same. */
#include "ydb/endpoint/replay.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static rw_program *program_of(pgw_slice text)
{
    static const pgw_env env = {.utf8 = true, .zone_known = true, .conforming = true};
    static const rw_catalog catalog = {0};
    const rw_program_options options = {.env = &env, .exact = true, .most = 1 << 24};
    pgw_error error;
    rw_program *made = rw_program_new(text, &catalog, &options, &error);
    assert_non_null(made);
    return made;
}

static rw_program *program(void)
{
    return program_of(PGW_LITERAL("select 1"));
}

/* A program's outcome: cells of rows in words, "|" between rows, "-" for NULL and "." for "". */
static void come(px_replay *replay, const char *columns, const char *rows, const char *tag)
{
    pgw_slice cells[8];
    size_t count = 0;
    px_replay_columns(replay, pgw_slice_str(columns));
    for (const char *at = rows; *at != '\0'; at += *at == ' ') {
        size_t len = strcspn(at, " ");
        if (*at == '|') {
            px_replay_row(replay, cells, count);
            count = 0;
        } else {
            cells[count++] = *at == '-'   ? (pgw_slice){NULL, 0}
                             : *at == '.' ? (pgw_slice){at, 0}
                                          : (pgw_slice){at, len};
        }
        at += len;
    }
    px_replay_row(replay, cells, count);
    px_replay_tag(replay, tag);
}

static void keep(px_replay *replay)
{
    pgw_arena arena = {0};
    assert_true(px_replay_keep(replay, program(), &arena));
}

static bool agrees(const char *const was[3], const char *const is[3])
{
    px_replay replay = {0};
    px_replay_begin(&replay);
    for (int i = 0; i < 2; i++) {
        px_replay_anew(&replay);
        come(&replay, was[0], was[1], was[2]);
        keep(&replay);
    }
    px_replay_rewind(&replay, &PGW_ERROR_NONE);
    bool agreed = true;
    for (int i = 0; i < 2 && agreed; i++) {
        assert_non_null(px_replay_next(&replay));
        come(&replay, i == 0 ? was[0] : is[0], i == 0 ? was[1] : is[1], i == 0 ? was[2] : is[2]);
        agreed = px_replay_agrees(&replay);
    }
    assert_true(agreed == (px_replay_program(&replay) == NULL) || !agreed);
    if (agreed)
        assert_null(px_replay_next(&replay));
    assert_true(replay.due == !agreed);
    px_replay_forget(&replay);
    return agreed;
}

static void outcomes_are_compared(void **state)
{
    (void)state;
    static const char *const outcomes[][3] = {
        {"c", "a b", "t"},   {"d", "a b", "t"},   {"c", "a b", "u"},  {"c", "ab", "t"},
        {"c", "ab .", "t"},  {"c", "ab -", "t"},  {"c", ". ab", "t"}, {"c", "a | b", "t"},
        {"c", "b a", "t"},   {"c", "b | a", "t"}, {"ca", "b", "t"},   {"", "c a b", "t"},
        {"c", "a b | ", "t"}};
    enum { COUNT = sizeof outcomes / sizeof *outcomes };
    for (size_t i = 0; i < COUNT; i++)
        for (size_t j = 0; j < COUNT; j++)
            assert_true(agrees(outcomes[i], outcomes[j]) == (i == j));
}

/* A client may send a group without an end. */
static void there_is_a_most(void **state)
{
    (void)state;
    pgw_arena arena = {0};
    px_replay replay = {0};
    px_replay_begin(&replay);
    for (int i = 0; i < 1024; i++)
        keep(&replay);
    rw_program *one = program();
    assert_false(px_replay_keep(&replay, one, &arena));
    assert_false(replay.kept);
    assert_int_equal(replay.count, 0);
    px_replay_begin(&replay);
    for (int i = 0; i < 15; i++) {
        memset(pgw_arena_alloc(&arena, 1024 * 1024), 'x', 1);
        assert_true(px_replay_keep(&replay, program(), &arena));
        assert_null(arena.head);
    }
    memset(pgw_arena_alloc(&arena, 1024 * 1024), 'x', 1);
    assert_false(px_replay_keep(&replay, one, &arena));
    assert_non_null(arena.head);
    assert_false(replay.kept);
    rw_program_free(one);
    pgw_arena_free(&arena);
}

/* Which a program may take more of than its text does. */
static void all_memory_is_counted(void **state)
{
    (void)state;
    enum { MIB = 1024 * 1024 };
    static const char *const statements[] = {
        "delete from u where k = '%s'",
        "insert into u (k) values ('%s') returning 1",
        "insert into u (k, v) values ('%s', 2) on conflict (k) do nothing",
    };
    pgw_buf value = {0}, text = {0};
    memset(pgw_buf_reserve(&value, MIB + 1), 'x', MIB);
    value.ptr[MIB] = '\0';
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++) {
        pgw_arena none = {0};
        px_replay replay = {0};
        size_t kept = 0;
        pgw_buf_clear(&text);
        pgw_buf_addf(&text, statements[i], value.ptr);
        px_replay_begin(&replay);
        for (rw_program *one; replay.kept && kept < 100; kept += replay.kept) {
            rw_step step;
            one = program_of(pgw_slice_buf(&text));
            assert_true(rw_program_next(one, &step));
            if (!px_replay_keep(&replay, one, &none))
                rw_program_free(one);
        }
        assert_in_range(kept, 1, 16);
        px_replay_forget(&replay);
    }
    pgw_buf_free(&value);
    pgw_buf_free(&text);
}

static void nothing_is_kept_of_no_transaction(void **state)
{
    (void)state;
    pgw_arena arena = {0};
    px_replay replay = {0};
    rw_program *one = program();
    come(&replay, "c", "a", "t");
    assert_int_equal(replay.digest, 0);
    assert_false(px_replay_keep(&replay, one, &arena));
    rw_program_free(one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outcomes_are_compared),
        cmocka_unit_test(there_is_a_most),
        cmocka_unit_test(all_memory_is_counted),
        cmocka_unit_test(nothing_is_kept_of_no_transaction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
