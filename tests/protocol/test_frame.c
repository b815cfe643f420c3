/* Streams cut into messages, wherever the bytes happen to be cut. */
#include "protocol/frame.h"
#include "tests/protocol/wire_vectors.h"

enum { MAX_FRAMES = 256 };

typedef struct frames {
    pgw_frame at[MAX_FRAMES];
    size_t count;
    pgw_buf bodies;
} frames;

/* Takes the whole messages at the start of `pending`, as a connection's reader would. */
static void take(pgw_buf *pending, frames *out)
{
    size_t done = 0;
    for (;;) {
        pgw_slice rest = {pending->ptr + done, pending->len - done};
        pgw_frame frame;
        pgw_frame_result result = pgw_frame_next(rest, &frame);
        assert_int_not_equal(result, PGW_FRAME_BAD);
        if (result == PGW_FRAME_MORE || frame.size > rest.len)
            break;
        assert_in_range(out->count, 0, MAX_FRAMES - 1);
        out->at[out->count++] = frame;
        pgw_buf_add_slice(&out->bodies, pgw_frame_body(rest, frame));
        done += frame.size;
    }
    memmove(pending->ptr, pending->ptr + done, pending->len - done);
    pending->len -= done;
}

/* The frames of `stream` when it comes in pieces that end at `first` and then every `step`. */
static void read_in_pieces(pgw_slice stream, size_t first, size_t step, frames *out)
{
    pgw_buf pending = {0};
    pgw_buf_reserve(&pending, 1);
    *out = (frames){.count = 0};
    for (size_t at = 0, len = first; at < stream.len; at += len, len = step) {
        len = len < stream.len - at ? len : stream.len - at;
        pgw_slice piece = exact((pgw_slice){stream.ptr + at, len});
        pgw_buf_add_slice(&pending, piece);
        exact_free(piece);
        take(&pending, out);
    }
    assert_int_equal(pending.len, 0);
    pgw_buf_free(&pending);
}

static void check_same(const frames *got, const frames *expected)
{
    assert_int_equal(got->count, expected->count);
    for (size_t i = 0; i < got->count; i++) {
        assert_int_equal(got->at[i].type, expected->at[i].type);
        assert_int_equal(got->at[i].size, expected->at[i].size);
    }
    assert_true(pgw_slice_eq(pgw_slice_buf(&got->bodies), pgw_slice_buf(&expected->bodies)));
}

static void append_wire(const vector *v, void *data)
{
    pgw_slice wire = vector_bytes(v->field[0]);
    pgw_buf_add_slice(data, wire);
    exact_free(wire);
}

static void check_every_cut(const char *file)
{
    static frames whole, cut;
    pgw_buf stream = {0};
    size_t messages = (size_t)vectors_each(file, append_wire, &stream);
    read_in_pieces(pgw_slice_buf(&stream), stream.len, 1, &whole);
    assert_int_equal(whole.count, messages);
    for (size_t at = 0; at <= stream.len; at++) {
        read_in_pieces(pgw_slice_buf(&stream), at, stream.len, &cut);
        check_same(&cut, &whole);
        pgw_buf_free(&cut.bodies);
    }
    for (size_t step = 1; step < 16; step++) {
        read_in_pieces(pgw_slice_buf(&stream), step, step, &cut);
        check_same(&cut, &whole);
        pgw_buf_free(&cut.bodies);
    }
    pgw_buf_free(&whole.bodies);
    pgw_buf_free(&stream);
}

static void test_every_cut_gives_the_same_frames(void **state)
{
    (void)state;
    check_every_cut("frontend.txt");
    check_every_cut("backend.txt");
}

static pgw_frame_result next_of_length(uint32_t length, pgw_frame *frame)
{
    char head[PGW_HEADER] = {'d', (char)(length >> 24), (char)(length >> 16), (char)(length >> 8),
                             (char)length};
    pgw_slice bytes = exact((pgw_slice){head, sizeof head});
    pgw_frame_result result = pgw_frame_next(bytes, frame);
    exact_free(bytes);
    return result;
}

static void test_lengths(void **state)
{
    (void)state;
    static const struct {
        uint32_t length;
        pgw_frame_result result;
    } cases[] = {
        {0, PGW_FRAME_BAD},          {3, PGW_FRAME_BAD},          {4, PGW_FRAME_OK},
        {5, PGW_FRAME_OK},           {0x3ffffffe, PGW_FRAME_OK},  {0x40000002, PGW_FRAME_OK},
        {0x40000003, PGW_FRAME_BAD}, {0x7fffffff, PGW_FRAME_BAD}, {0x80000000, PGW_FRAME_BAD},
        {0xffffffff, PGW_FRAME_BAD},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pgw_frame frame;
        assert_int_equal(next_of_length(cases[i].length, &frame), cases[i].result);
        assert_int_equal(frame.type, 'd');
        if (cases[i].result == PGW_FRAME_OK)
            assert_int_equal(frame.size, (size_t)cases[i].length + 1);
    }
}

static void test_header_in_parts(void **state)
{
    (void)state;
    pgw_frame frame;
    for (size_t len = 0; len < PGW_HEADER; len++) {
        pgw_slice part = exact((pgw_slice){"\xff\xff\xff\xff\xff", len});
        assert_int_equal(pgw_frame_next(part, &frame), PGW_FRAME_MORE);
        exact_free(part);
    }
    assert_int_equal(pgw_frame_next((pgw_slice){NULL, 0}, &frame), PGW_FRAME_MORE);
}

/* PostgreSQL 15: a Sync of length 10000 is read, one of 10001 ends the connection; the length of
 * a Query may be 0x3ffffffe. The length counts its own four bytes. */
static void test_limits(void **state)
{
    (void)state;
    for (const char *type = "CDEHSXcf"; *type != '\0'; type++)
        assert_int_equal(pgw_frame_limit(*type), 10000 - 4);
    for (const char *type = "QPBFd"; *type != '\0'; type++)
        assert_int_equal(pgw_frame_limit(*type), 0x3ffffffe - 4);
    assert_int_equal(pgw_frame_limit('p'), 65535 - 4);
    assert_int_equal(pgw_frame_limit('\0'), 10000 - 4);
}

static void test_types(void **state)
{
    (void)state;
    for (int type = 0; type < 256; type++) {
        bool frontend = type != 0 && strchr("BCDEFHPQSXcdf", type) != NULL;
        bool backend = type != 0 && strchr("123ACDEGHIKNRSTVWZcdnstv", type) != NULL;
        assert_int_equal(pgw_frame_is_frontend((char)type), frontend);
        assert_int_equal(pgw_frame_is_backend((char)type), backend);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_cut_gives_the_same_frames),
        cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_header_in_parts),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
