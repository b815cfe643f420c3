/* RFC 4648's base64: its vectors, every length, and what is refused. */
#include "protocol/base64.h"
#include "tests/protocol/wire_vectors.h"

static const struct {
    const char *bytes, *text;
} SAMPLES[] = {
    {"", ""},
    {"f", "Zg=="},
    {"fo", "Zm8="},
    {"foo", "Zm9v"},
    {"foob", "Zm9vYg=="},
    {"fooba", "Zm9vYmE="},
    {"foobar", "Zm9vYmFy"},
    {"\xfb\xef\xbe\xff\xff\xff", "++++////"},
};

static void test_samples(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof SAMPLES / sizeof SAMPLES[0]; i++) {
        pgw_buf out = {0};
        size_t len = strlen(SAMPLES[i].bytes), back_len = 99;
        pgw_base64_encode((const uint8_t *)SAMPLES[i].bytes, len, &out);
        assert_true(pgw_slice_eq_str(pgw_slice_buf(&out), SAMPLES[i].text));
        uint8_t back[6];
        pgw_slice text = exact(pgw_slice_str(SAMPLES[i].text));
        assert_true(pgw_base64_decode(text, back, sizeof back, &back_len));
        assert_int_equal(back_len, len);
        assert_memory_equal(back, SAMPLES[i].bytes, len);
        exact_free(text);
        pgw_buf_free(&out);
    }
}

/* There and back again, behind what is there already, and in no byte less. */
static void test_every_length(void **state)
{
    (void)state;
    uint8_t bytes[200], back[200];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * 151 + 7);
    for (size_t len = 1; len <= sizeof bytes; len++) {
        pgw_buf out = {0};
        size_t back_len;
        pgw_buf_add_str(&out, "x");
        pgw_base64_encode(bytes, len, &out);
        pgw_slice text = {out.ptr + 1, out.len - 1};
        assert_int_equal(text.len, (len + 2) / 3 * 4);
        assert_true(pgw_base64_decode(text, back, len, &back_len));
        assert_int_equal(back_len, len);
        assert_memory_equal(back, bytes, len);
        assert_false(pgw_base64_decode(text, back, len - 1, &back_len));
        pgw_buf_free(&out);
    }
}

static void test_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "Z",     "Zg",   "Zg=",      "Zg===",  "=",        "==",
        "===",   "====", "Z===",     "=Zg=",   "Zg=v",     "Zm8=Zm8=",
        "Zg== ", " Zg=", "Zm 9v   ", "Zm9v\n", "Zm9\n",    "Zm9-",
        "Zm9_",  "Zm9.", "Zm9\x80",  "Zm9@",   "Zm9[",     "Zm9`",
        "Zm9{",  "Zm9:", "Zm9vZ===", "Zm9vZg", "Zm9v====", "Zm9\xc3\xa9vYg"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        uint8_t bytes[16];
        size_t len;
        pgw_slice text = exact(pgw_slice_str(texts[i]));
        if (pgw_base64_decode(text, bytes, sizeof bytes, &len))
            fail_msg("taken: %s", texts[i]);
        exact_free(text);
    }
    size_t len;
    assert_false(pgw_base64_decode(PGW_LITERAL("Zm9\0"), (uint8_t[3]){0}, 3, &len));
}

/* PostgreSQL takes them. */
static void test_unused_bits(void **state)
{
    (void)state;
    uint8_t byte;
    size_t len;
    assert_true(pgw_base64_decode(PGW_LITERAL("Zv=="), &byte, 1, &len));
    assert_int_equal(byte, 'f');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_samples),
        cmocka_unit_test(test_every_length),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_unused_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
