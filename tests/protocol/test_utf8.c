/* Characters: which bytes are one, and where a text may be cut. */
#include "protocol/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/rewrite/exact.h"

/* The Unicode standard's table 3-7, at its borders. */
static void only_well_formed_characters_are_valid(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t length; /* 0: it is none */
    } cases[] = {
        {"a", 1},
        {"\x7f", 1},
        {"\x80", 0},
        {"\xbf", 0},
        {"\xc1\xbf", 0},
        {"\xc2\x80", 2},
        {"\xc2\x7f", 0},
        {"\xc2\xc0", 0},
        {"\xdf\xbf", 2},
        {"\xdf", 0},
        {"\xe0\x9f\xbf", 0},
        {"\xe0\xa0\x80", 3},
        {"\xe1\x80\x80", 3},
        {"\xe1\x80", 0},
        {"\xe1\x80\x7f", 0},
        {"\xe1\x80\xc0", 0},
        {"\xed\x9f\xbf", 3},
        {"\xed\xa0\x80", 0},
        {"\xef\xbf\xbf", 3},
        {"\xf0\x8f\xbf\xbf", 0},
        {"\xf0\x90\x80\x80", 4},
        {"\xf0\x90\x80", 0},
        {"\xf0\x90\x80\x7f", 0},
        {"\xf0\x90\xc0\x80", 0},
        {"\xf4\x8f\xbf\xbf", 4},
        {"\xf4\x90\x80\x80", 0},
        {"\xf5\x80\x80\x80", 0},
        {"\xff", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pgw_slice text = exact(cases[i].bytes);
        if (pgw_utf8_length(text) != cases[i].length)
            fail_msg("case %zu: %zu bytes", i, pgw_utf8_length(text));
        assert_int_equal(pgw_utf8_valid(text), cases[i].length > 0);
    }
    assert_true(pgw_utf8_valid(PGW_LITERAL("a\0\xc3\xa4")));
    assert_false(pgw_utf8_valid(PGW_LITERAL("a\xc3\xa4\xc3")));
}

static void characters_have_code_points(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        uint32_t code;
        size_t length;
    } cases[] = {{"a", 'a', 1},
                 {"\xc3\xa4x", 0xe4, 2},
                 {"\xe2\x82\xac", 0x20ac, 3},
                 {"\xf0\x9f\x98\x80", 0x1f600, 4},
                 {"\xf4\x8f\xbf\xbf", 0x10ffff, 4},
                 {"\x80", 0x80, 1},
                 {"\xc3", 0xc3, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t length = 0;
        assert_int_equal(pgw_utf8_code_point(exact(cases[i].bytes), &length), cases[i].code);
        assert_int_equal(length, cases[i].length);
    }
}

static void no_character_is_split(void **state)
{
    (void)state;
    static const size_t cut[] = {0, 1, 1, 3, 3, 3, 6, 7, 7};
    pgw_slice text = exact("a\xc3\xa4\xe2\x82\xacz"); /* aä€z */
    for (size_t most = 0; most < sizeof cut / sizeof *cut; most++) {
        pgw_slice kept = pgw_utf8_cut(text, most);
        assert_ptr_equal(kept.ptr, text.ptr);
        assert_int_equal(kept.len, cut[most]);
    }
    assert_int_equal(pgw_utf8_cut(exact("\x80\x80"), 1).len, 0);
}

/* Positions count characters from 1; what is behind the text is its end. */
static void characters_are_counted(void **state)
{
    (void)state;
    static const size_t before[] = {0, 1, 2, 2, 3, 3, 3, 4, 4};
    static const size_t bytes[] = {0, 0, 1, 3, 6, 7, 7};
    pgw_slice text = exact("a\xc3\xa4\xe2\x82\xacz"); /* aä€z */
    for (size_t offset = 0; offset < sizeof before / sizeof *before; offset++) {
        assert_int_equal(pgw_characters(text, offset, true), before[offset]);
        assert_int_equal(pgw_characters(text, offset, false), offset < 7 ? offset : 7);
    }
    for (size_t position = 1; position < sizeof bytes / sizeof *bytes; position++)
        assert_int_equal(pgw_byte_of(text, position, true), bytes[position]);
    assert_int_equal(pgw_byte_of(text, 1, false), 0);
    assert_int_equal(pgw_byte_of(text, 3, false), 2);
    assert_int_equal(pgw_byte_of(text, 7, false), 6);
    assert_int_equal(pgw_byte_of(text, 8, false), 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_well_formed_characters_are_valid),
        cmocka_unit_test(characters_have_code_points),
        cmocka_unit_test(no_character_is_split),
        cmocka_unit_test(characters_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
