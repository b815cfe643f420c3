/*
 * fuzz_protocol: any bytes as a startup packet, as a stream of messages, and as a body for each
 * decoder. What a decoder takes is written again and must be taken again, the same.
 */
#include "protocol/backend.h"
#include "protocol/error.h"
#include "protocol/frame.h"
#include "protocol/frontend.h"
#include "protocol/startup.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void require_inside(pgw_slice part, pgw_slice whole)
{
    if (part.len > 0)
        require(part.ptr >= whole.ptr && part.len <= whole.len &&
                part.ptr + part.len <= whole.ptr + whole.len);
}

static pgw_slice only_body(const pgw_buf *message, char type)
{
    pgw_frame frame;
    require(pgw_frame_next(pgw_slice_buf(message), &frame) == PGW_FRAME_OK);
    require(frame.type == type && frame.size == message->len);
    return pgw_frame_body(pgw_slice_buf(message), frame);
}

/* The message written again has the same body. */
static void require_same(pgw_buf *message, char type, pgw_slice body)
{
    require(pgw_slice_eq(only_body(message, type), body));
    pgw_buf_free(message);
}

static void try_startup(pgw_slice bytes)
{
    static pgw_startup startup;
    pgw_startup_kind kind = pgw_startup_decode(bytes, &startup);
    if (kind >= PGW_STARTUP_UNSUPPORTED)
        require(startup.size >= 8 && startup.size <= bytes.len);
    if (kind == PGW_STARTUP_CANCEL)
        require_inside(startup.cancel_key, bytes);
    if (kind != PGW_STARTUP_SESSION)
        return;
    pgw_slice rest = startup.parameters;
    pgw_parameter parameter;
    while (pgw_startup_next(&rest, &parameter)) {
        require_inside(parameter.name, bytes);
        require_inside(parameter.value, bytes);
        require(parameter.name.len > 0);
    }
    pgw_startup_parameter(&startup, "user");
    pgw_buf out = {0};
    pgw_startup_negotiate(&startup, &out);
    if (out.len > 0)
        only_body(&out, 'v');
    pgw_buf_free(&out);
}

static void try_query(pgw_slice body)
{
    pgw_slice text;
    if (!pgw_query_decode(body, &text))
        return;
    pgw_buf out = {0};
    require(pgw_write_query(text, &out));
    require_same(&out, 'Q', body);
}

static void try_parse(pgw_slice body)
{
    pgw_parse parse;
    if (!pgw_parse_decode(body, &parse))
        return;
    uint32_t *types = pgw_calloc(parse.type_count, sizeof *types);
    for (size_t i = 0; i < parse.type_count; i++)
        types[i] = pgw_parse_type(&parse, i);
    pgw_buf out = {0};
    require(pgw_write_parse(parse.name, parse.query, types, parse.type_count, &out));
    require_same(&out, 'P', body);
    free(types);
}

static void require_values(pgw_reader *reader, const pgw_bind *expected)
{
    pgw_reader other = pgw_reader_of(expected->values);
    for (size_t i = 0; i < expected->value_count; i++) {
        pgw_bind_value a = pgw_bind_next(reader), b = pgw_bind_next(&other);
        require(a.null == b.null && pgw_slice_eq(a.bytes, b.bytes));
    }
    require(pgw_reader_done(&other));
}

/* With parameters of ours behind, the client's are what they were, and ours are read back. */
static void try_bind_more(const pgw_bind *bind)
{
    static const int64_t more[2] = {INT64_MIN, 77};
    pgw_buf out = {0};
    pgw_bind again;
    bool written = pgw_write_bind(bind, PGW_LITERAL("p"), PGW_LITERAL("s"), more, 2, &out);
    require(written == (bind->value_count <= 65533));
    if (!written) {
        require(out.len == 0);
        return;
    }
    require(pgw_bind_decode(only_body(&out, 'B'), &again));
    require(again.value_count == bind->value_count + 2);
    require(pgw_slice_eq(again.results, bind->results));
    for (size_t i = 0; i < bind->value_count; i++)
        require(pgw_bind_is_binary(&again, i) == pgw_bind_is_binary(bind, i));
    pgw_reader reader = pgw_reader_of(again.values);
    require_values(&reader, bind);
    pgw_bind_next(&reader);
    pgw_slice last = pgw_bind_next(&reader).bytes;
    require(pgw_reader_done(&reader));
    if (pgw_bind_is_binary(&again, bind->value_count + 1))
        require(pgw_slice_eq(last, PGW_LITERAL("\0\0\0\0\0\0\0\x4d")));
    else
        require(pgw_slice_eq_str(last, "77"));
    pgw_buf_free(&out);
}

