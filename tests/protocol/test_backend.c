/* The server's messages, as PostgreSQL sent them: read, written again, cut short, and malformed. */
#include "protocol/backend.h"
#include "protocol/error.h"
#include "protocol/frame.h"
#include "tests/protocol/wire_vectors.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MAX_CELLS = 8, MAX_TYPES = 8 };

static void describe_error(const char *what, pgw_slice body, pgw_buf *out)
{
    pgw_error error;
    pgw_error_read(body, &error);
    pgw_buf_addf(out, "%s %.*s %s ", what, (int)pgw_error_field(body, 'S').len,
                 pgw_error_field(body, 'S').ptr, error.sqlstate);
    print_bracketed(out, pgw_slice_str(error.message));
    pgw_buf_add_byte(out, ' ');
    print_bracketed(out, pgw_slice_str(error.detail));
    pgw_buf_add_byte(out, ' ');
    print_bracketed(out, pgw_slice_str(error.hint));
    pgw_buf_addf(out, " %zu", error.position);
}

static void describe_row(pgw_slice body, pgw_buf *out)
{
    pgw_slice cells[MAX_CELLS];
    bool nulls[MAX_CELLS];
    int count = pgw_data_row_decode(body, cells, nulls, MAX_CELLS);
    assert_in_range(count, 0, MAX_CELLS);
    pgw_buf_add_str(out, "DataRow ");
    for (int i = 0; i < count; i++) {
        pgw_buf_add_str(out, i > 0 ? "," : "");
        if (nulls[i])
            pgw_buf_add_str(out, "null");
        else
            print_bracketed(out, cells[i]);
    }
}

static void describe_status(pgw_slice body, pgw_buf *out)
{
    pgw_slice name, value;
    assert_true(pgw_parameter_status_decode(body, &name, &value));
    pgw_buf_add_str(out, "ParameterStatus ");
    print_bracketed(out, name);
    pgw_buf_add_byte(out, ' ');
    print_bracketed(out, value);
}

static void describe_types(pgw_slice body, pgw_buf *out)
{
    size_t count;
    pgw_slice types;
    assert_true(pgw_parameter_description_decode(body, &count, &types));
    pgw_buf_add_str(out, "ParameterDescription ");
    for (size_t i = 0; i < count; i++)
        pgw_buf_addf(out, "%s%u", i > 0 ? "," : "", pgw_type_at(types, i));
    assert_int_equal(pgw_type_at(types, count), 0);
}

static void describe_tag(pgw_slice body, pgw_buf *out)
{
    pgw_buf_add_str(out, "CommandComplete ");
    print_bracketed(out, pgw_slice_str(body.ptr));
    pgw_buf_addf(out, " %llu", (unsigned long long)pgw_tag_rows(body));
}

static void describe(char type, pgw_slice body, pgw_buf *out)
{
    pgw_reader reader = pgw_reader_of(body);
    switch (type) {
    case 'S':
        describe_status(body, out);
        return;
    case 't':
        describe_types(body, out);
        return;
    case 'D':
        describe_row(body, out);
        return;
    case 'C':
        describe_tag(body, out);
        return;
    case 'E':
        describe_error("ErrorResponse", body, out);
        return;
    case 'N':
        describe_error("NoticeResponse", body, out);
        return;
    case 'K':
        pgw_buf_addf(out, "BackendKeyData %u", pgw_read_u32(&reader));
        pgw_buf_addf(out, " %u", pgw_read_u32(&reader));
        return;
    case 'Z':
        pgw_buf_addf(out, "ReadyForQuery %c", pgw_read_u8(&reader));
        return;
    case '1':
    case '2':
    case '3':
    case 'n':
        pgw_buf_add_str(out, type == '1'   ? "ParseComplete"
                             : type == '2' ? "BindComplete"
                             : type == '3' ? "CloseComplete"
                                           : "NoData");
        return;
    default:
        if (type == 'R' && body.len == 4 && pgw_read_u32(&reader) == 0)
            pgw_buf_add_str(out, "AuthenticationOk");
        else
            pgw_buf_addf(out, "Other %c %zu", type, body.len);
    }
}

