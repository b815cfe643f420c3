/* The request for a password, and the password. */
#include "protocol/authentication.h"
#include "tests/protocol/wire_vectors.h"

static void test_request(void **state)
{
    (void)state;
    pgw_buf out = {0};
    pgw_write_authentication_cleartext(&out);
    assert_true(pgw_slice_eq(pgw_slice_buf(&out), PGW_LITERAL("R\0\0\0\x08\0\0\0\3")));
    pgw_buf_free(&out);
}

static void test_password(void **state)
{
    (void)state;
    static const struct {
        pgw_slice body;
        const char *password; /* NULL: refused */
    } cases[] = {
        {{"pencil\0", 7}, "pencil"},
        {{"\0", 1}, ""},
        {{"p\xc3\xa9\xff\0", 5}, "p\xc3\xa9\xff"},
        {{"", 0}, NULL},
        {{"pencil", 6}, NULL},
        {{"pencil\0\0", 8}, NULL},
        {{"pen\0cil\0", 8}, NULL},
        {{"\0x", 2}, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        pgw_slice password, body = exact(cases[i].body);
        bool taken = pgw_password_decode(body, &password);
        if (taken != (cases[i].password != NULL))
            fail_msg("case %zu", i);
        if (taken)
            assert_true(pgw_slice_eq_str(password, cases[i].password));
        exact_free(body);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_request),
        cmocka_unit_test(test_password),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
