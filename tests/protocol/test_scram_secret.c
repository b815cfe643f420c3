/* SCRAM's secrets: RFC 7677's example, PostgreSQL 15's own, and what is none. */
#include "protocol/scram.h"
#include "tests/protocol/scram_checks.h"
#include "tests/protocol/wire_vectors.h"

/* RFC 7677, section 3. Its server's nonce is not one of ours, so the messages are not to be had
 * from an exchange; its proof and its signature are computed from the keys. */

static const char RFC_AUTH[] =
    "n=user,r=rOprNGfwEbeRWgbNEkqO,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,"
    "s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096,"
    "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0";
static const char RFC_PROOF[] = "dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=";
static const char RFC_SIGNATURE[] = "6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=";
static void test_rfc_keys(void **state)
{
    (void)state;
    pgw_scram_secret secret;
    assert_true(pgw_scram_secret_make(PGW_LITERAL("pencil"), RFC_SALT, 16, 4096, &secret));
    uint8_t bytes[32];
    client_keys keys = client_derive(PGW_LITERAL("pencil"), RFC_SALT, 16, 4096);
    client_proof(&keys, pgw_slice_str(RFC_AUTH), bytes);
    check_base64(bytes, RFC_PROOF);
    client_hmac(secret.server_key, pgw_slice_str(RFC_AUTH), bytes);
    check_base64(bytes, RFC_SIGNATURE);
    assert_memory_equal(secret.stored_key, keys.stored, 32);
    assert_memory_equal(secret.salt, RFC_SALT, 16);
    assert_int_equal(secret.salt_len, 16);
    assert_int_equal(secret.iterations, 4096);
}

static void check_secret(const vector *v, void *data)
{
    (void)data;
    pgw_slice password = vector_bytes(v->field[0]);
    pgw_slice text = exact(pgw_slice_str(v->field[1]));
    pgw_scram_secret parsed, made;
    if (!pgw_scram_secret_parse(text, &parsed))
        fail_msg("line %d: not taken", v->line);
    assert_int_equal(parsed.iterations, 4096);
    assert_int_equal(parsed.salt_len, PGW_SCRAM_SALT);
    assert_true(
        pgw_scram_secret_make(password, parsed.salt, parsed.salt_len, parsed.iterations, &made));
    if (memcmp(made.stored_key, parsed.stored_key, PGW_SCRAM_KEY) != 0 ||
        memcmp(made.server_key, parsed.server_key, PGW_SCRAM_KEY) != 0)
        fail_msg("line %d: other keys: %s", v->line, v->field[2]);
    exact_free(password);
    exact_free(text);
}

static void test_secrets(void **state)
{
    (void)state;
    assert_in_range(vectors_each("scram_secrets.txt", check_secret, NULL), 30, 1000);
}

#define STORED "$XAioLpc9CWB0/vmvwf21Bb6b4lqDm0rKIMrjQEHyl/Q="
#define SERVER ":kh9rI5Bg0x5PzyyE5V/kZkT4cd3C0oKwUYMBsECFUd4="
#define A64 "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

