/* Errors: filled, written, read, and cut to what fits. */
#include "protocol/error.h"
#include "protocol/frame.h"
#include "tests/protocol/wire_vectors.h"

static pgw_error sample(void)
{
    pgw_error error;
    assert_false(pgw_fail(&error, "23505", "key %d is there", 5));
    pgw_error_detail(&error, "detail of %s", "t");
    pgw_error_hint(&error, "hint");
    error.position = 1073741823;
    return error;
}

static void test_fields(void **state)
{
    (void)state;
    pgw_error error = sample();
    assert_true(pgw_error_is(&error, "23505"));
    assert_false(pgw_error_is(&error, "2350"));
    assert_string_equal(error.message, "key 5 is there");
    pgw_fail(&error, "08P01", "other");
    assert_string_equal(error.detail, "");
    assert_string_equal(error.hint, "");
    assert_int_equal(error.position, 0);
    error = PGW_ERROR_NONE;
    assert_true(pgw_error_is(&error, ""));
}

/* All of it, whatever was there. */
static void test_cleared(void **state)
{
    (void)state;
    pgw_error error;
    pgw_buf none = {0}, out = {0};
    memset(&error, 'x', sizeof error);
    pgw_error_clear(&error);
    pgw_error_write(&error, "ERROR", &out);
    pgw_error_write(&PGW_ERROR_NONE, "ERROR", &none);
    assert_true(pgw_slice_eq(pgw_slice_buf(&out), pgw_slice_buf(&none)));
    pgw_buf_free(&out);
    pgw_buf_free(&none);
}

static void test_written(void **state)
{
    (void)state;
    pgw_error error = sample();
    pgw_buf out = {0};
    pgw_buf_add_str(&out, "in front");
    pgw_error_write(&error, "ERROR", &out);
    assert_true(
        pgw_slice_eq(pgw_slice_buf(&out),
                     PGW_LITERAL("in frontE\0\0\0\x49"
                                 "SERROR\0VERROR\0C23505\0Mkey 5 is there\0Ddetail of t\0Hhint\0"
                                 "P1073741823\0\0")));
    pgw_buf_free(&out);
}

/* The protocol wants S, C and M always; the others are left out. */
static void test_written_without_text(void **state)
{
    (void)state;
    pgw_error error;
    pgw_fail(&error, "57P01", "%s", "");
    pgw_buf out = {0};
    pgw_error_write(&error, "FATAL", &out);
    assert_true(pgw_slice_eq(pgw_slice_buf(&out), PGW_LITERAL("E\0\0\0\x1c"
                                                              "SFATAL\0VFATAL\0C57P01\0M\0\0")));
    pgw_buf_free(&out);
}

/* Drivers look for the name of PostgreSQL's routine. */
static void test_stale(void **state)
{
    (void)state;
    pgw_error error, again;
    pgw_fail(&error, "XX000", "m");
    pgw_error_stale(&error);
    pgw_buf out = {0};
    pgw_frame frame;
    pgw_error_write(&error, "ERROR", &out);
    const char *const bytes = "E\0\0\0\x34SERROR\0VERROR\0C0A000\0Mm\0RRevalidateCachedQuery\0";
    assert_int_equal(out.len, 1 + 0x34);
    assert_memory_equal(out.ptr, bytes, out.len);
    assert_int_equal(pgw_frame_next(pgw_slice_buf(&out), &frame), PGW_FRAME_OK);
    pgw_error_read(pgw_frame_body(pgw_slice_buf(&out), frame), &again);
    assert_true(again.stale);
    pgw_error_read(PGW_LITERAL("C0A000\0Mm\0Rother\0\0"), &again);
    assert_false(again.stale);
    pgw_buf_free(&out);
}

static void test_round_trip(void **state)
{
    (void)state;
    pgw_error error = sample(), again;
    pgw_buf out = {0};
    pgw_frame frame;
    pgw_error_write(&error, "ERROR", &out);
    assert_int_equal(pgw_frame_next(pgw_slice_buf(&out), &frame), PGW_FRAME_OK);
    assert_int_equal(frame.size, out.len);
    pgw_error_read(pgw_frame_body(pgw_slice_buf(&out), frame), &again);
    assert_string_equal(again.sqlstate, error.sqlstate);
    assert_string_equal(again.message, error.message);
    assert_string_equal(again.detail, error.detail);
    assert_string_equal(again.hint, error.hint);
    assert_int_equal(again.position, error.position);
    pgw_buf_free(&out);
}

static void test_field_by_code(void **state)
{
    (void)state;
    pgw_slice body = exact(PGW_LITERAL("SERROR\0C23505\0D\0Mfirst\0Msecond\0Hcut"));
    assert_true(pgw_slice_eq_str(pgw_error_field(body, 'C'), "23505"));
    assert_true(pgw_slice_eq_str(pgw_error_field(body, 'M'), "first"));
    assert_non_null(pgw_error_field(body, 'D').ptr);
    assert_null(pgw_error_field(body, 'H').ptr);
    assert_null(pgw_error_field(body, 'E').ptr);
    assert_null(pgw_error_field(body, '\0').ptr);
    exact_free(body);
    body = exact(PGW_LITERAL("SERROR\0\0Mbehind the end\0\0"));
    assert_null(pgw_error_field(body, 'M').ptr);
    exact_free(body);
    assert_null(pgw_error_field((pgw_slice){NULL, 0}, 'M').ptr);
}