static void write_types(pgw_slice body, pgw_buf *out)
{
    size_t count;
    pgw_slice types;
    uint32_t copy[MAX_TYPES];
    assert_true(pgw_parameter_description_decode(body, &count, &types));
    assert_in_range(count, 0, MAX_TYPES);
    for (size_t i = 0; i < count; i++)
        copy[i] = pgw_type_at(types, i);
    assert_true(pgw_write_parameter_description(copy, count, out));
}

/* Decodes and writes again; false for messages that have no writer. */
static bool write_again(char type, pgw_slice body, pgw_buf *out)
{
    pgw_slice name, value;
    pgw_reader reader = pgw_reader_of(body);
    uint32_t first;
    switch (type) {
    case 'S':
        assert_true(pgw_parameter_status_decode(body, &name, &value));
        pgw_write_parameter_status(name, value, out);
        return true;
    case 'K':
        first = pgw_read_u32(&reader);
        pgw_write_key_data(first, (pgw_slice){body.ptr + 4, body.len - 4}, out);
        return true;
    case 'Z':
        pgw_write_ready((char)pgw_read_u8(&reader), out);
        return true;
    case 'C':
        pgw_write_tag(body.ptr, out);
        return true;
    case '1':
        pgw_write_parse_complete(out);
        return true;
    case '2':
        pgw_write_bind_complete(out);
        return true;
    case '3':
        pgw_write_close_complete(out);
        return true;
    case 'n':
        pgw_write_no_data(out);
        return true;
    case 't':
        write_types(body, out);
        return true;
    case 'R':
        if (body.len == 4 && pgw_read_u32(&reader) == 0)
            pgw_write_authentication_ok(out);
        return out->len > 0;
    default:
        return false;
    }
}

static void check_round_trip(const vector *v, void *data)
{
    bool *seen = data;
    pgw_slice wire = vector_bytes(v->field[0]);
    pgw_frame frame;
    assert_int_equal(pgw_frame_next(wire, &frame), PGW_FRAME_OK);
    assert_int_equal(frame.size, wire.len);
    assert_true(pgw_frame_is_backend(frame.type));
    seen[(unsigned char)frame.type] = true;
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
    bool seen[256] = {false};
    assert_in_range(vectors_each("backend.txt", check_round_trip, seen), 60, 1000);
    for (int type = 0; type < 256; type++)
        if (pgw_frame_is_backend((char)type) != seen[type])
            fail_msg("no vector for messages of type %c", type);
}

/* True if the decoder of this type takes the body, or counts rows in it. */
static bool decodes(char type, pgw_slice body)
{
    pgw_slice first, second, cells[2];
    bool nulls[2];
    size_t count;
    switch (type) {
    case 'S':
        return pgw_parameter_status_decode(body, &first, &second);
    case 't':
        return pgw_parameter_description_decode(body, &count, &second);
    case 'D':
        return pgw_data_row_decode(body, cells, nulls, 2) >= 0;
    default:
        return pgw_tag_rows(body) > 0;
    }
}

static void check_truncations(const vector *v, void *data)
{
    (void)data;
    pgw_slice wire = vector_bytes(v->field[0]);
    for (size_t len = 0; len + PGW_HEADER < wire.len; len++) {
        pgw_slice part = exact((pgw_slice){wire.ptr + PGW_HEADER, len});
        pgw_error error;
        pgw_error_read(part, &error);
        assert_true(error.sqlstate[0] != '\0');
        if (strchr("StDC", wire.ptr[0]) != NULL && decodes(wire.ptr[0], part))
            fail_msg("line %d: taken when cut to %zu bytes", v->line, len);
        exact_free(part);
    }
    exact_free(wire);
}

static void test_truncations_are_refused(void **state)
{
    (void)state;
    vectors_each("backend.txt", check_truncations, NULL);
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
    assert_in_range(vectors_each("backend_malformed.txt", check_malformed, NULL), 25, 1000);
}

static void test_more_cells_than_asked_for(void **state)
{
    (void)state;
    pgw_slice cells[2] = {{NULL, 0}, PGW_LITERAL("untouched")};
    bool nulls[2] = {true, true};
    pgw_slice row = exact(PGW_LITERAL("\0\3\0\0\0\1a\xff\xff\xff\xff\0\0\0\1c"));
    assert_int_equal(pgw_data_row_decode(row, cells, nulls, 1), 3);
    assert_true(pgw_slice_eq_str(cells[0], "a"));
    assert_false(nulls[0]);
    assert_true(pgw_slice_eq_str(cells[1], "untouched"));
    assert_int_equal(pgw_data_row_decode(row, NULL, NULL, 0), 3);
    exact_free(row);
}

