/* What is shown of text from outside: no byte of it ends a line, a value or a terminal's peace. */
#include "protocol/printable.h"
#include "tests/protocol/wire_vectors.h"

static const struct {
    const char *text, *shown;
} VALUES[] = {
    {"", "\"\""},
    {"plain", "plain"},
    {"a,b:c/d'e", "a,b:c/d'e"},
    {"two words", "\"two words\""},
    {"a=b", "\"a=b\""},
    {"say \"x\"", "\"say \\\"x\\\"\""},
    {"back\\slash", "\"back\\\\slash\""},
    {"a\nlevel=error", "\"a\\nlevel=error\""},
    {"\r\t\x1b[2J\x7f", "\"\\x0D\\t\\x1B[2J\\x7F\""},
    {"Zürich", "Zürich"},
    {"日本 語", "\"日本 語\""},
    {"\xc2\x85", "\"\\xC2\\x85\""},                /* NEXT LINE */
    {"\xe2\x80\xa8", "\"\\xE2\\x80\\xA8\""},       /* LINE SEPARATOR */
    {"a\xe2\x80\xae z", "\"a\\xE2\\x80\\xAE z\""}, /* RIGHT-TO-LEFT OVERRIDE */
    {"\xe2\x82\xac", "\xe2\x82\xac"},
    {"\xff", "\"\\xFF\""},
    {"\xc3", "\"\\xC3\""}, /* a character cut short */
    {"\xc3 x", "\"\\xC3 x\""},
    {"\xc0\xaf", "\"\\xC0\\xAF\""}, /* overlong */
};

static void check_value(pgw_slice value, const char *shown)
{
    pgw_buf out = {0};
    pgw_slice text = exact(value);
    pgw_add_logfmt(text, &out);
    pgw_buf_add_byte(&out, '\0');
    assert_string_equal(out.ptr, shown);
    exact_free(text);
    pgw_buf_free(&out);
}

static void test_values(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof VALUES / sizeof VALUES[0]; i++)
        check_value(pgw_slice_str(VALUES[i].text), VALUES[i].shown);
    check_value((pgw_slice){"a\0b", 3}, "\"a\\x00b\"");
}

/* Which characters beyond ASCII may steer a terminal or end a line, by all of two and three bytes.
 */
static void test_unsafe_characters(void **state)
{
    (void)state;
    for (unsigned c = 0x80; c < 0x10000; c += c == 0xD7FF ? 0x801 : 1) {
        char text[4] = {0};
        pgw_buf out = {0};
        if (c < 0x800)
            text[0] = (char)(0xC0 | c >> 6);
        else
            text[0] = (char)(0xE0 | c >> 12), text[1] = (char)(0x80 | (c >> 6 & 63));
        text[strlen(text)] = (char)(0x80 | (c & 63));
        bool unsafe = c < 0xA0 || (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
        pgw_add_logfmt(pgw_slice_str(text), &out);
        assert_int_equal(pgw_slice_eq_str(pgw_slice_buf(&out), text), !unsafe);
        pgw_buf_free(&out);
    }
}

/* As long as may be, and one byte more. */
static void test_long_values(void **state)
{
    (void)state;
    char text[PGW_LOGFMT_MAX + 2] = "", shown[PGW_LOGFMT_MAX + 8];
    memset(text, 'x', PGW_LOGFMT_MAX);
    check_value(pgw_slice_str(text), text);
    snprintf(shown, sizeof shown, "\"%s...\"", text);
    text[PGW_LOGFMT_MAX] = 'x';
    check_value(pgw_slice_str(text), shown);
}

/* Whatever the bytes are, what is shown is one line of printable characters. */
static void test_every_byte(void **state)
{
    (void)state;
    for (unsigned pair = 0; pair < 1u << 16; pair++) {
        pgw_buf out = {0};
        char bytes[2] = {(char)(pair >> 8), (char)pair};
        pgw_add_logfmt((pgw_slice){bytes, 2}, &out);
        for (size_t i = 0; i < out.len; i++)
            assert_true((unsigned char)out.ptr[i] >= ' ' && out.ptr[i] != 0x7f);
        pgw_buf_free(&out);
    }
}

static void test_lines(void **state)
{
    (void)state;
    pgw_buf out = {0};
    pgw_add_printable(pgw_slice_str("one\ntwo \x1b \"x\""), true, &out);
    assert_true(pgw_slice_eq_str(pgw_slice_buf(&out), "one\ntwo \\x1B \"x\""));
    pgw_buf_clear(&out);
    pgw_add_printable(pgw_slice_str("one\ntwo"), false, &out);
    assert_true(pgw_slice_eq_str(pgw_slice_buf(&out), "one\\ntwo"));
    pgw_buf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values), cmocka_unit_test(test_unsafe_characters),
        cmocka_unit_test(test_long_values), cmocka_unit_test(test_every_byte),
        cmocka_unit_test(test_lines)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
