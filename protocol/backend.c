#include "protocol/backend.h"

#include "protocol/frontend.h"
#include "protocol/types.h"

#include <string.h>

static void write_empty(char type, pgw_buf *out)
{
    pgw_buf_add_byte(out, type);
    pgw_buf_add_i32(out, 4);
}

static void write_i32(char type, int32_t value, pgw_buf *out)
{
    pgw_buf_add_byte(out, type);
    pgw_buf_add_i32(out, 8);
    pgw_buf_add_i32(out, value);
}

void pgw_write_authentication_ok(pgw_buf *out)
{
    write_i32('R', 0, out);
}

void pgw_write_parameter_status(pgw_slice name, pgw_slice value, pgw_buf *out)
{
    size_t begun = pgw_begin(out, 'S');
    pgw_buf_add_slice(out, name);
    pgw_buf_add_byte(out, '\0');
    pgw_buf_add_slice(out, value);
    pgw_buf_add_byte(out, '\0');
    pgw_end_small(out, begun);
}

void pgw_write_key_data(uint32_t pid, pgw_slice key, pgw_buf *out)
{
    size_t begun = pgw_begin(out, 'K');
    pgw_buf_add_i32(out, (int32_t)pid);
    pgw_buf_add_slice(out, key);
    pgw_end_small(out, begun);
}

void pgw_write_ready(char status, pgw_buf *out)
{
    pgw_buf_add_byte(out, 'Z');
    pgw_buf_add_i32(out, 5);
    pgw_buf_add_byte(out, status);
}

void pgw_write_tag(const char *tag, pgw_buf *out)
{
    size_t begun = pgw_begin(out, 'C');
    pgw_buf_add(out, tag, strlen(tag) + 1);
    pgw_end_small(out, begun);
}

void pgw_write_insert_tag(uint64_t rows, pgw_buf *out)
{
    static const char of_one[] = "C\0\0\0\x0fINSERT 0 1";
    if (rows == 1) {
        pgw_buf_add(out, of_one, sizeof of_one);
        return;
    }
    size_t begun = pgw_begin(out, 'C');
    pgw_buf_add_str(out, "INSERT 0 ");
    pgw_buf_add_unsigned(out, rows);
    pgw_buf_add_byte(out, '\0');
    pgw_end_small(out, begun);
}

void pgw_write_parse_complete(pgw_buf *out)
{
    write_empty('1', out);
}

void pgw_write_bind_complete(pgw_buf *out)
{
    write_empty('2', out);
}

void pgw_write_close_complete(pgw_buf *out)
{
    write_empty('3', out);
}

void pgw_write_no_data(pgw_buf *out)
{
    write_empty('n', out);
}

void pgw_write_portal_suspended(pgw_buf *out)
{
    write_empty('s', out);
}

void pgw_write_empty_query(pgw_buf *out)
{
    write_empty('I', out);
}

bool pgw_write_data_row(const pgw_slice *cells, size_t count, pgw_buf *out)
{
    size_t begun = pgw_begin(out, 'D');
    pgw_buf_add_i16(out, (int16_t)count);
    for (size_t i = 0; i < count; i++) {
        pgw_buf_add_i32(out, cells[i].ptr != NULL ? (int32_t)cells[i].len : -1);
        pgw_buf_add_slice(out, cells[i]);
    }
    return pgw_end(out, begun);
}

bool pgw_write_parameter_description(const uint32_t *types, size_t count, pgw_buf *out)
{
    if (count > PGW_MAX_PARAMETERS)
        return false;
    size_t begun = pgw_begin(out, 't');
    pgw_buf_add_i16(out, (int16_t)count);
    for (size_t i = 0; i < count; i++)
        pgw_buf_add_i32(out, (int32_t)types[i]);
    return pgw_end(out, begun);
}

/* A column of a RowDescription. */
typedef struct column {
    pgw_slice name, origin, type; /* origin: table and attnum; type: oid, length, typmod */
    uint16_t format;
} column;

static column read_column(pgw_reader *reader)
{
    column c = {.name = pgw_read_string(reader)};
    c.origin = pgw_read_bytes(reader, 6);
    c.type = pgw_read_bytes(reader, 10);
    c.format = pgw_read_u16(reader);
    return c;
}

uint16_t pgw_result_format(pgw_slice results, size_t i)
{
    pgw_reader reader = pgw_reader_of(results);
    size_t count = results.len > 0 ? pgw_read_u16(&reader) : 0;
    pgw_read_bytes(&reader, count > 1 ? 2 * i : 0);
    return count > 0 ? pgw_read_u16(&reader) : 0;
}

