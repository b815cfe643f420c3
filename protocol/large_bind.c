#include "protocol/large_bind.h"

#include "protocol/frame.h"

bool pgw_bind_begins(pgw_slice body, pgw_bind *out, size_t *given)
{
    pgw_reader reader = pgw_reader_of(body);
    *out = (pgw_bind){0};
    out->portal = pgw_read_string(&reader);
    out->statement = pgw_read_string(&reader);
    out->format_count = pgw_read_u16(&reader);
    out->formats = pgw_read_bytes(&reader, out->format_count * 2);
    out->value_count = pgw_read_u16(&reader);
    const char *values = reader.at;
    if (reader.failed)
        return false;
    for (*given = 0; *given < out->value_count; ++*given) {
        const char *whole = reader.at;
        pgw_bind_next(&reader);
        if (reader.failed) {
            reader.at = whole;
            break;
        }
    }
    out->values = (pgw_slice){values, (size_t)(reader.at - values)};
    return true;
}

void pgw_write_bind_begun(const pgw_bind *bind, size_t given, pgw_buf *out)
{
    pgw_buf values = {0};
    pgw_bind whole = *bind;
    pgw_buf_add_slice(&values, bind->values);
    for (size_t i = given; i < bind->value_count; i++)
        pgw_buf_add_i32(&values, -1);
    whole.values = pgw_slice_buf(&values);
    pgw_certainly(pgw_write_bind(&whole, bind->portal, bind->statement, NULL, 0, out));
    pgw_buf_free(&values);
}

bool pgw_bind_cut(pgw_buf *out, size_t given, size_t count, size_t coming, pgw_buf *behind)
{
    pgw_bind bind;
    pgw_certainly(
        pgw_bind_decode((pgw_slice){out->ptr + PGW_HEADER, out->len - PGW_HEADER}, &bind));
    pgw_reader reader = pgw_reader_of(bind.values);
    for (size_t i = 0; i < given; i++)
        pgw_bind_next(&reader);
    size_t kept = (size_t)(reader.at - out->ptr);
    for (size_t i = given; i < count; i++)
        pgw_bind_next(&reader);
    pgw_buf_add(behind, reader.at, (size_t)(reader.end - reader.at));
    size_t length = kept - 1 + coming + behind->len; /* all but the type's byte */
    if (length - 4 > PGW_MAX_LARGE_BODY)
        return false;
    for (size_t i = 0; i < 4; i++)
        out->ptr[1 + i] = (char)(length >> (24 - 8 * i));
    out->len = kept;
    return true;
}

size_t pgw_bind_walk_on(pgw_bind_walk *walk, pgw_slice bytes)
{
    size_t at = 0;
    while (walk->left > 0 && at < bytes.len) {
        if (walk->value > 0) {
            size_t part = bytes.len - at < walk->value ? bytes.len - at : walk->value;
            at += part;
            walk->value -= part;
            walk->left -= walk->value == 0;
            continue;
        }
        walk->length = walk->length << 8 | (unsigned char)bytes.ptr[at++];
        if (++walk->digits < 4)
            continue;
        int32_t length = (int32_t)walk->length; /* a NULL has -1 */
        walk->value = length > 0 ? (size_t)length : 0;
        walk->left -= length <= 0;
        walk->length = walk->digits = 0;
    }
    return at;
}