/* An error whose SQLSTATE is missing must not look like none. */
static void test_read_without_sqlstate(void **state)
{
    (void)state;
    pgw_error error;
    pgw_error_read(PGW_LITERAL("SERROR\0Mno code\0\0"), &error);
    assert_true(pgw_error_is(&error, "XX000"));
    pgw_error_read(PGW_LITERAL("C\0Mempty code\0\0"), &error);
    assert_true(pgw_error_is(&error, "XX000"));
    pgw_error_read((pgw_slice){NULL, 0}, &error);
    assert_true(pgw_error_is(&error, "XX000"));
    pgw_error_read(PGW_LITERAL("C1234567\0\0"), &error);
    assert_true(pgw_error_is(&error, "12345"));
}

static void test_read_positions(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t position;
    } cases[] = {
        {"", 0},   {"1", 1},  {"1073741823", 1073741823}, {"-1", 0},
        {"1x", 0}, {" 1", 0}, {"9999999999", 9999999999}, {"99999999999999999999999999", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pgw_buf body = {0};
        pgw_error error;
        pgw_buf_addf(&body, "P%s", cases[i].text);
        pgw_buf_add(&body, "\0", 2);
        pgw_error_read(pgw_slice_buf(&body), &error);
        assert_int_equal(error.position, cases[i].position);
        pgw_buf_free(&body);
    }
}

/* What is no UTF-8 loses nothing: behind three bytes that go on there is no beginning. */
static void test_cut_without_beginning(void **state)
{
    (void)state;
    pgw_error error;
    enum { ROOM = sizeof error.message };
    char text[2 * ROOM];
    memset(text, 'a', sizeof text);
    text[ROOM - 5] = (char)0xf0;
    memset(text + ROOM - 4, 0x80, 4);
    text[sizeof text - 1] = '\0';
    pgw_fail(&error, "XX000", "%s", text);
    assert_int_equal(strlen(error.message), ROOM - 1);
    text[ROOM - 1] = '\0';
    pgw_fail(&error, "XX000", "%s", text);
    assert_int_equal(strlen(error.message), ROOM - 1);
    text[0] = '\0';
    pgw_fail(&error, "XX000", "%s", text);
    assert_string_equal(error.message, "");
}

/* A text of `ascii` letters and then characters of four bytes, written in both ways. */
static void check_cut(size_t ascii, size_t characters, size_t expected)
{
    pgw_buf text = {0}, body = {0};
    pgw_error error;
    for (size_t i = 0; i < ascii; i++)
        pgw_buf_add_byte(&text, 'a');
    for (size_t i = 0; i < characters; i++)
        pgw_buf_add_str(&text, "\xf0\x9f\x90\x98");
    pgw_buf_add_byte(&text, '\0');
    pgw_fail(&error, "XX000", "%s", text.ptr);
    pgw_error_hint(&error, "%s", text.ptr);
    assert_int_equal(strlen(error.message), expected);
    assert_int_equal(strlen(error.hint), expected);
    pgw_buf_add_byte(&body, 'M');
    pgw_buf_add_slice(&body, pgw_slice_buf(&text));
    pgw_buf_add_byte(&body, '\0');
    pgw_slice whole = exact(pgw_slice_buf(&body));
    pgw_error_read(whole, &error);
    assert_int_equal(strlen(error.message), expected);
    exact_free(whole);
    pgw_buf_free(&text);
    pgw_buf_free(&body);
}

static void test_cut_between_characters(void **state)
{
    (void)state;
    check_cut(511, 0, 511);
    check_cut(512, 0, 511);
    check_cut(5000, 0, 511);
    check_cut(507, 1, 511);
    check_cut(508, 1, 508);
    check_cut(509, 1, 509);
    check_cut(510, 1, 510);
    check_cut(511, 1, 511);
    check_cut(0, 200, 508);
    check_cut(3, 200, 511);
}

/* No characters of UTF-8 at all: cut where it is full. */
static void test_cut_of_other_encodings(void **state)
{
    (void)state;
    char text[600];
    memset(text, 0x80, sizeof text);
    text[599] = '\0';
    pgw_error error;
    pgw_fail(&error, "XX000", "%s", text);
    assert_int_equal(strlen(error.message), 511);
}

/* Protocols before 3 know a line of text, and the end of it. */
static void test_written_for_old_clients(void **state)
{
    (void)state;
    pgw_error error = sample();
    pgw_buf out = {0};
    pgw_error_write_old(&error, "FATAL", &out);
    assert_true(pgw_slice_eq(pgw_slice_buf(&out), PGW_LITERAL("EFATAL:  key 5 is there\n\0")));
    pgw_buf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_cleared),
        cmocka_unit_test(test_written),
        cmocka_unit_test(test_written_without_text),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_stale),
        cmocka_unit_test(test_field_by_code),
        cmocka_unit_test(test_read_without_sqlstate),
        cmocka_unit_test(test_read_positions),
        cmocka_unit_test(test_cut_without_beginning),
        cmocka_unit_test(test_cut_between_characters),
        cmocka_unit_test(test_cut_of_other_encodings),
        cmocka_unit_test(test_written_for_old_clients),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
