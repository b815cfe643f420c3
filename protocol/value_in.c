#include "protocol/value_in.h"

#include "protocol/value_integer.h"
#include "protocol/value_number.h"
#include "protocol/value_numeric.h"
#include "protocol/value_parts.h"
#include "protocol/value_text.h"
#include "protocol/value_time.h"

#include <string.h>

/* Length coercion and rounding to the typmod, of a value that has the type already. */
static pgw_verdict fit(int32_t typmod, bool explicit_cast, pgw_arena *arena, pgw_value *value,
                       pgw_error *error)
{
    pgw_verdict verdict = PGW_KNOWN;
    switch (value->type) {
    case PGW_VARCHAR:
    case PGW_BPCHAR:
        verdict = pgw_text_fit(value->type, typmod, explicit_cast, &value->as.bytes, error);
        if (value->type == PGW_BPCHAR)
            value->as.bytes = pgw_text_trim(value->as.bytes);
        return verdict;
    case PGW_NUMERIC:
        return pgw_numeric_fit(typmod, arena, value, error);
    case PGW_TIMESTAMP:
    case PGW_TIMESTAMPTZ:
        pgw_time_fit(typmod, value);
        return PGW_KNOWN;
    default:
        return PGW_KNOWN;
    }
}

/* Whether PostgreSQL would accept the typmod itself: it checks before it looks at the value. */
static bool typmod_valid(uint32_t type, int32_t typmod)
{
    enum { LENGTH_MAX = 10485760, PRECISION_MAX = 1000, TIME_DIGITS_MAX = 6 };
    if (typmod < 0)
        return typmod == -1;
    int32_t above = typmod - PGW_TYPMOD_BASE;
    switch (type) {
    case PGW_VARCHAR:
    case PGW_BPCHAR:
        return typmod > PGW_TYPMOD_BASE && above <= LENGTH_MAX;
    case PGW_NUMERIC:
        return typmod > PGW_TYPMOD_BASE && (above >> 16) >= 1 && (above >> 16) <= PRECISION_MAX &&
               ((above & 0x7ff) <= PRECISION_MAX || (above & 0x7ff) >= 2048 - PRECISION_MAX);
    case PGW_TIMESTAMP:
    case PGW_TIMESTAMPTZ:
        return typmod <= TIME_DIGITS_MAX;
    default:
        return false;
    }
}

static pgw_verdict string_in(uint32_t type, pgw_slice text, pgw_value *out)
{
    *out = (pgw_value){.type = type, .as.bytes = text};
    if (type == PGW_NAME)
        out->as.bytes = pgw_name_cut(text);
    return PGW_KNOWN;
}

static pgw_verdict numeric_in(pgw_slice text, const pgw_reading *reading, pgw_value *out)
{
    pgw_slice older;
    pgw_verdict form = reading->env->server < PGW_NUMBERS_SINCE
                           ? PGW_INVALID
                           : pgw_number_older(text, reading->arena, &older);
    if (form != PGW_KNOWN)
        return form == PGW_UNKNOWABLE ? form
                                      : pgw_numeric_in(text, reading->arena, out, reading->error);
    pgw_verdict verdict = pgw_numeric_in(older, reading->arena, out, reading->error);
    if (verdict == PGW_INVALID && pgw_error_is(reading->error, "22P02"))
        return PGW_REFUSE_SYNTAX(PGW_NUMERIC, text, reading->error);
    return verdict;
}

static pgw_verdict read_text(uint32_t type, pgw_slice text, const pgw_reading *reading,
                             pgw_value *out)
{
    pgw_arena *arena = reading->arena;
    pgw_error *error = reading->error;
    switch (type) {
    case PGW_BOOL:
        return pgw_bool_in(text, out, error);
    case PGW_BYTEA:
        return pgw_bytea_in(text, arena, out, error);
    case PGW_INT2:
    case PGW_INT4:
    case PGW_INT8:
        return pgw_integer_in(type, text, reading, out);
    case PGW_FLOAT4:
    case PGW_FLOAT8:
        return pgw_float_in(type, text, arena, out, error);
    case PGW_NUMERIC:
        return numeric_in(text, reading, out);
    case PGW_UUID:
        return pgw_uuid_in(text, arena, out, error);
    case PGW_DATE:
    case PGW_TIMESTAMP:
    case PGW_TIMESTAMPTZ:
        return pgw_time_in(type, text, reading->env, out, error);
    case PGW_TEXT:
    case PGW_VARCHAR:
    case PGW_BPCHAR:
    case PGW_NAME:
    case PGW_UNKNOWN:
        return string_in(type, text, out);
    default:
        return PGW_UNKNOWABLE;
    }
}

