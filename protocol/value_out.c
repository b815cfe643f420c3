#include "protocol/value_out.h"

#include "protocol/value_numeric.h"
#include "protocol/value_text.h"
#include "protocol/value_time.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FLOAT4_DIGITS_MAX = 9, FLOAT8_DIGITS_MAX = 17 };

/* Whether the number of so many digits is read back as what it was. */
static bool comes_back(uint32_t type, double real, int digits)
{
    char text[32];
    snprintf(text, sizeof text, "%.*g", digits, real);
    return type == PGW_FLOAT4 ? strtof(text, NULL) == (float)real : strtod(text, NULL) == real;
}

static void add_real(const pgw_value *value, pgw_buf *out)
{
    double real = value->as.real;
    bool narrow = value->type == PGW_FLOAT4;
    int digits = narrow ? FLT_DIG : DBL_DIG, most = narrow ? FLOAT4_DIGITS_MAX : FLOAT8_DIGITS_MAX;
    if (isnan(real)) {
        pgw_buf_add_str(out, "NaN");
    } else if (isinf(real)) {
        pgw_buf_add_str(out, real < 0 ? "-Infinity" : "Infinity");
    } else {
        while (digits < most && !comes_back(value->type, real, digits))
            digits++;
        pgw_buf_addf(out, "%.*g", digits, real);
    }
}

static void add_bytea(pgw_slice bytes, pgw_buf *out)
{
    char *hex = pgw_buf_reserve(out, 2 + 2 * bytes.len);
    *hex++ = '\\';
    *hex++ = 'x';
    for (size_t i = 0; i < bytes.len; i++) {
        *hex++ = "0123456789abcdef"[(unsigned char)bytes.ptr[i] >> 4];
        *hex++ = "0123456789abcdef"[(unsigned char)bytes.ptr[i] & 15];
    }
    out->len += 2 + 2 * bytes.len;
}

static void add_uuid(pgw_slice bytes, pgw_buf *out)
{
    pgw_arena arena = {0};
    pgw_buf_add_slice(out, pgw_uuid_out(bytes, &arena));
    pgw_arena_free(&arena);
}

void pgw_value_out(const pgw_value *value, pgw_buf *out)
{
    switch (value->type) {
    case PGW_BOOL:
        pgw_buf_add_byte(out, value->as.integer ? 't' : 'f');
        return;
    case PGW_INT2:
    case PGW_INT4:
    case PGW_INT8:
        pgw_buf_addf(out, "%lld", (long long)value->as.integer);
        return;
    case PGW_FLOAT4:
    case PGW_FLOAT8:
        add_real(value, out);
        return;
    case PGW_DATE:
    case PGW_TIMESTAMP:
    case PGW_TIMESTAMPTZ:
        pgw_time_out(value, out);
        return;
    case PGW_BYTEA:
        add_bytea(value->as.bytes, out);
        return;
    case PGW_UUID:
        add_uuid(value->as.bytes, out);
        return;
    default:
        pgw_buf_add_slice(out, value->as.bytes);
    }
}

static void send_real(const pgw_value *value, pgw_buf *out)
{
    int64_t wide;
    int32_t narrow;
    float real = (float)value->as.real;
    memcpy(&wide, &value->as.real, sizeof wide);
    memcpy(&narrow, &real, sizeof narrow);
    if (value->type == PGW_FLOAT4)
        pgw_buf_add_i32(out, narrow);
    else
        pgw_buf_add_i64(out, wide);
}

void pgw_value_send(const pgw_value *value, pgw_buf *out)
{
    switch (value->type) {
    case PGW_BOOL:
        pgw_buf_add_byte(out, value->as.integer ? 1 : 0);
        return;
    case PGW_INT2:
        pgw_buf_add_i16(out, (int16_t)value->as.integer);
        return;
    case PGW_INT4:
    case PGW_DATE:
        pgw_buf_add_i32(out, (int32_t)value->as.integer);
        return;
    case PGW_INT8:
    case PGW_TIMESTAMP:
    case PGW_TIMESTAMPTZ:
        pgw_buf_add_i64(out, value->as.integer);
        return;
    case PGW_FLOAT4:
    case PGW_FLOAT8:
        send_real(value, out);
        return;
    case PGW_NUMERIC:
        pgw_numeric_send(value->as.bytes, out);
        return;
    default:
        pgw_buf_add_slice(out, value->as.bytes);
    }
}
