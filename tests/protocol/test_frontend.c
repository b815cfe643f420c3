/* The client's messages: read, written again, cut short, and malformed. */
#include "protocol/frame.h"
#include "protocol/frontend.h"
#include "tests/protocol/wire_vectors.h"

static void describe_bind(pgw_slice body, pgw_buf *out)
{
    pgw_bind bind;
    assert_true(pgw_bind_decode(body, &bind));
    pgw_buf_add_str(out, "Bind ");
    print_bracketed(out, bind.portal);
    pgw_buf_add_byte(out, ' ');
    print_bracketed(out, bind.statement);
    pgw_buf_addf(out, " formats=%zu values=", bind.format_count);
    pgw_reader reader = pgw_reader_of(bind.values);
    for (size_t i = 0; i < bind.value_count; i++) {
        pgw_bind_value value = pgw_bind_next(&reader);
        pgw_buf_add_str(out, i > 0 ? "," : "");
        pgw_buf_add_byte(out, pgw_bind_is_binary(&bind, i) ? 'b' : 't');
        if (value.null)
            pgw_buf_add_str(out, "null");
        else
            print_bracketed(out, value.bytes);
    }
    assert_true(pgw_reader_done(&reader));
    pgw_buf_add_str(out, " results=");
    reader = pgw_reader_of(bind.results);
    for (unsigned i = 0, count = pgw_read_u16(&reader); i < count; i++)
        pgw_buf_addf(out, "%s%u", i > 0 ? "," : "", pgw_read_u16(&reader));
    assert_true(pgw_reader_done(&reader));
}

static void describe_parse(pgw_slice body, pgw_buf *out)
{
    pgw_parse parse;
    assert_true(pgw_parse_decode(body, &parse));
    pgw_buf_add_str(out, "Parse ");
    print_bracketed(out, parse.name);
    pgw_buf_add_byte(out, ' ');
    print_bracketed(out, parse.query);
    pgw_buf_add_str(out, " types=");
    for (size_t i = 0; i < parse.type_count; i++)
        pgw_buf_addf(out, "%s%u", i > 0 ? "," : "", pgw_parse_type(&parse, i));
    assert_int_equal(pgw_parse_type(&parse, parse.type_count), 0);
}

static void describe_target(const char *what, pgw_slice body, pgw_buf *out)
{
    pgw_target target;
    assert_true(pgw_target_decode(body, &target));
    pgw_buf_addf(out, "%s %c ", what, target.kind);
    print_bracketed(out, target.name);
}

static void describe_execute(pgw_slice body, pgw_buf *out)
{
    pgw_execute execute;
    assert_true(pgw_execute_decode(body, &execute));
    pgw_buf_add_str(out, "Execute ");
    print_bracketed(out, execute.portal);
    pgw_buf_addf(out, " %u", execute.max_rows);
}

static void describe_query(pgw_slice body, pgw_buf *out)
{
    pgw_slice text;
    assert_true(pgw_query_decode(body, &text));
    pgw_buf_add_str(out, "Query ");
    print_bracketed(out, text);
}

static void describe(char type, pgw_slice body, pgw_buf *out)
{
    switch (type) {
    case 'Q':
        describe_query(body, out);
        return;
    case 'P':
        describe_parse(body, out);
        return;
    case 'B':
        describe_bind(body, out);
        return;
    case 'D':
        describe_target("Describe", body, out);
        return;
    case 'C':
        describe_target("Close", body, out);
        return;
    case 'E':
        describe_execute(body, out);
        return;
    case 'S':
    case 'H':
    case 'X':
        assert_int_equal(body.len, 0);
        pgw_buf_add_str(out, type == 'S' ? "Sync" : type == 'H' ? "Flush" : "Terminate");
        return;
    default:
        pgw_buf_addf(out, "Other %c %zu", type, body.len);
    }
}

static void write_parse(pgw_slice body, pgw_buf *out)
{
    pgw_parse parse;
    assert_true(pgw_parse_decode(body, &parse));
    uint32_t types[16];
    assert_in_range(parse.type_count, 0, 16);
    for (size_t i = 0; i < parse.type_count; i++)
        types[i] = pgw_parse_type(&parse, i);
    assert_true(pgw_write_parse(parse.name, parse.query, types, parse.type_count, out));
}

