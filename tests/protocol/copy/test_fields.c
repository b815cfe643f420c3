/* Fields of text and csv as PostgreSQL's COPY reads them, and which characters may mean something
 * in its data. */
#include "protocol/copy/fields.h"
#include "tests/protocol/wire_vectors.h"

#define TEXT .format = PGW_COPY_TEXT, .delimiter = ',', .null = PGW_LITERAL("\\N")
#define CSV_OF(q, e)                                                                               \
    .format = PGW_COPY_CSV, .delimiter = ',', .null = PGW_LITERAL("n"), .quote = q, .escape = e

/* `-` is NULL, `?` is not known, `=` stands before any other. */
static void check(const pgw_copy_options *options, unsigned force, pgw_slice raw,
                  pgw_slice expected)
{
    char *bytes = memcpy(pgw_alloc(raw.len + 1), raw.ptr, raw.len);
    /* What stands behind the field means nothing in it. */
    bytes[raw.len] = options->format == PGW_COPY_TEXT ? '1' : options->quote;
    pgw_copy_field field = options->format == PGW_COPY_TEXT
                               ? pgw_copy_field_text(options, bytes, raw.len)
                               : pgw_copy_field_csv(options, force, bytes, raw.len);
    assert_int_equal(expected.ptr[0], field.null ? '-' : field.unknown ? '?' : '=');
    assert_false(field.null && field.unknown);
    if (expected.ptr[0] == '=') {
        assert_int_equal(field.bytes.len, expected.len - 1);
        assert_memory_equal(field.bytes.ptr, expected.ptr + 1, expected.len - 1);
    }
    free(bytes);
}

#define CHECK(options, raw, expected) check(options, 0, PGW_LITERAL(raw), PGW_LITERAL(expected))

static void test_text(void **state)
{
    (void)state;
    const pgw_copy_options text = {TEXT}, marked = {TEXT, .marker = PGW_LITERAL("\\D")},
                           both = {TEXT, .marker = PGW_LITERAL("\\N")},
                           empty = {
                               .format = PGW_COPY_TEXT, .delimiter = ',', .null = PGW_LITERAL("")};
    CHECK(&text, "", "=");
    CHECK(&empty, "", "-");
    CHECK(&text, "\\N", "-");
    CHECK(&text, "\\\\N", "=\\N");
    CHECK(&text, "\\Nx", "=Nx");
    CHECK(&text, "N", "=N");
    CHECK(&text, "\\D", "=D");
    CHECK(&marked, "\\D", "?");
    CHECK(&marked, "\\Dx", "=Dx");
    CHECK(&both, "\\N", "-");
    CHECK(&text, "\\b\\f\\n\\r\\t\\v", "=\b\f\n\r\t\v");
    CHECK(&text, "\\a\\q\\\\\\,\\\n", "=aq\\,\n");
    CHECK(&text, "a\\", "=a\\");
    CHECK(&text, "\\\0\\t", "=\0\t");
    CHECK(&text, "\\1\\12\\101\\1011\\18\\8\\0x\\777",
          "=\1\12A"
          "A1\0018"
          "8\0x\377");
    CHECK(&text, "\\7\\07\\00712\\/\\9", "=\7\7\00712/9");
    CHECK(&text, "\\1", "=\1");
    CHECK(&text, "\\12", "=\12");
    CHECK(&text, "\\x4\\x41\\x411\\x4g\\xAf\\xfA\\xF\\xa", "=\4AA1\4g\xaf\xfa\xf\xa");
    CHECK(&text, "\\x0\\x9\\x/\\x:\\xg\\xG\\x@\\x`\\x", "=\0\x9x/x:xgxGx@x`x");
    CHECK(&text, "\\x1", "=\1");
    CHECK(&text, "\\x10", "=\x10");
}