typedef struct shown {
    const char *name, *origin, *type; /* six bytes, ten */
    char format;
} shown;

static pgw_buf describe_columns(const shown *columns, size_t count)
{
    pgw_buf body = {0};
    pgw_buf_add_i16(&body, (int16_t)count);
    for (size_t i = 0; i < count; i++) {
        pgw_buf_add(&body, columns[i].name, strlen(columns[i].name) + 1);
        pgw_buf_add(&body, columns[i].origin, 6);
        pgw_buf_add(&body, columns[i].type, 10);
        pgw_buf_add_i16(&body, columns[i].format);
    }
    return body;
}

/* The same names and types; where they come from, and their format, may be another. */
static void test_descriptions_agree(void **state)
{
    (void)state;
    static const shown first[] = {{"a", "table1", "type of  a", 0},
                                  {"b", "table2", "type of  b", 1}};
    static const struct {
        shown columns[3];
        size_t count;
        bool agrees;
    } cases[] = {
        {{{"a", "table1", "type of  a", 0}, {"b", "table2", "type of  b", 1}}, 2, true},
        {{{"a", "tableX", "type of  a", 0}, {"b", "table2", "type of  b", 0}}, 2, true},
        {{{"A", "table1", "type of  a", 0}, {"b", "table2", "type of  b", 1}}, 2, false},
        {{{"a", "table1", "type of  A", 0}, {"b", "table2", "type of  b", 1}}, 2, false},
        {{{"a", "table1", "type of  a", 0}, {"B", "table2", "type of  b", 1}}, 2, false},
        {{{"a", "table1", "type of  a", 0}, {"b", "table2", "type of  B", 1}}, 2, false},
        {{{"a", "table1", "type of  a", 0}}, 1, false},
        {{{"a", "table1", "type of  a", 0},
          {"b", "table2", "type of  b", 1},
          {"c", "table2", "type of  c", 1}},
         3,
         false},
    };
    pgw_buf one = describe_columns(first, 2);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pgw_buf other = describe_columns(cases[i].columns, cases[i].count);
        pgw_slice a = pgw_slice_buf(&one), b = pgw_slice_buf(&other);
        assert_int_equal(pgw_row_descriptions_agree(a, b), cases[i].agrees);
        assert_int_equal(pgw_row_descriptions_agree(b, a), cases[i].agrees);
        pgw_buf_free(&other);
    }
    pgw_slice none = {NULL, 0};
    assert_true(pgw_row_descriptions_agree(none, none));
    assert_false(pgw_row_descriptions_agree(none, pgw_slice_buf(&one)));
    pgw_buf_free(&one);
}

/* Only the formats become those that a Bind asked for. */
static void test_a_description_has_the_formats_of_a_bind(void **state)
{
    (void)state;
    static const shown columns[] = {{"a", "table1", "type of  a", 0},
                                    {"b", "table2", "type of  b", 0}};
    static const struct {
        pgw_slice formats;
        char first, second;
    } cases[] = {{{NULL, 0}, 0, 0},
                 {{"\0\0", 2}, 0, 0},
                 {{"\0\1\0\1", 4}, 1, 1},
                 {{"\0\2\0\0\0\1", 6}, 0, 1},
                 {{"\0\2\0\1\0\0", 6}, 1, 0}};
    pgw_buf body = describe_columns(columns, 2);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        shown formatted[2] = {columns[0], columns[1]};
        formatted[0].format = cases[i].first;
        formatted[1].format = cases[i].second;
        pgw_buf expected = describe_columns(formatted, 2), out = {0};
        pgw_write_row_description(pgw_slice_buf(&body), cases[i].formats, &out);
        pgw_frame frame;
        assert_int_equal(pgw_frame_next(pgw_slice_buf(&out), &frame), PGW_FRAME_OK);
        assert_int_equal(frame.type, 'T');
        assert_int_equal(frame.size, out.len);
        assert_true(pgw_slice_eq((pgw_slice){out.ptr + PGW_HEADER, out.len - PGW_HEADER},
                                 pgw_slice_buf(&expected)));
        pgw_buf_free(&expected);
        pgw_buf_free(&out);
    }
    pgw_buf_free(&body);
}

