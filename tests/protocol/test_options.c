/* The startup parameter `options`: words, switches, and what may be put behind them. */
#include "protocol/options.h"
#include "tests/protocol/wire_vectors.h"

static const struct {
    const char *text;
    bool good;
    const char *written;
} CASES[] = {
    {"", true, ""},
    {"  \t\n", true, ""},
    {"-c a=b", true, "-c a=b"},
    {"  -c   a=b  ", true, "-c a=b"},
    {"-ca=b --c-d=e", true, "-ca=b --c-d=e"},
    {"-c a=b\\ c\\\\d", true, "-c a=b\\ c\\\\d"},
    {"-c a=b\\\tc", true, "-c a=b\\\tc"},
    {"-c a=\\b", true, "-c a=b"},
    {"-c a=b\\", true, "-c a=b"}, /* what comes behind is not escaped by it */
    {"-c a=b\\\\\\", true, "-c a=b\\\\"},
    {"--", true, ""}, /* what comes behind is no operand by it */
    {"-c a=b --", true, "-c a=b"},
    {"-e --", true, "-e"},
    {"-eF -d 1 -d2", true, "-eF -d 1 -d2"},
    {"-ed 1", true, "-ed 1"},
    {"-c --", true, "-c --"}, /* a value */
    {"-c", false, "-c"},
    {"-c \\", false, "-c \\"},
    {"-ec", false, "-ec"},
    {"-c a=b -W", false, "-c a=b -W"},
    {"-z", false, "-z"},
    {"-:", false, "-:"},
    {"bare", false, "bare"},
    {"-", false, "-"},
    {"\\", false, "\\"},
    {"-- -c a=b", false, "-- -c a=b"},
    {"-c a=b bare", false, "-c a=b bare"},
};

static void test_cases(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        pgw_buf out = {0};
        pgw_slice text = exact(pgw_slice_str(CASES[i].text));
        bool good = pgw_options_add(text, &out);
        pgw_buf_add_byte(&out, '\0');
        if (good != CASES[i].good || strcmp(out.ptr, CASES[i].written) != 0)
            fail_msg("%s: %d %s", CASES[i].text, good, out.ptr);
        pgw_buf_free(&out);
        exact_free(text);
    }
}

/* What was written is read as the same words again. */
static void test_twice(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        pgw_buf out = {0};
        if (CASES[i].good)
            assert_true(pgw_options_add(pgw_slice_str(CASES[i].written), &out));
        if (CASES[i].good)
            assert_true(pgw_slice_eq_str(pgw_slice_buf(&out), CASES[i].written));
        pgw_buf_free(&out);
    }
}

static void test_more_behind(void **state)
{
    (void)state;
    pgw_buf out = {0};
    assert_true(pgw_options_add(PGW_LITERAL("-c a=b\\"), &out));
    pgw_options_set(PGW_LITERAL("search_path"), PGW_LITERAL("a b\\"), &out);
    assert_true(pgw_options_add(PGW_LITERAL("-e --"), &out));
    assert_true(pgw_options_add(PGW_LITERAL(""), &out));
    assert_true(pgw_slice_eq_str(pgw_slice_buf(&out), "-c a=b -c search_path=a\\ b\\\\ -e"));
    pgw_buf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases), cmocka_unit_test(test_twice),
                                       cmocka_unit_test(test_more_behind)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