static void test_secret_texts(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool taken;
    } cases[] = {
        {"SCRAM-SHA-256$4096:AI9U9e58WN2K8xjhHi7SGg==" STORED SERVER, true},
        {"SCRAM-SHA-256$1:AA==" STORED SERVER, true},
        {"SCRAM-SHA-256$2147483647:AA==" STORED SERVER, true},
        {"SCRAM-SHA-256$2147483648:AA==" STORED SERVER, false},
        {"SCRAM-SHA-256$18446744073709551617:AA==" STORED SERVER, false},
        {"SCRAM-SHA-256$0:AA==" STORED SERVER, false},
        {"SCRAM-SHA-256$:AA==" STORED SERVER, false},
        {"SCRAM-SHA-256$-1:AA==" STORED SERVER, false},
        {"SCRAM-SHA-256$ 1:AA==" STORED SERVER, false},
        {"SCRAM-SHA-256$1x:AA==" STORED SERVER, false},
        {"SCRAM-SHA-256$1:" A64 "A==" STORED SERVER, true}, /* 64 bytes */
        {"SCRAM-SHA-256$1:" A64 "AA=" STORED SERVER, false},
        {"SCRAM-SHA-256$1:" STORED SERVER, false},
        {"SCRAM-SHA-256$1:A" STORED SERVER, false},
        {"SCRAM-SHA-256$1:AA==" STORED SERVER " ", false},
        {"SCRAM-SHA-256$1:AA==" STORED SERVER SERVER, false},
        {"SCRAM-SHA-256$1:AA==" STORED, false},
        {"SCRAM-SHA-256$1:AA==" STORED ":AAAA", false},
        {"SCRAM-SHA-256$1:AA==$AAAA" SERVER, false},
        {"SCRAM-SHA-256$1:AA==$" SERVER, false},
        {"SCRAM-SHA-256$1:AA==" STORED ":" A64, false},
        {"SCRAM-SHA-1$1:AA==" STORED SERVER, false},
        {"scram-sha-256$1:AA==" STORED SERVER, false},
        {"$1:AA==" STORED SERVER, false},
        {"md50123456789abcdef0123456789abcdef", false},
        {"pencil", false},
        {"", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        pgw_scram_secret secret;
        pgw_slice text = exact(pgw_slice_str(cases[i].text));
        if (pgw_scram_secret_parse(text, &secret) != cases[i].taken)
            fail_msg("%s", cases[i].text);
        for (size_t len = 0; len < text.len; len++) {
            pgw_slice part = exact((pgw_slice){text.ptr, len});
            assert_false(cases[i].taken && pgw_scram_secret_parse(part, &secret));
            exact_free(part);
        }
        exact_free(text);
    }
}

static void test_making_out_of_range(void **state)
{
    (void)state;
    uint8_t salt[PGW_SCRAM_MAX_SALT + 1] = {0};
    pgw_slice password = PGW_LITERAL("pencil");
    pgw_scram_secret secret;
    assert_true(pgw_scram_secret_make(password, salt, PGW_SCRAM_MAX_SALT, 1, &secret));
    assert_true(pgw_scram_secret_make((pgw_slice){NULL, 0}, salt, 1, 1, &secret));
    assert_false(pgw_scram_secret_make(password, salt, PGW_SCRAM_MAX_SALT + 1, 1, &secret));
    assert_false(pgw_scram_secret_make(password, salt, 0, 1, &secret));
    assert_false(pgw_scram_secret_make(password, salt, 16, 0, &secret));
    assert_false(pgw_scram_secret_make(password, salt, 16, UINT32_C(0x80000000), &secret));
}

static void test_mock_secret(void **state)
{
    (void)state;
    uint8_t key[PGW_SCRAM_KEY] = "a key of this process", other_key[PGW_SCRAM_KEY] = "another";
    pgw_scram_secret secret, again, other;
    pgw_scram_secret_mock(PGW_LITERAL("nobody"), key, &secret);
    pgw_scram_secret_mock(PGW_LITERAL("nobody"), key, &again);
    assert_memory_equal(&secret, &again, sizeof secret);
    assert_int_equal(secret.salt_len, PGW_SCRAM_SALT);
    assert_int_equal(secret.iterations, PGW_SCRAM_ITERATIONS);
    pgw_scram_secret_mock(PGW_LITERAL("nobodx"), key, &other);
    assert_memory_not_equal(secret.salt, other.salt, PGW_SCRAM_SALT);
    pgw_scram_secret_mock(PGW_LITERAL("nobody"), other_key, &other);
    assert_memory_not_equal(secret.salt, other.salt, PGW_SCRAM_SALT);
    pgw_scram_secret_mock((pgw_slice){NULL, 0}, key, &other);
    assert_memory_not_equal(secret.salt, other.salt, PGW_SCRAM_SALT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rfc_keys),     cmocka_unit_test(test_secrets),
        cmocka_unit_test(test_secret_texts), cmocka_unit_test(test_making_out_of_range),
        cmocka_unit_test(test_mock_secret),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