pgw_verdict pgw_value_from_text(uint32_t type, int32_t typmod, pgw_slice text,
                                const pgw_reading *reading, pgw_value *out)
{
    int64_t usecs;
    pgw_error_clear(reading->error);
    if (typmod == -1 && pgw_integer_plain(type, text, out))
        return PGW_KNOWN;
    if (typmod == -1 && type == PGW_TIMESTAMPTZ && pgw_time_usual(text, &usecs)) {
        *out = (pgw_value){.type = type, .as.integer = usecs};
        return PGW_KNOWN;
    }
    *out = (pgw_value){.type = type};
    if (!typmod_valid(type, typmod))
        return PGW_UNKNOWABLE;
    pgw_verdict verdict = pgw_text_check(text, reading->env, reading->error);
    if (verdict == PGW_KNOWN)
        verdict = read_text(type, text, reading, out);
    return verdict == PGW_KNOWN ? fit(typmod, false, reading->arena, out, reading->error) : verdict;
}

static int64_t read_integer(pgw_slice bytes)
{
    uint64_t integer = (unsigned char)bytes.ptr[0] & 0x80 ? UINT64_MAX : 0;
    for (size_t i = 0; i < bytes.len; i++)
        integer = integer << 8 | (unsigned char)bytes.ptr[i];
    return (int64_t)integer;
}

static double read_float8(pgw_slice bytes)
{
    int64_t bits = read_integer(bytes);
    double real;
    memcpy(&real, &bits, sizeof real);
    return real;
}

static double read_float4(pgw_slice bytes)
{
    int32_t bits = (int32_t)read_integer(bytes);
    float real;
    memcpy(&real, &bits, sizeof real);
    return (double)real;
}

/* How many bytes the receive function takes; 0: all there are. */
static size_t binary_width(uint32_t type)
{
    switch (type) {
    case PGW_BOOL:
        return 1;
    case PGW_INT2:
        return 2;
    case PGW_INT4:
    case PGW_FLOAT4:
    case PGW_DATE:
        return 4;
    case PGW_INT8:
    case PGW_FLOAT8:
    case PGW_TIMESTAMP:
    case PGW_TIMESTAMPTZ:
        return 8;
    case PGW_UUID:
        return 16;
    default:
        return 0;
    }
}

static pgw_verdict read_fixed(uint32_t type, pgw_slice bytes, pgw_arena *arena, pgw_value *out,
                              pgw_error *error)
{
    *out = (pgw_value){.type = type};
    switch (type) {
    case PGW_BOOL:
        out->as.integer = bytes.ptr[0] != 0;
        return PGW_KNOWN;
    case PGW_INT2:
    case PGW_INT4:
    case PGW_INT8:
        out->as.integer = read_integer(bytes);
        return PGW_KNOWN;
    case PGW_FLOAT4:
        out->as.real = read_float4(bytes);
        return PGW_KNOWN;
    case PGW_FLOAT8:
        out->as.real = read_float8(bytes);
        return PGW_KNOWN;
    case PGW_UUID:
        out->as.bytes = pgw_arena_copy(arena, bytes);
        return PGW_KNOWN;
    default:
        return pgw_time_recv(type, read_integer(bytes), out, error);
    }
}

static pgw_verdict read_string(uint32_t type, pgw_slice bytes, const pgw_env *env, pgw_value *out,
                               pgw_error *error)
{
    if (type == PGW_NAME && bytes.len > PGW_NAME_MAX)
        return PGW_UNKNOWABLE;
    pgw_verdict verdict = pgw_text_check(bytes, env, error);
    return verdict == PGW_KNOWN ? string_in(type, bytes, out) : verdict;
}

pgw_verdict pgw_value_from_binary(uint32_t type, pgw_slice bytes, const pgw_reading *reading,
                                  pgw_value *out)
{
    pgw_arena *arena = reading->arena;
    pgw_error *error = reading->error;
    *out = (pgw_value){.type = type};
    pgw_error_clear(error);
    size_t width = binary_width(type);
    if (width > 0 && bytes.len < width)
        return PGW_REFUSE(error, "08P01", "%s data left in message",
                          type == PGW_BOOL ? "no" : "insufficient");
    if (width > 0 && bytes.len > width) {
        /* The value itself is looked at first. */
        bytes.len = width;
        pgw_verdict verdict = read_fixed(type, bytes, arena, out, error);
        return verdict != PGW_KNOWN ? verdict
                                    : PGW_REFUSE(error, "22P03", "incorrect binary data format");
    }
    if (width > 0)
        return read_fixed(type, bytes, arena, out, error);
    if (type == PGW_NUMERIC)
        return pgw_numeric_recv(bytes, arena, out, error);
    if (type == PGW_BYTEA) {
        out->as.bytes = bytes;
        return PGW_KNOWN;
    }
    if (!pgw_is_string(type) && type != PGW_UNKNOWN)
        return PGW_UNKNOWABLE;
    pgw_verdict verdict = read_string(type, bytes, reading->env, out, error);
    return verdict == PGW_KNOWN ? fit(-1, false, arena, out, error) : verdict;
}

pgw_verdict pgw_value_fit(int32_t typmod, bool explicit_cast, pgw_arena *arena, pgw_value *value,
                          pgw_error *error)
{
    return typmod_valid(value->type, typmod) ? fit(typmod, explicit_cast, arena, value, error)
                                             : PGW_UNKNOWABLE;
}
