#include "ydb/plain/bound_text.h"

#include "protocol/array.h"
#include "protocol/reader.h"
#include "protocol/value_in.h"
#include "protocol/value_numeric.h"
#include "protocol/value_out.h"
#include "protocol/value_text.h"
#include "rewrite/statement/script/types.h"

#include <string.h>

static bool insufficient(pgw_error *error)
{
    return pgw_fail(error, "08P01", "insufficient data left in message");
}

/* Whether all bytes were read, and nothing is left. */
static bool is_whole(const pgw_reader *in, pgw_error *error)
{
    if (in->failed)
        return insufficient(error);
    return in->at == in->end || pgw_fail(error, "22P03", "incorrect binary data format");
}

static bool unknown_form(uint32_t type, pgw_error *error)
{
    pgw_buf name = {0};
    if (!rw_add_type(type, &name))
        pgw_buf_addf(&name, "with oid %u", type);
    pgw_fail(error, "0A000", "no binary form of type %.*s is known here", (int)name.len, name.ptr);
    pgw_error_hint(error, "Send the value in text format.");
    pgw_buf_free(&name);
    return false;
}

/* --- types that protocol/value does not know --- */

static bool add_time(pgw_slice bytes, pgw_buf *out, pgw_error *error)
{
    const uint64_t day = UINT64_C(86400000000);
    pgw_reader in = pgw_reader_of(bytes);
    uint64_t usecs = pgw_read_u64(&in);
    if (!in.failed && usecs > day)
        return pgw_fail(error, "22008", "time out of range");
    unsigned seconds = (unsigned)(usecs / 1000000), fraction = (unsigned)(usecs % 1000000);
    pgw_buf_addf(out, "%02u:%02u:%02u.%06u", seconds / 3600, seconds / 60 % 60, seconds % 60,
                 fraction);
    return is_whole(&in, error);
}

/* Adds each part of the interval with its sign: under IntervalStyle sql_standard, one sign would be
 * for all. The parts have names, because the longest interval is not read back as hours, minutes
 * and seconds between colons. */
static bool add_interval(pgw_slice bytes, pgw_buf *out, pgw_error *error)
{
    pgw_reader in = pgw_reader_of(bytes);
    uint64_t usecs = pgw_read_u64(&in);
    char sign = usecs > INT64_MAX ? '-' : '+';
    usecs = sign == '-' ? -usecs : usecs;
    int32_t days = (int32_t)pgw_read_u32(&in), months = (int32_t)pgw_read_u32(&in);
    unsigned long long seconds = usecs / 1000000, fraction = usecs % 1000000;
    pgw_buf_addf(out, "%+d mons %+d days %c%llu hours %c%llu.%06llu secs", months, days, sign,
                 seconds / 3600, sign, seconds % 3600, fraction);
    return is_whole(&in, error);
}

static bool add_oid(pgw_slice bytes, pgw_buf *out, pgw_error *error)
{
    pgw_reader in = pgw_reader_of(bytes);
    pgw_buf_addf(out, "%u", pgw_read_u32(&in));
    return is_whole(&in, error);
}

bool rw_check_characters(pgw_slice text, const pgw_env *env, pgw_error *error)
{
    switch (pgw_text_check(text, env, error)) {
    case PGW_KNOWN:
        return true;
    case PGW_INVALID:
        return false;
    case PGW_UNKNOWABLE:
        break;
    }
    return memchr(text.ptr, '\0', text.len) == NULL ||
           pgw_fail(error, "22021", "invalid byte sequence for the client's encoding: 0x00");
}

static bool add_characters(pgw_slice text, const pgw_env *env, pgw_buf *out, pgw_error *error)
{
    pgw_buf_add_slice(out, text);
    return rw_check_characters(text, env, error);
}

static bool add_jsonb(pgw_slice bytes, const pgw_env *env, pgw_buf *out, pgw_error *error)
{
    enum { VERSION = 1 };
    pgw_reader in = pgw_reader_of(bytes);
    unsigned version = pgw_read_u8(&in);
    if (in.failed)
        return pgw_fail(error, "08P01", "no data left in message");
    if (version != VERSION)
        return pgw_fail(error, "XX000", "unsupported jsonb version number %u", version);
    return add_characters((pgw_slice){in.at, (size_t)(in.end - in.at)}, env, out, error);
}

static bool add_name(pgw_slice text, const pgw_env *env, pgw_buf *out, pgw_error *error)
{
    if (text.len > PGW_NAME_MAX)
        return pgw_fail(error, "42622", "identifier too long");
    return add_characters(text, env, out, error);
}

/* --- those that it does --- */

static bool add_value(uint32_t type, pgw_slice bytes, const pgw_env *env, pgw_buf *out,
                      pgw_error *error)
{
    enum { NUMERIC_MOST = 131072 + 16383 }; /* digits before and behind the point */
    pgw_arena arena = {0};
    pgw_value value;
    pgw_verdict verdict =
        pgw_value_from_binary(type, bytes, &(pgw_reading){env, &arena, error}, &value);
    if (verdict == PGW_UNKNOWABLE && type == PGW_NUMERIC && bytes.len >= 8)
        verdict = pgw_numeric_recv_long(bytes, NUMERIC_MOST, &arena, &value, error);
    else if (verdict == PGW_UNKNOWABLE && type == PGW_NUMERIC)
        insufficient(error);
    else if (verdict == PGW_UNKNOWABLE)
        unknown_form(type, error);
    if (verdict == PGW_KNOWN)
        pgw_value_out(&value, out);
    pgw_arena_free(&arena);
    return verdict == PGW_KNOWN;
}

