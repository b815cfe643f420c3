#include "tests/ydb_endpoint/bind.h"

#include "protocol/frontend.h"

#include <stdio.h>
#include <string.h>

bool ye_bind_read(pgw_slice body, ye_bind *bind)
{
    pgw_reader reader = pgw_reader_of(body);
    bind->portal = pgw_read_string(&reader);
    bind->statement = pgw_read_string(&reader);
    const size_t formats = pgw_read_u16(&reader);
    bind->formats = pgw_read_bytes(&reader, formats * 2);
    bind->count = pgw_read_u16(&reader);
    bind->values = (pgw_slice){reader.at, (size_t)(reader.end - reader.at)};
    return !reader.failed;
}

/* "format[0] applies only to $1, the rest become text" (1.4.4). */
static bool is_binary(const ye_bind *bind, size_t i)
{
    return i * 2 + 1 < bind->formats.len && bind->formats.ptr[i * 2 + 1] == 1;
}

/* "Bind reads the length as uint32 and clamps; -1 swallows the rest of the message" (1.4.3). */
static pgw_slice next_value(pgw_reader *reader)
{
    const size_t left = (size_t)(reader->end - reader->at);
    if (left < 4)
        return pgw_read_bytes(reader, left);
    const size_t length = pgw_read_u32(reader);
    return pgw_read_bytes(reader, length < left - 4 ? length : left - 4);
}

static void add_formats(const ye_bind *bind, size_t count, bool inferred, pgw_buf *out)
{
    pgw_buf_add_i16(out, (int16_t)(inferred ? count : 0));
    for (size_t i = 0; inferred && i < count; i++)
        pgw_buf_add_i16(out, is_binary(bind, i));
}

static void refuse_zero(pgw_slice value, ye_named *portal)
{
    if (memchr(value.ptr, '\0', value.len) != NULL)
        snprintf(portal->unusable, sizeof portal->unusable,
                 "invalid byte sequence for encoding \"UTF8\": 0x00");
}

void ye_bind_write(const ye_bind *bind, size_t parameters, bool inferred, ye_named *portal)
{
    const size_t count = bind->count < parameters ? bind->count : parameters;
    const size_t begun = pgw_begin(&portal->bind, 'B');
    pgw_reader reader = pgw_reader_of(bind->values);
    pgw_buf_add(&portal->bind, "\0", 2); /* portal and statement without names */
    add_formats(bind, count, inferred, &portal->bind);
    pgw_buf_add_i16(&portal->bind, (int16_t)count);
    for (size_t i = 0; i < bind->count; i++) {
        pgw_slice value = next_value(&reader);
        if (i >= count)
            continue;
        if (!inferred || !is_binary(bind, i))
            refuse_zero(value, portal);
        pgw_buf_add_i32(&portal->bind, (int32_t)value.len);
        pgw_buf_add_slice(&portal->bind, value);
    }
    if (count < parameters)
        snprintf(portal->unusable, sizeof portal->unusable, "Missing value for parameter: $p%zu",
                 count + 1);
    pgw_slice results = {reader.at, (size_t)(reader.end - reader.at)};
    if (results.len >= 2)
        pgw_buf_add_slice(&portal->bind, results);
    else
        pgw_buf_add_i16(&portal->bind, 0);
    pgw_certainly(pgw_end(&portal->bind, begun));
}
