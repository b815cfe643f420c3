#include "protocol/value_canonical.h"

#include "protocol/value_numeric.h"
#include "protocol/value_text.h"

#include <math.h>
#include <string.h>

/* Into 1970 from 2000, where PostgreSQL counts from. */
#define EPOCH_DAYS INT64_C(10957)
#define EPOCH_USECS INT64_C(946684800000000)

/* Little-endian; the compiler makes one store of these. */
static size_t put8(uint64_t integer, char *out)
{
    out[0] = (char)integer;
    out[1] = (char)(integer >> 8);
    out[2] = (char)(integer >> 16);
    out[3] = (char)(integer >> 24);
    out[4] = (char)(integer >> 32);
    out[5] = (char)(integer >> 40);
    out[6] = (char)(integer >> 48);
    out[7] = (char)(integer >> 56);
    return 8;
}

static size_t put4(uint32_t integer, char *out)
{
    out[0] = (char)integer;
    out[1] = (char)(integer >> 8);
    out[2] = (char)(integer >> 16);
    out[3] = (char)(integer >> 24);
    return 4;
}

/* Days and microseconds are moved from 2000 to 1970; the infinities stay where they are. */
static size_t put_time(const pgw_value *value, char *out)
{
    int64_t integer = value->as.integer;
    if (value->type == PGW_DATE) {
        bool infinite = integer == INT32_MIN || integer == INT32_MAX;
        return put4((uint32_t)(infinite ? integer : integer + EPOCH_DAYS), out);
    }
    bool infinite = integer == INT64_MIN || integer == INT64_MAX;
    return put8((uint64_t)integer + (infinite ? 0 : (uint64_t)EPOCH_USECS), out);
}

static size_t put_real(double real, char *out)
{
    uint64_t bits;
    if (real == 0)
        real = 0; /* -0 = 0 */
    memcpy(&bits, &real, sizeof bits);
    if (isnan(real))
        bits = UINT64_C(0x7ff8000000000000); /* all NaNs are equal */
    return put8(bits, out);
}

size_t pgw_value_canonical_few(const pgw_value *value, char *out)
{
    switch (value->type) {
    case PGW_BOOL:
        *out = (char)value->as.integer;
        return 1;
    case PGW_INT2:
    case PGW_INT4:
    case PGW_INT8:
        return put8((uint64_t)value->as.integer, out);
    case PGW_DATE:
    case PGW_TIMESTAMP:
    case PGW_TIMESTAMPTZ:
        return put_time(value, out);
    case PGW_FLOAT4:
    case PGW_FLOAT8:
        return put_real(value->as.real, out);
    default:
        return 0;
    }
}

void pgw_value_canonical(const pgw_value *value, pgw_buf *out)
{
    char few[PGW_CANONICAL_FEW];
    if (value->null)
        return;
    switch (value->type) {
    case PGW_NUMERIC:
        pgw_buf_add_slice(out, pgw_numeric_shortest(value->as.bytes));
        return;
    case PGW_BPCHAR:
        pgw_buf_add_slice(out, pgw_text_trim(value->as.bytes));
        return;
    default:
        break;
    }
    size_t len = pgw_value_canonical_few(value, few);
    if (len > 0)
        pgw_buf_add(out, few, len);
    else
        pgw_buf_add_slice(out, value->as.bytes);
}