/* Decodes and writes again; false for messages that have no writer. */
static bool write_again(char type, pgw_slice body, pgw_buf *out)
{
    pgw_slice text;
    pgw_bind bind;
    pgw_target target;
    pgw_execute execute;
    switch (type) {
    case 'Q':
        assert_true(pgw_query_decode(body, &text));
        assert_true(pgw_write_query(text, out));
        return true;
    case 'P':
        write_parse(body, out);
        return true;
    case 'B':
        assert_true(pgw_bind_decode(body, &bind));
        assert_true(pgw_write_bind(&bind, bind.portal, bind.statement, NULL, 0, out));
        return true;
    case 'D':
    case 'C':
        assert_true(pgw_target_decode(body, &target));
        (type == 'D' ? pgw_write_describe : pgw_write_close)(target.kind, target.name, out);
        return true;
    case 'E':
        assert_true(pgw_execute_decode(body, &execute));
        pgw_write_execute(execute.portal, execute.max_rows, out);
        return true;
    case 'S':
        pgw_write_sync(out);
        return true;
    case 'H':
        pgw_write_flush(out);
        return true;
    default:
        return false;
    }
}

/* True if the decoder of this type takes the body. */
static bool decodes(char type, pgw_slice body)
{
    pgw_slice text;
    pgw_parse parse;
    pgw_bind bind;
    pgw_target target;
    pgw_execute execute;
    switch (type) {
    case 'Q':
        return pgw_query_decode(body, &text);
    case 'P':
        return pgw_parse_decode(body, &parse);
    case 'B':
        return pgw_bind_decode(body, &bind);
    case 'D':
    case 'C':
        return pgw_target_decode(body, &target);
    default:
        return pgw_execute_decode(body, &execute);
    }
}

static void check_round_trip(const vector *v, void *data)
{
    (void)data;
    pgw_slice wire = vector_bytes(v->field[0]);
    pgw_frame frame;
    assert_int_equal(pgw_frame_next(wire, &frame), PGW_FRAME_OK);
    assert_int_equal(frame.size, wire.len);
    assert_true(pgw_frame_is_frontend(frame.type));
    pgw_slice body = exact(pgw_frame_body(wire, frame));
    pgw_buf out = {0};
    describe(frame.type, body, &out);
    check_text(v, &out, v->field[1]);
    pgw_buf_clear(&out);
    if (write_again(frame.type, body, &out))
        check_bytes(v, pgw_slice_buf(&out), wire);
    pgw_buf_free(&out);
    exact_free(body);
    exact_free(wire);
}

static void test_round_trips(void **state)
{
    (void)state;
    assert_in_range(vectors_each("frontend.txt", check_round_trip, NULL), 40, 1000);
}

static void check_truncations(const vector *v, void *data)
{
    (void)data;
    pgw_slice wire = vector_bytes(v->field[0]);
    for (size_t len = 0; len + PGW_HEADER < wire.len; len++) {
        pgw_slice part = exact((pgw_slice){wire.ptr + PGW_HEADER, len});
        if (strchr("QPBDCE", wire.ptr[0]) != NULL && decodes(wire.ptr[0], part))
            fail_msg("line %d: taken when cut to %zu bytes", v->line, len);
        exact_free(part);
    }
    exact_free(wire);
}

static void test_truncations_are_refused(void **state)
{
    (void)state;
    vectors_each("frontend.txt", check_truncations, NULL);
}

static void check_malformed(const vector *v, void *data)
{
    (void)data;
    pgw_slice body = vector_bytes(v->field[1]);
    if (decodes(v->field[0][0], body))
        fail_msg("line %d: taken: %s", v->line, v->field[2]);
    exact_free(body);
}

static void test_malformed_are_refused(void **state)
{
    (void)state;
    assert_in_range(vectors_each("frontend_malformed.txt", check_malformed, NULL), 40, 1000);
}

static void check_bind(const vector *v, void *data)
{
    (void)data;
    pgw_slice body = vector_bytes(v->field[0]), expected = vector_bytes(v->field[2]);
    int64_t more[4];
    size_t count = 0;
    for (const char *at = v->field[1]; *at != '\0'; at += *at == ',') {
        char *end;
        assert_in_range(count, 0, 3);
        more[count++] = strtoll(at, &end, 10);
        at = end;
    }
    pgw_bind bind;
    assert_true(pgw_bind_decode(body, &bind));
    pgw_buf out = {0};
    assert_true(pgw_write_bind(&bind, PGW_LITERAL("p1"), PGW_LITERAL("s1"), more, count, &out));
    check_bytes(v, pgw_slice_buf(&out), expected);
    pgw_buf_free(&out);
    exact_free(body);
    exact_free(expected);
}

