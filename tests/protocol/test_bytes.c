/* Slices, buffers and arenas. */
#include "protocol/bytes.h"
#include "tests/protocol/wire_vectors.h"

static void test_comparing(void **state)
{
    (void)state;
    pgw_slice nothing = {NULL, 0};
    assert_true(pgw_slice_eq(nothing, PGW_LITERAL("")));
    assert_true(pgw_slice_eq_str(nothing, ""));
    assert_true(pgw_slice_eq(pgw_slice_str(NULL), nothing));
    assert_false(pgw_slice_eq_str(PGW_LITERAL("ab"), "a"));
    assert_false(pgw_slice_eq_str(PGW_LITERAL("a"), "ab"));
    assert_false(pgw_slice_eq_str(PGW_LITERAL("a\0b"), "a"));
    assert_true(pgw_slice_eq(PGW_LITERAL("a\0b"), PGW_LITERAL("a\0b")));
}

static void test_comparing_without_case(void **state)
{
    (void)state;
    assert_true(pgw_slice_ieq_str(PGW_LITERAL("InSeRt_Z"), "iNsErT_z"));
    assert_true(pgw_slice_ieq_str((pgw_slice){NULL, 0}, ""));
    assert_false(pgw_slice_ieq_str(PGW_LITERAL("insert"), "inser"));
    assert_false(pgw_slice_ieq_str(PGW_LITERAL("inser"), "insert"));
    assert_false(pgw_slice_ieq_str(PGW_LITERAL("a\0"), "a"));
    assert_false(pgw_slice_ieq_str(PGW_LITERAL("["), "{"));
    assert_false(pgw_slice_ieq_str(PGW_LITERAL("@"), "`"));
    assert_false(pgw_slice_ieq_str(PGW_LITERAL("\xc4"), "\xe4"));
}

static void test_numbers_on_the_wire(void **state)
{
    (void)state;
    pgw_buf buf = {0};
    pgw_buf_add_i16(&buf, -2);
    pgw_buf_add_i32(&buf, INT32_MIN);
    pgw_buf_add_i64(&buf, INT64_C(0x0102030405060708));
    pgw_buf_add_i64(&buf, -1);
    assert_true(pgw_slice_eq(pgw_slice_buf(&buf), PGW_LITERAL("\xff\xfe\x80\0\0\0\1\2\3\4\5\6\7\x08"
                                                              "\xff\xff\xff\xff\xff\xff\xff\xff")));
    pgw_buf_free(&buf);
}

static void test_digits(void **state)
{
    (void)state;
    static const int64_t values[] = {0,   1,   -1,  9,    10,         -10,       99,
                                     100, 101, 999, 1000, 1234567890, INT64_MAX, INT64_MIN};
    char expected[64];
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        pgw_buf buf = {0};
        pgw_buf_add_decimal(&buf, values[i]);
        pgw_buf_add_byte(&buf, ' ');
        pgw_buf_add_unsigned(&buf, (uint64_t)values[i]);
        snprintf(expected, sizeof expected, "%lld %llu", (long long)values[i],
                 (unsigned long long)values[i]);
        assert_true(pgw_slice_eq_str(pgw_slice_buf(&buf), expected));
        pgw_buf_free(&buf);
    }
}

/* Each number of digits, with zeros in all places, as printf writes it. */
static void test_digits_of_every_length(void **state)
{
    (void)state;
    char expected[64];
    uint64_t ten = 1;
    for (int digits = 1; digits <= 20; digits++, ten *= 10) {
        const uint64_t values[] = {ten - 1,       ten,         ten + 1,
                                   ten + ten / 2, ten / 7 * 9, ten + 10305070901 % ten};
        for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
            pgw_buf buf = {0};
            pgw_buf_add_unsigned(&buf, values[i]);
            pgw_buf_add_byte(&buf, ' ');
            pgw_buf_add_decimal(&buf, -(int64_t)(values[i] >> 1));
            snprintf(expected, sizeof expected, "%llu %lld", (unsigned long long)values[i],
                     -(long long)(values[i] >> 1));
            assert_true(pgw_slice_eq_str(pgw_slice_buf(&buf), expected));
            pgw_buf_free(&buf);
        }
    }
}