static void test_csv(void **state)
{
    (void)state;
    const pgw_copy_options usual = {CSV_OF('"', '"')}, escaped = {CSV_OF('"', '\\')};
    CHECK(&usual, "", "=");
    CHECK(&usual, "n", "-");
    CHECK(&usual, "\"n\"", "=n");
    CHECK(&usual, "\"\"", "=");
    CHECK(&usual, "a\"b,\"c", "=ab,c");
    CHECK(&usual, "\"a\"\"b\"", "=a\"b");
    CHECK(&usual, "\"a\"\"\"", "=a\"");
    CHECK(&usual, "\"\"\"\"\"a\"", "=\"\"a");
    CHECK(&usual, "a\\\"b\"", "=a\\b");
    CHECK(&escaped, "\"a\\\"b\\\\c\\d\\", "=a\"b\\c\\d\\");
    CHECK(&escaped, "a\\\"b\"", "=a\\b"); /* It escapes nothing outside of quotes. */
    CHECK(&escaped, "\"a\"\"b\"", "=ab");
    CHECK(&escaped, "\"a\\\"", "=a\""); /* No quote ends it. */
    CHECK(&usual, "\"a\"\"", "=a\"");
    check(&usual, PGW_COPY_FORCE_NULL, PGW_LITERAL("\"n\""), PGW_LITERAL("-"));
    check(&usual, PGW_COPY_FORCE_NULL, PGW_LITERAL("\"nn\""), PGW_LITERAL("=nn"));
    check(&usual, PGW_COPY_FORCE_NULL, PGW_LITERAL("n"), PGW_LITERAL("-"));
    check(&usual, PGW_COPY_FORCE_NOT_NULL, PGW_LITERAL("\"n\""), PGW_LITERAL("=n"));
    check(&usual, PGW_COPY_FORCE_NOT_NULL, PGW_LITERAL("n"), PGW_LITERAL("=n"));
    check(&usual, PGW_COPY_FORCE_NOT_NULL | PGW_COPY_FORCE_NULL, PGW_LITERAL("n"),
          PGW_LITERAL("=n"));
    check(&usual, PGW_COPY_FORCE_NOT_NULL | PGW_COPY_FORCE_NULL, PGW_LITERAL("\"n\""),
          PGW_LITERAL("-"));
}

static void test_delimiters(void **state)
{
    (void)state;
    pgw_error error;
    static const char never[] = "\\.abcdefghijklmnopqrstuvwxyz0123456789";
    for (int c = 1; c < 256; c++) {
        bool ends = c == '\n' || c == '\r';
        assert_int_equal(pgw_copy_delimits(false, (char)c, '"', &error),
                         !ends && strchr(never, c) == NULL);
        assert_int_equal(pgw_copy_delimits(true, (char)c, '"', &error), !ends && c != '"');
    }
    assert_false(pgw_copy_delimits(true, '\n', '\n', &error));
    assert_string_equal(error.message, "COPY delimiter cannot be newline or carriage return");
    assert_string_equal(error.sqlstate, "22023");
    assert_false(pgw_copy_delimits(false, 'x', '"', &error));
    assert_string_equal(error.message, "COPY delimiter cannot be \"x\"");
    assert_string_equal(error.sqlstate, "22023");
    assert_false(pgw_copy_delimits(true, '|', '|', &error));
    assert_string_equal(error.message, "COPY delimiter and quote must be different");
    assert_string_equal(error.sqlstate, "22023");
}

static bool confuses(pgw_copy_format format, const char *characters, const char *null,
                     const char *marker)
{
    const pgw_copy_options options = {.format = format,
                                      .delimiter = characters[0],
                                      .quote = characters[1],
                                      .escape = characters[2],
                                      .null = pgw_slice_str(null),
                                      .marker = pgw_slice_str(marker)};
    return pgw_copy_confuses(&options);
}

static void test_confusing(void **state)
{
    (void)state;
    static const char digits[] = "-0123456789";
    for (const char *c = digits; *c != '\0'; c++) {
        const char delimiter[] = {*c, '"', '"'}, quote[] = {',', *c, '"'},
                   escape[] = {',', '"', *c}, word[] = {'0', *c, '\0'};
        assert_true(confuses(PGW_COPY_TEXT, delimiter, "\\N", NULL));
        assert_true(confuses(PGW_COPY_CSV, delimiter, "", NULL));
        assert_true(confuses(PGW_COPY_CSV, quote, "", NULL));
        assert_true(confuses(PGW_COPY_CSV, escape, "", NULL));
        assert_false(confuses(PGW_COPY_TEXT, quote, "", NULL)); /* Text has neither. */
        assert_false(confuses(PGW_COPY_TEXT, escape, "", NULL));
        assert_false(confuses(PGW_COPY_BINARY, delimiter, word, word));
        assert_true(confuses(PGW_COPY_TEXT, ",\"\"", word, NULL));
        assert_true(confuses(PGW_COPY_CSV, ",\"\"", "", word));
    }
    assert_false(confuses(PGW_COPY_CSV, ",\"\"", "", ""));
    assert_false(confuses(PGW_COPY_CSV, ",\"\"", "1x", "x1"));
    assert_false(confuses(PGW_COPY_TEXT, ",\"\"", "1x", "1x"));
    assert_true(confuses(PGW_COPY_TEXT, ",\"\"", "x", "1"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_csv),
        cmocka_unit_test(test_delimiters),
        cmocka_unit_test(test_confusing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
