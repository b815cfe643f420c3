/* The cursor: what it reads, and that its error stays. */
#include "protocol/reader.h"
#include "tests/protocol/wire_vectors.h"

static void test_numbers(void **state)
{
    (void)state;
    pgw_slice body = exact(PGW_LITERAL("\xff\x80\x01\xfe\xdc\xba\x98\x80\0\0\0\0\0\0\x01"));
    pgw_reader reader = pgw_reader_of(body);
    assert_int_equal(pgw_read_u8(&reader), 0xff);
    assert_int_equal(pgw_read_u16(&reader), 0x8001);
    assert_int_equal(pgw_read_u32(&reader), 0xfedcba98);
    assert_false(pgw_reader_done(&reader));
    assert_true(pgw_read_u64(&reader) == UINT64_C(0x8000000000000001));
    assert_true(pgw_reader_done(&reader));
    exact_free(body);
}

static void test_strings(void **state)
{
    (void)state;
    pgw_slice body = exact(PGW_LITERAL("ab\0\0c"));
    pgw_reader reader = pgw_reader_of(body);
    assert_true(pgw_slice_eq_str(pgw_read_string(&reader), "ab"));
    pgw_slice empty = pgw_read_string(&reader);
    assert_non_null(empty.ptr);
    assert_int_equal(empty.len, 0);
    assert_null(pgw_read_string(&reader).ptr);
    assert_true(reader.failed);
    exact_free(body);
}

static uint64_t read_number(pgw_reader *reader, size_t len)
{
    switch (len) {
    case 1:
        return pgw_read_u8(reader);
    case 2:
        return pgw_read_u16(reader);
    case 4:
        return pgw_read_u32(reader);
    default:
        return pgw_read_u64(reader);
    }
}

static void test_too_short_for_a_number(void **state)
{
    (void)state;
    for (size_t wanted = 1; wanted <= 8; wanted *= 2)
        for (size_t len = 0; len < wanted; len++) {
            pgw_slice body = exact((pgw_slice){"\xff\xff\xff\xff\xff\xff\xff", len});
            pgw_reader reader = pgw_reader_of(body);
            assert_true(read_number(&reader, wanted) == 0);
            assert_false(pgw_reader_done(&reader));
            exact_free(body);
        }
}

/* After a read that failed nothing is given out any more, even if it would be there. */
static void test_the_error_stays(void **state)
{
    (void)state;
    pgw_slice body = exact(PGW_LITERAL("abc\0"));
    pgw_reader reader = pgw_reader_of(body);
    assert_null(pgw_read_bytes(&reader, 5).ptr);
    assert_int_equal(pgw_read_u8(&reader), 0);
    assert_int_equal(pgw_read_u32(&reader), 0);
    assert_null(pgw_read_string(&reader).ptr);
    assert_null(pgw_read_bytes(&reader, 0).ptr);
    reader.at = reader.end;
    assert_false(pgw_reader_done(&reader));
    exact_free(body);
}

static void test_lengths_that_would_wrap(void **state)
{
    (void)state;
    static const size_t lengths[] = {4, UINT32_MAX, SIZE_MAX / 2, SIZE_MAX - 1, SIZE_MAX};
    pgw_slice body = exact(PGW_LITERAL("abc"));
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        pgw_reader reader = pgw_reader_of(body);
        assert_int_equal(pgw_read_bytes(&reader, lengths[i]).len, 0);
        assert_true(reader.failed);
    }
    exact_free(body);
}

static void test_nothing(void **state)
{
    (void)state;
    pgw_reader reader = pgw_reader_of((pgw_slice){NULL, 0});
    assert_true(pgw_reader_done(&reader));
    assert_int_equal(pgw_read_bytes(&reader, 0).len, 0);
    assert_true(pgw_reader_done(&reader));
    assert_null(pgw_read_string(&reader).ptr);
    assert_false(pgw_reader_done(&reader));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_strings),
        cmocka_unit_test(test_too_short_for_a_number),
        cmocka_unit_test(test_the_error_stays),
        cmocka_unit_test(test_lengths_that_would_wrap),
        cmocka_unit_test(test_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
