#include "protocol/frontend.h"

#include "protocol/frame.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool pgw_query_decode(pgw_slice body, pgw_slice *text)
{
    pgw_reader reader = pgw_reader_of(body);
    *text = pgw_read_string(&reader);
    return pgw_reader_done(&reader);
}

bool pgw_parse_decode(pgw_slice body, pgw_parse *out)
{
    pgw_reader reader = pgw_reader_of(body);
    out->name = pgw_read_string(&reader);
    out->query = pgw_read_string(&reader);
    out->type_count = pgw_read_u16(&reader);
    out->types = pgw_read_bytes(&reader, out->type_count * 4);
    return pgw_reader_done(&reader);
}

bool pgw_bind_decode(pgw_slice body, pgw_bind *out)
{
    pgw_reader reader = pgw_reader_of(body);
    out->portal = pgw_read_string(&reader);
    out->statement = pgw_read_string(&reader);
    out->format_count = pgw_read_u16(&reader);
    out->formats = pgw_read_bytes(&reader, out->format_count * 2);
    out->value_count = pgw_read_u16(&reader);
    const char *values = reader.at;
    for (size_t i = 0; i < out->value_count && !reader.failed; i++)
        pgw_bind_next(&reader);
    out->values = (pgw_slice){values, (size_t)(reader.at - values)};
    const char *results = reader.at;
    pgw_read_bytes(&reader, (size_t)pgw_read_u16(&reader) * 2);
    out->results = (pgw_slice){results, (size_t)(reader.at - results)};
    if (out->format_count > 1 && out->format_count != out->value_count)
        return false;
    return pgw_reader_done(&reader);
}

bool pgw_target_decode(pgw_slice body, pgw_target *out)
{
    pgw_reader reader = pgw_reader_of(body);
    out->kind = (char)pgw_read_u8(&reader);
    out->name = pgw_read_string(&reader);
    return pgw_reader_done(&reader) && (out->kind == 'S' || out->kind == 'P');
}

bool pgw_execute_decode(pgw_slice body, pgw_execute *out)
{
    pgw_reader reader = pgw_reader_of(body);
    out->portal = pgw_read_string(&reader);
    out->max_rows = pgw_read_u32(&reader);
    return pgw_reader_done(&reader);
}

uint32_t pgw_parse_type(const pgw_parse *parse, size_t i)
{
    if (i >= parse->types.len / 4)
        return 0;
    pgw_reader reader = pgw_reader_of((pgw_slice){parse->types.ptr + 4 * i, 4});
    return pgw_read_u32(&reader);
}

/* The format code of parameter `i`; 0 (text) where there is none. */
static uint16_t format_code(const pgw_bind *bind, size_t i)
{
    if (i >= bind->formats.len / 2)
        return 0;
    pgw_reader reader = pgw_reader_of((pgw_slice){bind->formats.ptr + 2 * i, 2});
    return pgw_read_u16(&reader);
}

bool pgw_bind_is_binary(const pgw_bind *bind, size_t i)
{
    return format_code(bind, bind->format_count == 1 ? 0 : i) == 1;
}

pgw_bind_value pgw_bind_next(pgw_reader *reader)
{
    uint32_t len = pgw_read_u32(reader);
    if (len == UINT32_MAX)
        return (pgw_bind_value){.null = true};
    return (pgw_bind_value){.bytes = pgw_read_bytes(reader, len)};
}

size_t pgw_begin(pgw_buf *out, char type)
{
    (void)pgw_buf_reserve(out, PGW_HEADER);
    pgw_buf_add_byte(out, type);
    pgw_buf_add_i32(out, 0);
    return out->len - 4;
}

bool pgw_end(pgw_buf *out, size_t begun)
{
    size_t length = out->len - begun;
    if (length - 4 > PGW_MAX_LARGE_BODY) {
        out->len = begun - 1;
        return false;
    }
    uint32_t wire = htobe32((uint32_t)length);
    memcpy(out->ptr + begun, &wire, sizeof wire);
    return true;
}

void pgw_certainly(bool written)
{
    if (written)
        return;
    fputs("keyspread: a message that was known to be possible is not\n", stderr);
    abort();
}

void pgw_end_small(pgw_buf *out, size_t begun)
{
    pgw_certainly(pgw_end(out, begun));
}

static void add_string(pgw_buf *out, pgw_slice text)
{
    pgw_buf_add_slice(out, text);
    pgw_buf_add_byte(out, '\0');
}

bool pgw_write_query(pgw_slice text, pgw_buf *out)
{
    size_t begun = pgw_begin(out, 'Q');
    add_string(out, text);
    return pgw_end(out, begun);
}

bool pgw_write_parse(pgw_slice name, pgw_slice text, const uint32_t *types, size_t type_count,
                     pgw_buf *out)
{
    if (type_count > PGW_MAX_PARAMETERS)
        return false;
    size_t begun = pgw_begin(out, 'P');
    add_string(out, name);
    add_string(out, text);
    pgw_buf_add_i16(out, (int16_t)type_count);
    for (size_t i = 0; i < type_count; i++)
        pgw_buf_add_i32(out, (int32_t)types[i]);
    return pgw_end(out, begun);
}

static void write_target(char type, char kind, pgw_slice name, pgw_buf *out)
{
    size_t begun = pgw_begin(out, type);
    pgw_buf_add_byte(out, kind);
    add_string(out, name);
    pgw_end_small(out, begun);
}

