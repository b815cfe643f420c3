/* A Bind whose beginning is rewritten: whatever is here of it, and however the rest comes, the
 * backend gets what pgw_write_bind() makes of the whole. */
#include "protocol/frame.h"
#include "protocol/large_bind.h"
#include "tests/protocol/wire_vectors.h"

static const int64_t hashes[] = {7, -8};

static void put(pgw_buf *values, const char *text)
{
    pgw_buf_add_i32(values, text != NULL ? (int32_t)strlen(text) : -1);
    pgw_buf_add_str(values, text != NULL ? text : "");
}

/* A Bind of four parameters: of all lengths, one NULL; with two result formats. */
static pgw_buf whole_bind(size_t format_count)
{
    static const char formats[] = "\0\1\0\1\0\1\0\1";
    pgw_buf values = {0}, out = {0};
    put(&values, "1");
    put(&values, NULL);
    put(&values, "");
    put(&values, "a large one");
    const pgw_bind bind = {.portal = PGW_LITERAL("p"),
                           .statement = PGW_LITERAL("s"),
                           .formats = {formats, format_count * 2},
                           .format_count = format_count,
                           .values = pgw_slice_buf(&values),
                           .value_count = 4,
                           .results = {"\0\2\0\0\0\1", 6}};
    assert_true(pgw_write_bind(&bind, bind.portal, bind.statement, NULL, 0, &out));
    pgw_buf_free(&values);
    return out;
}

static pgw_slice body_of(const pgw_buf *message)
{
    return (pgw_slice){message->ptr + PGW_HEADER, message->len - PGW_HEADER};
}

/* Relays the client's message of which `here` bytes of the body have come, the rest in pieces. */
static void relay(pgw_slice body, size_t here, size_t piece, pgw_buf *out)
{
    pgw_bind bind;
    size_t given;
    pgw_buf begun = {0}, behind = {0};
    if (!pgw_bind_begins((pgw_slice){body.ptr, here}, &bind, &given))
        return;
    pgw_write_bind_begun(&bind, given, &begun);
    assert_true(pgw_bind_decode(body_of(&begun), &bind));
    assert_true(pgw_write_bind(&bind, bind.portal, bind.statement, hashes, 2, out));
    assert_true(pgw_bind_begins((pgw_slice){body.ptr, here}, &bind, &given));
    const char *rest = bind.values.ptr + bind.values.len, *end = body.ptr + body.len;
    assert_true(pgw_bind_cut(out, given, bind.value_count, (size_t)(end - rest), &behind));
    pgw_bind_walk walk = {.left = bind.value_count - given};
    for (bool parameters = true; rest < end;) {
        size_t part = (size_t)(end - rest) < piece ? (size_t)(end - rest) : piece;
        size_t taken = parameters ? pgw_bind_walk_on(&walk, (pgw_slice){rest, part}) : part;
        pgw_buf_add(out, rest, taken);
        rest += taken;
        if (parameters && walk.left == 0) {
            pgw_buf_add_slice(out, pgw_slice_buf(&behind));
            parameters = false;
        }
    }
    pgw_buf_free(&begun);
    pgw_buf_free(&behind);
}

static void it_is_what_the_whole_would_be(void **state)
{
    (void)state;
    static const size_t formats[] = {0, 1, 4};
    for (size_t f = 0; f < sizeof formats / sizeof *formats; f++) {
        pgw_buf message = whole_bind(formats[f]), expected = {0};
        pgw_slice body = body_of(&message);
        pgw_bind bind;
        size_t relayed = 0;
        assert_true(pgw_bind_decode(body, &bind));
        assert_true(pgw_write_bind(&bind, bind.portal, bind.statement, hashes, 2, &expected));
        for (size_t here = 0; here <= body.len; here++)
            for (size_t piece = 1; piece <= 9; piece += 2) {
                pgw_buf out = {0};
                relay(body, here, piece, &out);
                if (out.len > 0) {
                    assert_int_equal(out.len, expected.len);
                    assert_memory_equal(out.ptr, expected.ptr, out.len);
                    relayed++;
                }
                pgw_buf_free(&out);
            }
        assert_true(relayed > 5 * 20);
        pgw_buf_free(&message);
        pgw_buf_free(&expected);
    }
}

static void it_is_no_longer_than_a_message_may_be(void **state)
{
    (void)state;
    pgw_buf message = whole_bind(0), behind = {0};
    assert_false(pgw_bind_cut(&message, 1, 4, PGW_MAX_LARGE_BODY, &behind));
    pgw_buf_free(&message);
    pgw_buf_free(&behind);
}

/* A length below -1 is an error that the backend tells. */
static void a_wrong_length_ends_nowhere_else(void **state)
{
    (void)state;
    pgw_bind_walk walk = {.left = 2};
    assert_int_equal(pgw_bind_walk_on(&walk, (pgw_slice){"\xff\0\0\0\0\0\0\1xyz", 11}), 9);
    assert_int_equal(walk.left, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_what_the_whole_would_be),
        cmocka_unit_test(it_is_no_longer_than_a_message_may_be),
        cmocka_unit_test(a_wrong_length_ends_nowhere_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