static void test_growing(void **state)
{
    (void)state;
    pgw_buf buf = {0};
    for (int i = 0; i < 5000; i++)
        pgw_buf_addf(&buf, "%04d", i);
    assert_int_equal(buf.len, 20000);
    assert_memory_equal(buf.ptr + 4 * 4321, "4321", 4);
    char *end = pgw_buf_reserve(&buf, 100000);
    memset(end, 'x', 100000);
    buf.len += 100000;
    assert_memory_equal(buf.ptr, "0000", 4);
    char *kept = buf.ptr;
    pgw_buf_clear(&buf);
    pgw_buf_add_str(&buf, "again");
    assert_ptr_equal(buf.ptr, kept);
    assert_true(pgw_slice_eq_str(pgw_slice_buf(&buf), "again"));
    pgw_buf_free(&buf);
    assert_null(buf.ptr);
    pgw_buf_free(&buf);
}

static void test_adding_nothing(void **state)
{
    (void)state;
    pgw_buf buf = {0};
    pgw_buf_add(&buf, NULL, 0);
    pgw_buf_add_slice(&buf, (pgw_slice){NULL, 0});
    pgw_buf_add_str(&buf, "");
    assert_int_equal(buf.len, 0);
    assert_non_null(pgw_buf_reserve(&buf, 0));
    pgw_buf_addf(&buf, "%s", "");
    assert_int_equal(buf.len, 0);
    pgw_buf_free(&buf);
}

static void test_copies(void **state)
{
    (void)state;
    char *copy = pgw_strndup("abc", 2);
    assert_string_equal(copy, "ab");
    free(copy);
    copy = pgw_strndup(NULL, 0);
    assert_string_equal(copy, "");
    free(copy);
    free(pgw_alloc(0));
    free(pgw_calloc(0, 8));
    free(pgw_realloc(NULL, 0));
}

static void test_arena(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 15, 16, 17, 4095, 4096, 4097, 100000};
    pgw_arena arena = {0};
    for (size_t round = 0; round < 200; round++) {
        size_t size = sizes[round % (sizeof sizes / sizeof *sizes)];
        unsigned char *ptr = pgw_arena_alloc(&arena, size);
        assert_int_equal((uintptr_t)ptr % 16, 0);
        for (size_t i = 0; i < size; i++)
            assert_int_equal(ptr[i], 0);
        memset(ptr, 0xff, size);
    }
    pgw_slice copy = pgw_arena_copy(&arena, PGW_LITERAL("a\0b"));
    assert_true(pgw_slice_eq(copy, PGW_LITERAL("a\0b")));
    assert_int_equal(copy.ptr[3], '\0');
    assert_int_equal(pgw_arena_copy(&arena, (pgw_slice){NULL, 0}).len, 0);
    assert_string_equal(pgw_arena_printf(&arena, "%d-%s", 5, "x"), "5-x");
    pgw_arena_free(&arena);
    assert_null(arena.head);
    pgw_arena_free(&arena);
}

/* What was given out stays where it is when more is asked for. */
static void test_arena_keeps_what_it_gave(void **state)
{
    (void)state;
    pgw_arena arena = {0};
    char *text[500];
    for (int i = 0; i < 500; i++)
        text[i] = pgw_arena_printf(&arena, "%0*d", i % 100 + 3, i);
    for (int i = 0; i < 500; i++)
        assert_int_equal(atoi(text[i]), i);
    pgw_arena_free(&arena);
}

/* A buffer's bytes are the arena's from then on, and go with it. */
static void test_arena_keeps_buffers(void **state)
{
    (void)state;
    pgw_arena arena = {0};
    pgw_buf buf = {0};
    pgw_buf_add_str(&buf, "first");
    pgw_slice first = pgw_arena_keep(&arena, &buf);
    assert_null(buf.ptr);
    pgw_buf_add_str(&buf, "second");
    pgw_slice second = pgw_arena_keep(&arena, &buf);
    pgw_buf_reserve(&buf, 10);
    assert_int_equal(pgw_arena_keep(&arena, &buf).len, 0);
    assert_null(buf.ptr);
    assert_true(pgw_slice_eq_str(first, "first"));
    assert_true(pgw_slice_eq_str(second, "second"));
    pgw_arena_free(&arena);
    assert_null(arena.kept);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_comparing),
        cmocka_unit_test(test_comparing_without_case),
        cmocka_unit_test(test_numbers_on_the_wire),
        cmocka_unit_test(test_digits),
        cmocka_unit_test(test_digits_of_every_length),
        cmocka_unit_test(test_growing),
        cmocka_unit_test(test_adding_nothing),
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_arena),
        cmocka_unit_test(test_arena_keeps_what_it_gave),
        cmocka_unit_test(test_arena_keeps_buffers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