void pgw_write_describe(char kind, pgw_slice name, pgw_buf *out)
{
    write_target('D', kind, name, out);
}

void pgw_write_close(char kind, pgw_slice name, pgw_buf *out)
{
    write_target('C', kind, name, out);
}

void pgw_write_execute(pgw_slice portal, uint32_t max_rows, pgw_buf *out)
{
    (void)pgw_buf_reserve(out, PGW_HEADER + portal.len + 1 + sizeof max_rows);
    size_t begun = pgw_begin(out, 'E');
    add_string(out, portal);
    pgw_buf_add_i32(out, (int32_t)max_rows);
    pgw_end_small(out, begun);
}

static void write_empty(char type, pgw_buf *out)
{
    pgw_buf_add_byte(out, type);
    pgw_buf_add_i32(out, 4);
}

void pgw_write_sync(pgw_buf *out)
{
    write_empty('S', out);
}

void pgw_write_flush(pgw_buf *out)
{
    write_empty('H', out);
}

void pgw_write_copy_fail(const char *reason, pgw_buf *out)
{
    size_t begun = pgw_begin(out, 'f');
    add_string(out, pgw_slice_str(reason));
    pgw_end_small(out, begun);
}

/* Adds format codes for the client's parameters and for `more_count` further ones; returns whether
 * these are binary. One code for all, or none, stays and holds for them, too; codes for each are
 * followed by text codes. PostgreSQL does not look at the code of a Bind without parameters, so
 * that a senseless one must not be used for further ones. */
static bool add_formats(const pgw_bind *bind, size_t more_count, pgw_buf *out)
{
    if (bind->value_count == 0 && more_count > 0) {
        pgw_buf_add_i16(out, 0);
        return false;
    }
    if (bind->format_count <= 1) {
        pgw_buf_add_i16(out, (int16_t)bind->format_count);
        pgw_buf_add_slice(out, bind->formats);
        return format_code(bind, 0) == 1;
    }
    pgw_buf_add_i16(out, (int16_t)(bind->format_count + more_count));
    pgw_buf_add_slice(out, bind->formats);
    for (size_t i = 0; i < more_count; i++)
        pgw_buf_add_i16(out, 0);
    return false;
}

static void add_int8(int64_t value, bool binary, pgw_buf *out)
{
    if (binary) {
        pgw_buf_add_i32(out, 8);
        pgw_buf_add_i64(out, value);
        return;
    }
    size_t length = out->len;
    pgw_buf_add_i32(out, 0);
    pgw_buf_add_decimal(out, value);
    out->ptr[length + 3] = (char)(out->len - length - 4);
}

bool pgw_write_bind(const pgw_bind *bind, pgw_slice portal, pgw_slice statement,
                    const int64_t *more, size_t more_count, pgw_buf *out)
{
    if (more_count > PGW_MAX_PARAMETERS - bind->value_count)
        return false;
    (void)pgw_buf_reserve(out, 64 + portal.len + statement.len + bind->values.len +
                                   bind->results.len + 28 * more_count);
    size_t begun = pgw_begin(out, 'B');
    add_string(out, portal);
    add_string(out, statement);
    bool binary = add_formats(bind, more_count, out);
    pgw_buf_add_i16(out, (int16_t)(bind->value_count + more_count));
    pgw_buf_add_slice(out, bind->values);
    for (size_t i = 0; i < more_count; i++)
        add_int8(more[i], binary, out);
    if (bind->results.len == 0)
        pgw_buf_add_i16(out, 0);
    pgw_buf_add_slice(out, bind->results);
    return pgw_end(out, begun);
}

/* Adds format codes: one for all of the client's parameters becomes one for each. `more` are
 * text. */
static void add_formats_and_text(const pgw_bind *bind, size_t more_count, pgw_buf *out)
{
    bool text = bind->format_count == 0 || bind->value_count == 0;
    pgw_buf_add_i16(out, (int16_t)(text ? 0 : bind->value_count + more_count));
    for (size_t i = 0; i < bind->value_count && !text; i++)
        pgw_buf_add_i16(out, (int16_t)format_code(bind, bind->format_count == 1 ? 0 : i));
    for (size_t i = 0; i < more_count && !text; i++)
        pgw_buf_add_i16(out, 0);
}

bool pgw_write_bind_text(const pgw_bind *bind, const pgw_slice *more, size_t more_count,
                         pgw_buf *out)
{
    if (more_count > PGW_MAX_PARAMETERS - bind->value_count)
        return false;
    size_t begun = pgw_begin(out, 'B');
    add_string(out, bind->portal);
    add_string(out, bind->statement);
    add_formats_and_text(bind, more_count, out);
    pgw_buf_add_i16(out, (int16_t)(bind->value_count + more_count));
    pgw_buf_add_slice(out, bind->values);
    for (size_t i = 0; i < more_count; i++) {
        pgw_buf_add_i32(out, more[i].ptr == NULL ? -1 : (int32_t)more[i].len);
        pgw_buf_add_slice(out, more[i]);
    }
    if (bind->results.len == 0)
        pgw_buf_add_i16(out, 0);
    pgw_buf_add_slice(out, bind->results);
    return pgw_end(out, begun);
}
