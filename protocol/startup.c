#include "protocol/startup.h"

#include "protocol/frame.h"

#include <string.h>

enum { CODE_CANCEL = 5678, CODE_SSL = 5679, CODE_GSSENC = 5680, CODE_MAJOR = 1234 };

static pgw_startup_kind decode_parameters(pgw_reader *reader, pgw_startup *startup)
{
    startup->parameters.ptr = reader->at;
    while (!reader->failed && reader->at < reader->end && *reader->at != '\0') {
        pgw_read_string(reader);
        pgw_read_string(reader);
    }
    startup->parameters.len = (size_t)(reader->at - startup->parameters.ptr);
    pgw_read_u8(reader);
    return pgw_reader_done(reader) ? PGW_STARTUP_SESSION : PGW_STARTUP_BAD_LAYOUT;
}

/* A request for encryption may be longer than it need be: PostgreSQL does not look. */
static pgw_startup_kind decode_request(pgw_reader *reader, pgw_startup *startup)
{
    switch (startup->minor) {
    case CODE_SSL:
        return PGW_STARTUP_SSL;
    case CODE_GSSENC:
        return PGW_STARTUP_GSSENC;
    case CODE_CANCEL:
        startup->cancel_pid = pgw_read_u32(reader);
        startup->cancel_key = (pgw_slice){reader->at, (size_t)(reader->end - reader->at)};
        return !reader->failed && startup->cancel_key.len > 0 &&
                       startup->cancel_key.len <= PGW_CANCEL_KEY_MOST
                   ? PGW_STARTUP_CANCEL
                   : PGW_STARTUP_BAD_LENGTH;
    default:
        return PGW_STARTUP_UNSUPPORTED;
    }
}

pgw_startup_kind pgw_startup_decode(pgw_slice bytes, pgw_startup *startup)
{
    *startup = (pgw_startup){0};
    if (bytes.len < 4)
        return PGW_STARTUP_MORE;
    pgw_reader head = pgw_reader_of(bytes);
    startup->size = pgw_read_u32(&head);
    if (startup->size < 8 || startup->size > PGW_MAX_STARTUP)
        return PGW_STARTUP_BAD_LENGTH;
    if (bytes.len < startup->size)
        return PGW_STARTUP_MORE;
    pgw_reader reader = pgw_reader_of((pgw_slice){bytes.ptr + 4, startup->size - 4});
    startup->major = pgw_read_u16(&reader);
    startup->minor = pgw_read_u16(&reader);
    if (startup->major == CODE_MAJOR)
        return decode_request(&reader, startup);
    if (startup->major != 3)
        return PGW_STARTUP_UNSUPPORTED;
    return decode_parameters(&reader, startup);
}

bool pgw_startup_next(pgw_slice *rest, pgw_parameter *parameter)
{
    pgw_reader reader = pgw_reader_of(*rest);
    if (rest->len == 0)
        return false;
    parameter->name = pgw_read_string(&reader);
    parameter->value = pgw_read_string(&reader);
    *rest = (pgw_slice){reader.at, (size_t)(reader.end - reader.at)};
    return true;
}

pgw_slice pgw_startup_parameter(const pgw_startup *startup, const char *name)
{
    pgw_slice rest = startup->parameters, value = {NULL, 0};
    pgw_parameter parameter;
    while (pgw_startup_next(&rest, &parameter))
        if (pgw_slice_eq_str(parameter.name, name))
            value = parameter.value;
    return value;
}

bool pgw_startup_is_option(pgw_slice name)
{
    return name.len >= 5 && memcmp(name.ptr, "_pq_.", 5) == 0;
}

void pgw_startup_negotiate(const pgw_startup *startup, pgw_buf *out)
{
    pgw_buf options = {0};
    int32_t count = 0;
    pgw_slice rest = startup->parameters;
    pgw_parameter parameter;
    while (pgw_startup_next(&rest, &parameter)) {
        if (!pgw_startup_is_option(parameter.name))
            continue;
        pgw_buf_add(&options, parameter.name.ptr, parameter.name.len + 1);
        count++;
    }
    int32_t minor = startup->minor < PGW_MINOR ? startup->minor : PGW_MINOR;
    if (startup->minor > PGW_MINOR || count > 0) {
        pgw_buf_add_byte(out, 'v');
        pgw_buf_add_i32(out, (int32_t)(12 + options.len));
        pgw_buf_add_i32(out, 3 << 16 | minor);
        pgw_buf_add_i32(out, count);
        pgw_buf_add_slice(out, pgw_slice_buf(&options));
    }
    pgw_buf_free(&options);
}