static void test_tags_of_inserts(void **state)
{
    (void)state;
    static const uint64_t rows[] = {0, 1, 2, 10, UINT64_MAX};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char tag[64];
        snprintf(tag, sizeof tag, "INSERT 0 %" PRIu64, rows[i]);
        pgw_buf written = {0}, wanted = {0};
        pgw_write_insert_tag(rows[i], &written);
        pgw_write_tag(tag, &wanted);
        assert_true(pgw_slice_eq(pgw_slice_buf(&written), pgw_slice_buf(&wanted)));
        pgw_buf_free(&written);
        pgw_buf_free(&wanted);
    }
}

static void test_messages_without_a_body(void **state)
{
    (void)state;
    pgw_buf out = {0};
    pgw_write_portal_suspended(&out);
    pgw_write_row_description((pgw_slice){NULL, 0}, (pgw_slice){NULL, 0}, &out);
    assert_true(pgw_slice_eq(pgw_slice_buf(&out), PGW_LITERAL("s\0\0\0\4n\0\0\0\4")));
    pgw_buf_clear(&out);
    static const uint32_t types[65536];
    assert_false(pgw_write_parameter_description(types, 65536, &out));
    assert_int_equal(out.len, 0);
    pgw_buf_free(&out);
}

static void add_one(const char *name, const char *type, pgw_buf *body)
{
    pgw_buf_add_i16(body, 1);
    pgw_buf_add(body, name, strlen(name) + 1);
    pgw_buf_add(body, "\0\0\0\0\0\0", 6);
    pgw_buf_add(body, type, 10);
    pgw_buf_add_i16(body, 0);
}

/* What is sent may have a name by now; what was told with one has that. */
static void a_column_without_a_name_may_get_one(void **state)
{
    (void)state;
    static const char type[] = "\0\0\0\x19\xff\xff\xff\xff\xff\xff";
    pgw_buf named = {0}, unnamed = {0};
    add_one("text", type, &named);
    add_one("?column?", type, &unnamed);
    assert_true(pgw_row_descriptions_read_alike(pgw_slice_buf(&named), pgw_slice_buf(&unnamed)));
    assert_false(pgw_row_descriptions_read_alike(pgw_slice_buf(&unnamed), pgw_slice_buf(&named)));
    assert_false(pgw_row_descriptions_agree(pgw_slice_buf(&named), pgw_slice_buf(&unnamed)));
    pgw_buf_free(&named);
    pgw_buf_free(&unnamed);
}

/* Lengths and modifiers aside, and which kind of string it is. */
static void row_descriptions_are_read_alike(void **state)
{
    (void)state;
    static const struct {
        const char *name, *type; /* 10 bytes: oid, length, typmod */
        bool alike;
    } cases[] = {
        {"a", "\0\0\0\x19\xff\xff\xff\xff\xff\xff", true}, /* text */
        {"a", "\0\0\4\x13\xff\xff\0\0\0\x0e", true},       /* varchar(10) */
        {"a", "\0\0\4\x12\xff\xff\0\0\0\x09", true},       /* char(5) */
        {"a", "\0\0\0\0\0\0\0\0\0\0", true},               /* not known */
        {"a", "\0\0\0\x17\0\4\xff\xff\xff\xff", false},    /* int4 */
        {"b", "\0\0\0\x19\xff\xff\xff\xff\xff\xff", false},
    };
    pgw_buf text = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pgw_buf body = {0};
        add_one(cases[i].name, cases[i].type, &body);
        if (text.len == 0)
            pgw_buf_add(&text, body.ptr, body.len);
        assert_int_equal(
            pgw_row_descriptions_read_alike(pgw_slice_buf(&body), pgw_slice_buf(&text)),
            cases[i].alike);
        pgw_buf_free(&body);
    }
    pgw_buf_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trips),
        cmocka_unit_test(test_truncations_are_refused),
        cmocka_unit_test(test_malformed_are_refused),
        cmocka_unit_test(test_more_cells_than_asked_for),
        cmocka_unit_test(test_descriptions_agree),
        cmocka_unit_test(row_descriptions_are_read_alike),
        cmocka_unit_test(a_column_without_a_name_may_get_one),
        cmocka_unit_test(test_a_description_has_the_formats_of_a_bind),
        cmocka_unit_test(test_messages_without_a_body),
        cmocka_unit_test(test_tags_of_inserts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
