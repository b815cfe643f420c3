/* First packets: every kind, cut short, and the answer to newer protocols. */
#include "protocol/frame.h"
#include "protocol/startup.h"
#include "tests/protocol/wire_vectors.h"

static const char *const KINDS[] = {
    [PGW_STARTUP_MORE] = "more",
    [PGW_STARTUP_BAD_LENGTH] = "length",
    [PGW_STARTUP_BAD_LAYOUT] = "layout",
    [PGW_STARTUP_SESSION] = "session",
    [PGW_STARTUP_UNSUPPORTED] = "unsupported",
    [PGW_STARTUP_SSL] = "ssl",
    [PGW_STARTUP_GSSENC] = "gssenc",
    [PGW_STARTUP_CANCEL] = "cancel",
};

static void describe_version(pgw_startup_kind kind, const pgw_startup *startup, pgw_buf *out)
{
    if (kind == PGW_STARTUP_CANCEL)
        pgw_buf_addf(out, "%u.", startup->cancel_pid);
    for (size_t i = 0; kind == PGW_STARTUP_CANCEL && i < startup->cancel_key.len; i++)
        pgw_buf_addf(out, "%02x", (unsigned char)startup->cancel_key.ptr[i]);
    if (kind == PGW_STARTUP_SESSION || kind == PGW_STARTUP_UNSUPPORTED)
        pgw_buf_addf(out, "%u.%u", startup->major, startup->minor);
}

static void describe_parameters(const pgw_startup *startup, pgw_buf *out)
{
    pgw_slice rest = startup->parameters;
    pgw_parameter parameter;
    while (pgw_startup_next(&rest, &parameter)) {
        pgw_buf_add_str(out, out->len > 0 ? " " : "");
        print_escaped(out, parameter.name);
        pgw_buf_add_byte(out, '=');
        print_bracketed(out, parameter.value);
        assert_int_equal(parameter.name.ptr[parameter.name.len], '\0');
        assert_int_equal(parameter.value.ptr[parameter.value.len], '\0');
    }
}

static void check_session(const vector *v, const pgw_startup *startup)
{
    pgw_buf out = {0};
    describe_parameters(startup, &out);
    check_text(v, &out, v->field[3]);
    pgw_buf_clear(&out);
    pgw_startup_negotiate(startup, &out);
    pgw_slice expected = vector_bytes(v->field[4]);
    check_bytes(v, pgw_slice_buf(&out), expected);
    exact_free(expected);
    pgw_buf_free(&out);
}

static void check_packet(const vector *v, void *data)
{
    (void)data;
    static pgw_startup startup;
    pgw_slice packet = vector_bytes(v->field[0]);
    memset(&startup, 0x5a, sizeof startup); /* nothing of before stays */
    pgw_startup_kind kind = pgw_startup_decode(packet, &startup);
    pgw_buf out = {0};
    pgw_buf_add_str(&out, KINDS[kind]);
    check_text(v, &out, v->field[1]);
    pgw_buf_clear(&out);
    describe_version(kind, &startup, &out);
    check_text(v, &out, v->field[2]);
    if (kind == PGW_STARTUP_SESSION)
        check_session(v, &startup);
    if (kind >= PGW_STARTUP_SESSION)
        assert_int_equal(startup.size, packet.len);
    pgw_buf_free(&out);
    exact_free(packet);
}

static void test_packets(void **state)
{
    (void)state;
    assert_in_range(vectors_each("startup.txt", check_packet, NULL), 45, 1000);
}

/* Cut anywhere it is not there yet; with its length cut as well, it is no session, but a request
 * for encryption may be of any length, and so may the key of a cancel. */