static bool add_scalar(uint32_t type, pgw_slice bytes, const pgw_env *env, pgw_buf *out,
                       pgw_error *error)
{
    switch (type) {
    case PGW_TEXT:
    case PGW_VARCHAR:
    case PGW_BPCHAR:
    case PGW_UNKNOWN:
    case RW_JSON:
        return add_characters(bytes, env, out, error);
    case PGW_NAME:
        return add_name(bytes, env, out, error);
    case RW_JSONB:
        return add_jsonb(bytes, env, out, error);
    case RW_TIME:
        return add_time(bytes, out, error);
    case RW_INTERVAL:
        return add_interval(bytes, out, error);
    case RW_OID:
        return add_oid(bytes, out, error);
    default:
        return add_value(type, bytes, env, out, error);
    }
}

/* --- arrays --- */

enum { DIMENSIONS_MAX = 6 };

typedef struct dimensions {
    uint32_t count;
    uint32_t lengths[DIMENSIONS_MAX];
    uint64_t elements;
} dimensions;

/* Adds [1:3][0:1]=, where a bound is not 1. */
static void add_bounds(const dimensions *shape, const int32_t *bounds, pgw_buf *out)
{
    bool usual = true;
    for (uint32_t i = 0; i < shape->count; i++)
        usual &= bounds[i] == 1;
    for (uint32_t i = 0; i < shape->count && !usual; i++)
        pgw_buf_addf(out, "[%d:%lld]", bounds[i], (long long)bounds[i] + shape->lengths[i] - 1);
    pgw_buf_add_str(out, usual ? "" : "=");
}

/* Reads an array's head: the number of dimensions, whether there are NULLs, the elements' type, and
 * the length and bound of each dimension. */
static bool read_shape(pgw_reader *in, uint32_t element, dimensions *shape, pgw_buf *out,
                       pgw_error *error)
{
    int32_t bounds[DIMENSIONS_MAX];
    uint32_t nulls, type;
    *shape = (dimensions){.count = pgw_read_u32(in), .elements = 1};
    nulls = pgw_read_u32(in);
    type = pgw_read_u32(in);
    if (in->failed)
        return insufficient(error);
    if (shape->count > DIMENSIONS_MAX || nulls > 1)
        return pgw_fail(error, "22P03", "invalid array in binary format");
    if (type != element)
        return pgw_fail(error, "42804", "wrong element type");
    for (uint32_t i = 0; i < shape->count; i++) {
        shape->lengths[i] = pgw_read_u32(in);
        bounds[i] = (int32_t)pgw_read_u32(in);
        shape->elements *= shape->lengths[i];
        if (in->failed || shape->elements > (uint64_t)(in->end - in->at) / sizeof(uint32_t))
            return insufficient(error);
    }
    if (shape->count > 0 && shape->elements > 0)
        add_bounds(shape, bounds, out);
    return true;
}

static void add_quoted(pgw_slice text, pgw_buf *out)
{
    pgw_buf_add_byte(out, '"');
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '"' || text.ptr[i] == '\\')
            pgw_buf_add_byte(out, '\\');
        pgw_buf_add_byte(out, text.ptr[i]);
    }
    pgw_buf_add_byte(out, '"');
}

static bool add_element(pgw_reader *in, uint32_t type, const pgw_env *env, pgw_buf *out,
                        pgw_error *error)
{
    uint32_t length = pgw_read_u32(in);
    if (length == UINT32_MAX) {
        pgw_buf_add_str(out, "NULL");
        return true;
    }
    pgw_slice bytes = pgw_read_bytes(in, length);
    pgw_buf text = {0};
    bool added = in->failed ? insufficient(error) : add_scalar(type, bytes, env, &text, error);
    if (added)
        add_quoted(pgw_slice_buf(&text), out);
    pgw_buf_free(&text);
    return added;
}

/* How many dimensions begin, or end, with the element that has `before` elements before it. */
static uint32_t edges(const dimensions *shape, uint64_t before)
{
    uint32_t edges = 0;
    while (edges < shape->count && before % shape->lengths[shape->count - 1 - edges] == 0)
        before /= shape->lengths[shape->count - 1 - edges++];
    return edges;
}

static void add_braces(char brace, uint32_t count, pgw_buf *out)
{
    while (count-- > 0)
        pgw_buf_add_byte(out, brace);
}

static bool add_array(uint32_t element, pgw_slice bytes, const pgw_env *env, pgw_buf *out,
                      pgw_error *error)
{
    dimensions shape;
    pgw_reader in = pgw_reader_of(bytes);
    if (!read_shape(&in, element, &shape, out, error))
        return false;
    if (shape.count == 0 || shape.elements == 0) {
        pgw_buf_add_str(out, "{}");
        return is_whole(&in, error);
    }
    for (uint64_t i = 0; i < shape.elements; i++) {
        pgw_buf_add_str(out, i > 0 ? "," : "");
        add_braces('{', edges(&shape, i), out);
        if (!add_element(&in, element, env, out, error))
            return false;
        add_braces('}', edges(&shape, i + 1), out);
    }
    return is_whole(&in, error);
}

bool rw_add_bound_text(uint32_t type, pgw_slice bytes, const pgw_env *env, pgw_buf *out,
                       pgw_error *error)
{
    uint32_t element = pgw_array_element(type);
    return element != PGW_UNSPECIFIED ? add_array(element, bytes, env, out, error)
                                      : add_scalar(type, bytes, env, out, error);
}