static void test_bind_gains_parameters(void **state)
{
    (void)state;
    assert_in_range(vectors_each("frontend_bind.txt", check_bind, NULL), 16, 1000);
}

/* A Bind's body with `count` NULLs and as many format codes (`formats`) or none. */
static pgw_slice many_nulls(size_t count, bool formats, pgw_buf *out)
{
    pgw_buf_add(out, "\0", 2);
    pgw_buf_add_i16(out, (int16_t)(formats ? count : 0));
    for (size_t i = 0; formats && i < count; i++)
        pgw_buf_add_i16(out, (int16_t)(i % 2));
    pgw_buf_add_i16(out, (int16_t)count);
    for (size_t i = 0; i < count; i++)
        pgw_buf_add_i32(out, -1);
    pgw_buf_add_i16(out, 0);
    return pgw_slice_buf(out);
}

static void check_boundary(size_t count, size_t more_count, bool formats, bool fits)
{
    static const int64_t more[2] = {1, -1};
    pgw_buf body = {0}, out = {0};
    pgw_bind bind, again;
    assert_true(pgw_bind_decode(many_nulls(count, formats, &body), &bind));
    assert_int_equal(bind.value_count, count);
    pgw_buf_add_str(&out, "before");
    bool written =
        pgw_write_bind(&bind, PGW_LITERAL("p"), PGW_LITERAL("s"), more, more_count, &out);
    assert_int_equal(written, fits);
    if (fits) {
        pgw_slice message = {out.ptr + 6 + PGW_HEADER, out.len - 6 - PGW_HEADER};
        assert_true(pgw_bind_decode(message, &again));
        assert_int_equal(again.value_count, count + more_count);
        assert_int_equal(again.format_count, formats ? count + more_count : 0);
        assert_int_equal(pgw_bind_is_binary(&again, 1), formats);
        assert_false(pgw_bind_is_binary(&again, count + more_count - 1) && more_count > 0);
    } else {
        assert_true(pgw_slice_eq_str(pgw_slice_buf(&out), "before"));
    }
    pgw_buf_free(&body);
    pgw_buf_free(&out);
}

static void test_bind_at_the_most_parameters(void **state)
{
    (void)state;
    for (int formats = 0; formats < 2; formats++) {
        check_boundary(65535, 0, formats, true);
        check_boundary(65534, 1, formats, true);
        check_boundary(65533, 2, formats, true);
        check_boundary(65535, 1, formats, false);
        check_boundary(65534, 2, formats, false);
        check_boundary(32768, 2, formats, true);
    }
}

static void test_bind_of_our_own(void **state)
{
    (void)state;
    pgw_bind bind = {.value_count = 0}, again;
    pgw_buf out = {0};
    assert_true(pgw_write_bind(&bind, PGW_LITERAL(""), PGW_LITERAL("s"), NULL, 0, &out));
    assert_true(pgw_bind_decode((pgw_slice){out.ptr + PGW_HEADER, out.len - PGW_HEADER}, &again));
    assert_int_equal(again.results.len, 2);
    pgw_buf_free(&out);
}

static void test_formats_beyond_the_last(void **state)
{
    (void)state;
    pgw_bind bind = {.formats = {"\0\1\0\1", 4}, .format_count = 2, .value_count = 2};
    assert_true(pgw_bind_is_binary(&bind, 1));
    assert_false(pgw_bind_is_binary(&bind, 2));
    pgw_bind senseless = {.formats = {"\0\2", 2}, .format_count = 1, .value_count = 1};
    assert_false(pgw_bind_is_binary(&senseless, 0));
}

static void test_parse_at_the_most_types(void **state)
{
    (void)state;
    uint32_t *types = pgw_calloc(65536, sizeof *types);
    types[65534] = 20;
    pgw_buf out = {0};
    pgw_parse parse;
    assert_false(pgw_write_parse(PGW_LITERAL("s"), PGW_LITERAL("q"), types, 65536, &out));
    assert_int_equal(out.len, 0);
    assert_true(pgw_write_parse(PGW_LITERAL("s"), PGW_LITERAL("q"), types, 65535, &out));
    pgw_slice body = {out.ptr + PGW_HEADER, out.len - PGW_HEADER};
    assert_true(pgw_parse_decode(body, &parse));
    assert_int_equal(parse.type_count, 65535);
    assert_int_equal(pgw_parse_type(&parse, 65534), 20);
    pgw_buf_free(&out);
    free(types);
}