static void check_cut(const vector *v, pgw_slice packet, size_t len, pgw_startup_kind whole)
{
    static pgw_startup startup;
    pgw_slice part = exact((pgw_slice){packet.ptr, len});
    if (pgw_startup_decode(part, &startup) != PGW_STARTUP_MORE)
        fail_msg("line %d: not waited for when cut to %zu bytes", v->line, len);
    if (len >= 4) {
        char *length = (char *)part.ptr;
        length[2] = (char)(len >> 8);
        length[3] = (char)len;
        bool request = whole == PGW_STARTUP_SSL || whole == PGW_STARTUP_GSSENC;
        size_t least = whole == PGW_STARTUP_CANCEL ? 13 : 8; /* with a key of one byte */
        pgw_startup_kind kind = pgw_startup_decode(part, &startup);
        if (kind != PGW_STARTUP_BAD_LENGTH && kind != PGW_STARTUP_BAD_LAYOUT &&
            !((request || whole == PGW_STARTUP_CANCEL) && kind == whole && len >= least))
            fail_msg("line %d: taken with length %zu", v->line, len);
    }
    exact_free(part);
}

static void check_cuts(const vector *v, void *data)
{
    (void)data;
    static pgw_startup startup;
    pgw_slice packet = vector_bytes(v->field[0]);
    pgw_startup_kind kind = pgw_startup_decode(packet, &startup);
    for (size_t len = 0; kind >= PGW_STARTUP_SESSION && len < packet.len; len++)
        check_cut(v, packet, len, kind);
    exact_free(packet);
}

static void test_cuts(void **state)
{
    (void)state;
    vectors_each("startup.txt", check_cuts, NULL);
}

static void test_what_follows_is_left(void **state)
{
    (void)state;
    static pgw_startup startup;
    pgw_slice bytes = PGW_LITERAL("\0\0\0\x10\0\3\0\0user\0a\0\0Q\0\0\0\5\0");
    assert_int_equal(pgw_startup_decode(bytes, &startup), PGW_STARTUP_SESSION);
    assert_int_equal(startup.size, 16);
}

/* A value that fills the packet up to `size` bytes. */
static pgw_startup_kind decode_of_size(size_t size)
{
    static pgw_startup startup;
    pgw_buf out = {0};
    pgw_buf_add_i32(&out, (int32_t)size);
    pgw_buf_add_i32(&out, 3 << 16);
    pgw_buf_add(&out, "user", 5);
    while (out.len < size - 2)
        pgw_buf_add_byte(&out, 'a');
    pgw_buf_add(&out, "\0", 2);
    pgw_slice packet = exact(pgw_slice_buf(&out));
    pgw_startup_kind kind = pgw_startup_decode(packet, &startup);
    pgw_buf_free(&out);
    exact_free(packet);
    return kind;
}

/* PostgreSQL's 10000 bytes do not count the length itself. */
static void test_longest(void **state)
{
    (void)state;
    assert_int_equal(decode_of_size(10004), PGW_STARTUP_SESSION);
    assert_int_equal(decode_of_size(10005), PGW_STARTUP_BAD_LENGTH);
}

static void test_parameter_by_name(void **state)
{
    (void)state;
    static pgw_startup startup;
    pgw_slice packet = PGW_LITERAL("\0\0\0\x25\0\3\0\0user\0first\0empty\0\0user\0last\0\0");
    assert_int_equal(pgw_startup_decode(packet, &startup), PGW_STARTUP_SESSION);
    assert_true(pgw_slice_eq_str(pgw_startup_parameter(&startup, "user"), "last"));
    assert_non_null(pgw_startup_parameter(&startup, "empty").ptr);
    assert_int_equal(pgw_startup_parameter(&startup, "empty").len, 0);
    assert_null(pgw_startup_parameter(&startup, "USER").ptr);
    assert_null(pgw_startup_parameter(&startup, "use").ptr);
}

static void test_options_by_name(void **state)
{
    (void)state;
    assert_true(pgw_startup_is_option(PGW_LITERAL("_pq_.")));
    assert_true(pgw_startup_is_option(PGW_LITERAL("_pq_.x")));
    assert_false(pgw_startup_is_option(PGW_LITERAL("_pq_")));
    assert_false(pgw_startup_is_option((pgw_slice){"_pq_.", 4}));
    assert_false(pgw_startup_is_option(PGW_LITERAL("_PQ_.x")));
    assert_false(pgw_startup_is_option((pgw_slice){NULL, 0}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_packets),
        cmocka_unit_test(test_cuts),
        cmocka_unit_test(test_what_follows_is_left),
        cmocka_unit_test(test_longest),
        cmocka_unit_test(test_parameter_by_name),
        cmocka_unit_test(test_options_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