void pgw_write_row_description(pgw_slice body, pgw_slice results, pgw_buf *out)
{
    if (body.len == 0) {
        pgw_write_no_data(out);
        return;
    }
    pgw_reader reader = pgw_reader_of(body);
    size_t begun = pgw_begin(out, 'T'), count = pgw_read_u16(&reader);
    pgw_buf_add_i16(out, (int16_t)count);
    for (size_t i = 0; i < count && !reader.failed; i++) {
        column c = read_column(&reader);
        pgw_buf_add(out, c.name.ptr, c.name.len + 1);
        pgw_buf_add_slice(out, c.origin);
        pgw_buf_add_slice(out, c.type);
        pgw_buf_add_i16(out, (int16_t)pgw_result_format(results, i));
    }
    pgw_end_small(out, begun);
}

static bool have_same_type(const column *a, const column *b)
{
    return pgw_slice_eq(a->type, b->type);
}

static uint32_t family_of(const column *c)
{
    uint32_t type = pgw_type_at(c->type, 0);
    bool string = type == PGW_VARCHAR || type == PGW_BPCHAR || type == PGW_NAME ||
                  type == PGW_UNKNOWN || type == PGW_TEXT;
    return string ? PGW_TEXT : type;
}

static bool are_read_alike(const column *a, const column *b)
{
    uint32_t one = family_of(a), other = family_of(b);
    return one == other || one == 0 || other == 0;
}

static bool have_same_name(const column *a, const column *b)
{
    return pgw_slice_eq(a->name, b->name);
}

/* Whether column `b` may have the name of `a`: "?column?" is what PostgreSQL calls one without a
 * name. */
static bool may_be_called(const column *a, const column *b)
{
    return have_same_name(a, b) || pgw_slice_eq_str(b->name, "?column?");
}

typedef bool compare(const column *a, const column *b);

static bool agree(pgw_slice a, pgw_slice b, compare *same_name, compare *same_type)
{
    if (a.len == 0 || b.len == 0)
        return a.len == b.len;
    pgw_reader left = pgw_reader_of(a), right = pgw_reader_of(b);
    size_t count = pgw_read_u16(&left);
    bool same = count == pgw_read_u16(&right);
    for (size_t i = 0; i < count && same; i++) {
        column c = read_column(&left), other = read_column(&right);
        same = same_name(&c, &other) && same_type(&c, &other);
    }
    return same && pgw_reader_done(&left) && pgw_reader_done(&right);
}

bool pgw_row_descriptions_agree(pgw_slice a, pgw_slice b)
{
    return agree(a, b, have_same_name, have_same_type);
}

bool pgw_row_descriptions_read_alike(pgw_slice sent, pgw_slice told)
{
    return agree(sent, told, may_be_called, are_read_alike);
}

bool pgw_parameter_status_decode(pgw_slice body, pgw_slice *name, pgw_slice *value)
{
    pgw_reader reader = pgw_reader_of(body);
    *name = pgw_read_string(&reader);
    *value = pgw_read_string(&reader);
    return pgw_reader_done(&reader);
}

bool pgw_parameter_description_decode(pgw_slice body, size_t *count, pgw_slice *types)
{
    pgw_reader reader = pgw_reader_of(body);
    *count = pgw_read_u16(&reader);
    *types = pgw_read_bytes(&reader, *count * 4);
    return pgw_reader_done(&reader);
}

uint32_t pgw_type_at(pgw_slice types, size_t i)
{
    if (i >= types.len / 4)
        return 0;
    pgw_reader reader = pgw_reader_of((pgw_slice){types.ptr + 4 * i, 4});
    return pgw_read_u32(&reader);
}

uint64_t pgw_tag_rows(pgw_slice body)
{
    pgw_reader reader = pgw_reader_of(body);
    pgw_slice tag = pgw_read_string(&reader);
    size_t at = tag.len;
    while (at > 0 && tag.ptr[at - 1] >= '0' && tag.ptr[at - 1] <= '9')
        at--;
    if (!pgw_reader_done(&reader) || at == 0 || tag.ptr[at - 1] != ' ')
        return 0;
    uint64_t rows = 0;
    for (; at < tag.len; at++) {
        uint64_t digit = (uint64_t)(tag.ptr[at] - '0');
        if (rows > (UINT64_MAX - digit) / 10)
            return 0;
        rows = rows * 10 + digit;
    }
    return rows;
}

int pgw_data_row_decode(pgw_slice body, pgw_slice *cells, bool *nulls, int max)
{
    pgw_reader reader = pgw_reader_of(body);
    int count = pgw_read_u16(&reader);
    for (int i = 0; i < count && !reader.failed; i++) {
        pgw_bind_value value = pgw_bind_next(&reader);
        if (i < max) {
            cells[i] = value.bytes;
            nulls[i] = value.null;
        }
    }
    return pgw_reader_done(&reader) ? count : -1;
}
