/* What may be said before a session, in which order, and how often. */
#include "protocol/negotiation.h"
#include "tests/protocol/wire_vectors.h"

#define SSL "\0\0\0\010\004\322\026\057"
#define GSS "\0\0\0\010\004\322\026\060"
#define CANCEL "\0\0\0\020\004\322\026\056\0\0\0\001\0\0\0\002"
#define SESSION "\0\0\0\020\0\003\0\0user\0a\0\0"
#define OLD "\0\0\0\010\0\002\0\0"
#define BAD "\0\0\0\001"

/* Packets that come one after another, each after the answer to the one before, and what is made of
 * them: . more, N decline, S encrypt, + session, ! cancel, x drop, then the SQLSTATE of a refusal.
 */
typedef struct dialogue {
    bool tls; /* can be had */
    pgw_slice packets[4];
    const char *outcome;
} dialogue;

#define P(bytes) PGW_LITERAL(bytes)

static const dialogue dialogues[] = {
    {true, {P(SSL), P(SESSION)}, "S+"},
    {false, {P(SSL), P(SESSION)}, "N+"},
    {true, {P(SESSION)}, "+"},
    {true, {P(GSS), P(SSL), P(SESSION)}, "NS+"},
    {true, {P(SSL), P(CANCEL)}, "S!"},
    {true, {P(CANCEL)}, "!"},
    {false, {P(GSS), P(SSL), P(SESSION)}, "NN+"},
    {false, {P(SSL), P(GSS), P(SESSION)}, "NN+"},
    {false, {P(SSL), P(SSL)}, "N0A000"},
    {false, {P(GSS), P(GSS)}, "N0A000"},
    {true, {P(SSL), P(SSL)}, "S0A000"}, /* inside of TLS */
    {true, {P(SSL), P(GSS)}, "S0A000"},
    {true,
     {P(SSL SESSION), P(SESSION)},
     "S08P01"}, /* sent before the answer came: CVE-2021-23214 */
    {true, {P(SSL "\026\003\001"), P(SESSION)}, "S08P01"},
    {false, {P(SSL SESSION), P(SESSION)}, "N08P01"},
    {false, {P(SSL "x"), P("x")}, "N08P01"},
    {true, {P(GSS SESSION), P(SESSION)}, "N08P01"},
    {true, {P(SSL GSS), P(GSS)}, "S08P01"},
    {true, {P("\0\0\0\010\004\322\026")}, "."},
    {true, {P("\0\0\0")}, "."},
    {true, {P("\0\0\0\020\0\003\0\0user\0a\0")}, "."},
    {true, {P(OLD)}, "0A000"},
    {true, {P(BAD)}, "x"},
    {true, {P("X\0\0\0\4")}, "x"}, /* a client that ends what it has not begun */
    {true, {P("\0\0\0\020\0\003\0\0user\0ab\0")}, "08P01"},
};

static void hold(pgw_negotiation *state, pgw_slice packet, pgw_buf *out)
{
    static const char signs[] = ".NS+!x";
    static pgw_startup startup;
    pgw_error error = PGW_ERROR_NONE;
    pgw_negotiated what = pgw_negotiate(state, packet, &startup, &error);
    if (what == PGW_NEGOTIATED_REFUSE)
        pgw_buf_add_str(out, error.sqlstate);
    else
        pgw_buf_add_byte(out, signs[what]);
}

static void test_dialogues(void **data)
{
    (void)data;
    for (size_t i = 0; i < sizeof dialogues / sizeof *dialogues; i++) {
        const dialogue *d = &dialogues[i];
        pgw_negotiation state = {.tls = d->tls};
        pgw_buf out = {0};
        for (size_t k = 0; k < 4 && d->packets[k].ptr != NULL; k++)
            hold(&state, d->packets[k], &out);
        pgw_buf_add_byte(&out, '\0');
        assert_string_equal(out.ptr, d->outcome);
        pgw_buf_free(&out);
    }
}

static void test_directly(void **data)
{
    (void)data;
    pgw_negotiation state = {.tls = true};
    assert_false(pgw_negotiate_directly(&state, 0));
    assert_false(state.tls_asked);
    assert_true(pgw_negotiate_directly(&state, 0x16));
    assert_true(state.tls_asked && state.gss_asked && !state.tls);
    state = (pgw_negotiation){.tls = false};
    assert_false(pgw_negotiate_directly(&state, 0x16));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dialogues),
        cmocka_unit_test(test_directly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