static void test_types_of_a_refused_parse(void **state)
{
    (void)state;
    pgw_parse parse;
    assert_false(pgw_parse_decode((pgw_slice){"\0\0\0\2\0", 5}, &parse));
    assert_int_equal(pgw_parse_type(&parse, 0), 0);
}

static void test_what_is_in_front_stays(void **state)
{
    (void)state;
    pgw_buf out = {0};
    pgw_write_sync(&out);
    assert_true(pgw_write_query(PGW_LITERAL("x"), &out));
    assert_true(pgw_slice_eq(pgw_slice_buf(&out), PGW_LITERAL("S\0\0\0\4Q\0\0\0\6x\0")));
    pgw_buf_free(&out);
}

/* A Bind of formats and two values, with texts put behind: the values' formats stay what they were.
 */
static void check_bind_text(const char *formats, size_t format_count, pgw_slice expected_formats)
{
    static const pgw_slice more[] = {{"-5", 2}, {NULL, 0}};
    pgw_bind bind = {.portal = PGW_LITERAL("p"),
                     .statement = PGW_LITERAL("s"),
                     .formats = {formats, 2 * format_count},
                     .format_count = format_count,
                     .values = PGW_LITERAL("\0\0\0\1a\xff\xff\xff\xff"),
                     .value_count = 2,
                     .results = PGW_LITERAL("\0\1\0\1")};
    pgw_buf out = {0}, expected = {0};
    assert_true(pgw_write_bind_text(&bind, more, 2, &out));
    pgw_buf_add(&expected, "p\0s\0", 4);
    pgw_buf_add_slice(&expected, expected_formats);
    pgw_buf_add(&expected, "\0\4\0\0\0\1a\xff\xff\xff\xff\0\0\0\2-5\xff\xff\xff\xff\0\1\0\1", 25);
    assert_int_equal(out.ptr[0], 'B');
    assert_true(pgw_slice_eq((pgw_slice){out.ptr + PGW_HEADER, out.len - PGW_HEADER},
                             pgw_slice_buf(&expected)));
    pgw_buf_free(&out);
    pgw_buf_free(&expected);
}

static void test_bind_gains_texts(void **state)
{
    (void)state;
    check_bind_text("", 0, PGW_LITERAL("\0\0"));
    check_bind_text("\0\1", 1, PGW_LITERAL("\0\4\0\1\0\1\0\0\0\0"));
    check_bind_text("\0\0\0\1", 2, PGW_LITERAL("\0\4\0\0\0\1\0\0\0\0"));
    pgw_buf out = {0};
    pgw_bind none = {.results = {NULL, 0}}, most = {.value_count = 65535};
    const pgw_slice more = PGW_LITERAL("x");
    assert_true(pgw_write_bind_text(&none, &more, 1, &out));
    assert_true(
        pgw_slice_eq(pgw_slice_buf(&out), PGW_LITERAL("B\0\0\0\021\0\0\0\0\0\1\0\0\0\1x\0\0")));
    pgw_buf_clear(&out);
    assert_false(pgw_write_bind_text(&most, &more, 1, &out));
    const int64_t number = 7;
    assert_false(pgw_write_bind(&most, most.portal, most.statement, &number, 1, &out));
    assert_int_equal(out.len, 0);
    most.value_count--; /* one less, and there is room */
    assert_true(pgw_write_bind_text(&most, &more, 1, &out));
    assert_true(pgw_write_bind(&most, most.portal, most.statement, &number, 1, &out));
    pgw_buf_free(&out);
}

static void test_a_copy_is_given_up(void **state)
{
    (void)state;
    pgw_buf out = {0};
    pgw_write_copy_fail("why", &out);
    assert_true(pgw_slice_eq(pgw_slice_buf(&out), PGW_LITERAL("f\0\0\0\10why\0")));
    pgw_buf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trips),
        cmocka_unit_test(test_truncations_are_refused),
        cmocka_unit_test(test_malformed_are_refused),
        cmocka_unit_test(test_bind_gains_parameters),
        cmocka_unit_test(test_bind_at_the_most_parameters),
        cmocka_unit_test(test_bind_of_our_own),
        cmocka_unit_test(test_formats_beyond_the_last),
        cmocka_unit_test(test_parse_at_the_most_types),
        cmocka_unit_test(test_types_of_a_refused_parse),
        cmocka_unit_test(test_what_is_in_front_stays),
        cmocka_unit_test(test_bind_gains_texts),
        cmocka_unit_test(test_a_copy_is_given_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
