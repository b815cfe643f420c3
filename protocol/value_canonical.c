#include "protocol/value_canonical.h"

#include "protocol/value_numeric.h"
#include "protocol/value_text.h"

#include <math.h>
#include <string.h>

/* Into 1970 from 2000, where PostgreSQL counts from. */
#define EPOCH_DAYS INT64_C(10957)
#define EPOCH_USECS INT64_C(946684800000000)

static void add_little_endian(uint64_t integer, size_t width, pgw_buf *out)
{
    char *bytes = pgw_buf_reserve(out, width);
    for (size_t i = 0; i < width; i++)
        bytes[i] = (char)(integer >> 8 * i);
    out->len += width;
}

/* Days and microseconds are moved from 2000 to 1970; the infinities stay where they are. */
static void add_time(const pgw_value *value, pgw_buf *out)
{
    int64_t integer = value->as.integer;
    if (value->type == PGW_DATE) {
        bool infinite = integer == INT32_MIN || integer == INT32_MAX;
        add_little_endian((uint64_t)(infinite ? integer : integer + EPOCH_DAYS), 4, out);
        return;
    }
    bool infinite = integer == INT64_MIN || integer == INT64_MAX;
    add_little_endian((uint64_t)integer + (infinite ? 0 : (uint64_t)EPOCH_USECS), 8, out);
}

static void add_real(double real, pgw_buf *out)
{
    uint64_t bits;
    if (real == 0)
        real = 0; /* -0 = 0 */
    memcpy(&bits, &real, sizeof bits);
    if (isnan(real))
        bits = UINT64_C(0x7ff8000000000000); /* all NaNs are equal */
    add_little_endian(bits, 8, out);
}

void pgw_value_canonical(const pgw_value *value, pgw_buf *out)
{
    if (value->null)
        return;
    switch (value->type) {
    case PGW_BOOL:
        add_little_endian((uint64_t)value->as.integer, 1, out);
        return;
    case PGW_INT2:
    case PGW_INT4:
    case PGW_INT8:
        add_little_endian((uint64_t)value->as.integer, 8, out);
        return;
    case PGW_DATE:
    case PGW_TIMESTAMP:
    case PGW_TIMESTAMPTZ:
        add_time(value, out);
        return;
    case PGW_FLOAT4:
    case PGW_FLOAT8:
        add_real(value->as.real, out);
        return;
    case PGW_NUMERIC:
        pgw_buf_add_slice(out, pgw_numeric_shortest(value->as.bytes));
        return;
    case PGW_BPCHAR:
        pgw_buf_add_slice(out, pgw_text_trim(value->as.bytes));
        return;
    default:
        pgw_buf_add_slice(out, value->as.bytes);
    }
}