static void try_bind(pgw_slice body)
{
    pgw_bind bind;
    if (!pgw_bind_decode(body, &bind))
        return;
    pgw_buf out = {0};
    require(pgw_write_bind(&bind, bind.portal, bind.statement, NULL, 0, &out));
    require_same(&out, 'B', body);
    try_bind_more(&bind);
}

static void try_target(pgw_slice body)
{
    pgw_target target;
    if (!pgw_target_decode(body, &target))
        return;
    pgw_buf out = {0};
    pgw_write_describe(target.kind, target.name, &out);
    require_same(&out, 'D', body);
    pgw_write_close(target.kind, target.name, &out);
    require_same(&out, 'C', body);
}

static void try_execute(pgw_slice body)
{
    pgw_execute execute;
    if (!pgw_execute_decode(body, &execute))
        return;
    pgw_buf out = {0};
    pgw_write_execute(execute.portal, execute.max_rows, &out);
    require_same(&out, 'E', body);
}

static void try_status(pgw_slice body)
{
    pgw_slice name, value;
    if (!pgw_parameter_status_decode(body, &name, &value))
        return;
    pgw_buf out = {0};
    pgw_write_parameter_status(name, value, &out);
    require_same(&out, 'S', body);
}

static void try_types(pgw_slice body)
{
    size_t count;
    pgw_slice types;
    if (!pgw_parameter_description_decode(body, &count, &types))
        return;
    uint32_t *copy = pgw_calloc(count, sizeof *copy);
    for (size_t i = 0; i < count; i++)
        copy[i] = pgw_type_at(types, i);
    pgw_buf out = {0};
    require(pgw_write_parameter_description(copy, count, &out));
    require_same(&out, 't', body);
    free(copy);
}

static void try_row(pgw_slice body)
{
    pgw_slice cells[4];
    bool nulls[4];
    int count = pgw_data_row_decode(body, cells, nulls, 4);
    for (int i = 0; i < count && i < 4; i++) {
        require_inside(cells[i], body);
        require(!nulls[i] || cells[i].len == 0);
    }
}

/* What was read from an error, cut to what fits, is written and read again without change. */
static void try_error(pgw_slice body)
{
    pgw_error error, again;
    pgw_error_read(body, &error);
    require(error.sqlstate[0] != '\0');
    pgw_buf out = {0};
    pgw_error_write(&error, "ERROR", &out);
    pgw_error_read(only_body(&out, 'E'), &again);
    require(pgw_error_is(&again, error.sqlstate));
    require(strcmp(again.message, error.message) == 0 && strcmp(again.detail, error.detail) == 0);
    require(strcmp(again.hint, error.hint) == 0 && again.position == error.position);
    pgw_buf_free(&out);
    for (int code = 0; code < 256; code++)
        require_inside(pgw_error_field(body, (char)code), body);
}

/* In a block of its own, so that a read past the body is seen. */
static void try_body(pgw_slice part)
{
    char *copy = pgw_alloc(part.len);
    if (part.len > 0)
        memcpy(copy, part.ptr, part.len);
    pgw_slice body = {copy, part.len};
    try_query(body);
    try_parse(body);
    try_bind(body);
    try_target(body);
    try_execute(body);
    try_status(body);
    try_types(body);
    try_row(body);
    try_error(body);
    pgw_tag_rows(body);
    free(copy);
}

static void try_stream(pgw_slice bytes)
{
    pgw_frame frame;
    while (pgw_frame_next(bytes, &frame) == PGW_FRAME_OK && frame.size <= bytes.len) {
        require(frame.size >= PGW_HEADER);
        try_body(pgw_frame_body(bytes, frame));
        bytes.ptr += frame.size;
        bytes.len -= frame.size;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pgw_slice bytes = {(const char *)data, size};
    try_startup(bytes);
    try_stream(bytes);
    try_body(bytes);
    return 0;
}
