#include "ydb/plain/result.h"

#include "protocol/array.h"
#include "protocol/value_in.h"
#include "protocol/value_numeric.h"
#include "protocol/value_out.h"
#include "ydb/plain/result_array.h"
#include "ydb/plain/result_time.h"
#include "rewrite/statement/script/types.h"

#include <string.h>

static bool scalar_has_binary(uint32_t type)
{
    switch (type) {
    case PGW_FLOAT4:
    case PGW_NAME:
    case PGW_UNKNOWN:
    case RW_CHAR:
    case RW_OID:
    case RW_JSON:
    case RW_JSONB:
    case RW_VOID:
    case RW_TIME:
    case RW_TIMETZ:
    case RW_INTERVAL:
        return true;
    default:
        return pgw_type_is_key(type);
    }
}

bool rw_result_has_binary(uint32_t type)
{
    uint32_t element = pgw_array_element(type);
    return scalar_has_binary(element != PGW_UNSPECIFIED ? element : type);
}

static bool refuse(uint32_t type, pgw_error *error)
{
    pgw_buf name = {0};
    if (!rw_add_type(type, &name))
        pgw_buf_addf(&name, "with oid %u", type);
    pgw_fail(error, "0A000", "a value of type %.*s cannot be sent in binary", (int)name.len,
             name.ptr);
    pgw_error_hint(error, "Ask for results in text format.");
    pgw_buf_free(&name);
    return false;
}

/* Sends a "char"; the byte 0 is shown as an empty text. */
static bool send_char(pgw_slice text, pgw_buf *out, pgw_error *error)
{
    if (text.len > 1)
        return refuse(RW_CHAR, error);
    pgw_buf_add_byte(out, text.len > 0 ? text.ptr[0] : '\0');
    return true;
}

static bool send_oid(pgw_slice text, pgw_buf *out, pgw_error *error)
{
    uint64_t oid = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9' || oid > UINT32_MAX)
            return refuse(RW_OID, error);
        oid = 10 * oid + (uint64_t)(text.ptr[i] - '0');
    }
    if (text.len == 0 || oid > UINT32_MAX)
        return refuse(RW_OID, error);
    pgw_buf_add_i32(out, (int32_t)oid);
    return true;
}

/* Whether it is a number of any length, in the one form that PostgreSQL writes. */
static bool is_printed_number(pgw_slice text)
{
    size_t at = text.len > 0 && text.ptr[0] == '-', digits = 0, points = 0;
    for (; at < text.len; at++) {
        bool point = text.ptr[at] == '.';
        if (!point && (text.ptr[at] < '0' || text.ptr[at] > '9'))
            return false;
        points += point;
        digits += !point;
    }
    return digits > 0 && points <= 1;
}

static bool send_numeric(pgw_slice text, pgw_buf *out, pgw_error *error)
{
    if (!is_printed_number(text) && !pgw_slice_eq_str(text, "NaN") &&
        !pgw_slice_eq_str(text, "Infinity") && !pgw_slice_eq_str(text, "-Infinity"))
        return refuse(PGW_NUMERIC, error);
    pgw_numeric_send(text, out);
    return true;
}

static bool send_value(uint32_t type, pgw_slice text, const pgw_env *env, pgw_buf *out,
                       pgw_error *error)
{
    pgw_arena arena = {0};
    pgw_value value;
    pgw_verdict verdict =
        pgw_value_from_text(type, -1, text, &(pgw_reading){env, &arena, error}, &value);
    if (verdict == PGW_KNOWN)
        pgw_value_send(&value, out);
    pgw_arena_free(&arena);
    return verdict == PGW_KNOWN || refuse(type, error);
}

static bool send_scalar(uint32_t type, pgw_slice text, const pgw_env *env, pgw_buf *out,
                        pgw_error *error)
{
    enum { JSONB_VERSION = 1 };
    switch (type) {
    case RW_JSONB:
        pgw_buf_add_byte(out, JSONB_VERSION);
        pgw_buf_add_slice(out, text);
        return true;
    case PGW_TEXT:
    case PGW_VARCHAR:
    case PGW_BPCHAR:
    case PGW_NAME:
    case PGW_UNKNOWN:
    case RW_JSON:
    case RW_VOID:
        pgw_buf_add_slice(out, text);
        return true;
    case RW_CHAR:
        return send_char(text, out, error);
    case RW_OID:
        return send_oid(text, out, error);
    case PGW_NUMERIC:
        return send_numeric(text, out, error);
    case RW_TIME:
        return rw_send_time(text, out) || refuse(type, error);
    case RW_TIMETZ:
        return rw_send_timetz(text, out) || refuse(type, error);
    case RW_INTERVAL:
        return rw_send_interval(text, out) || refuse(type, error);
    default:
        return scalar_has_binary(type) ? send_value(type, text, env, out, error)
                                       : refuse(type, error);
    }
}

bool rw_result_send(uint32_t type, pgw_slice text, const pgw_env *env, pgw_buf *out,
                    pgw_error *error)
{
    uint32_t element = pgw_array_element(type);
    if (element == PGW_UNSPECIFIED)
        return send_scalar(type, text, env, out, error);
    const rw_elements elements = {element, send_scalar, env};
    if (rw_send_array(&elements, text, out, error))
        return true;
    return error->sqlstate[0] == '\0' ? refuse(type, error) : false;
}
