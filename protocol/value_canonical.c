#include "protocol/value_canonical.h"

#include "protocol/value_numeric.h"
#include "protocol/value_text.h"

#include <endian.h>
#include <math.h>
#include <string.h>

/* Days from 1970 to 2000, from which PostgreSQL counts. */
#define EPOCH_DAYS INT64_C(10957)
#define EPOCH_USECS INT64_C(946684800000000)

static pgw_slice little_endian(uint64_t integer, size_t width, char *room)
{
    integer = htole64(integer);
    memcpy(room, &integer, sizeof integer);
    return (pgw_slice){room, width};
}

/* Days and microseconds are moved from 2000 to 1970; the infinities stay where they are. */
static pgw_slice of_time(const pgw_value *value, char *room)
{
    int64_t integer = value->as.integer;
    if (value->type == PGW_DATE) {
        bool infinite = integer == INT32_MIN || integer == INT32_MAX;
        return little_endian((uint64_t)(infinite ? integer : integer + EPOCH_DAYS), 4, room);
    }
    bool infinite = integer == INT64_MIN || integer == INT64_MAX;
    return little_endian((uint64_t)integer + (infinite ? 0 : (uint64_t)EPOCH_USECS), 8, room);
}

static pgw_slice of_real(double real, char *room)
{
    uint64_t bits;
    if (real == 0)
        real = 0; /* -0 = 0 */
    memcpy(&bits, &real, sizeof bits);
    if (isnan(real))
        bits = UINT64_C(0x7ff8000000000000); /* all NaNs are equal */
    return little_endian(bits, 8, room);
}

pgw_slice pgw_value_canonical(const pgw_value *value, char room[PGW_CANONICAL_ROOM])
{
    if (value->null)
        return (pgw_slice){room, 0};
    switch (value->type) {
    case PGW_BOOL:
        return little_endian((uint64_t)value->as.integer, 1, room);
    case PGW_INT2:
    case PGW_INT4:
    case PGW_INT8:
        return little_endian((uint64_t)value->as.integer, 8, room);
    case PGW_DATE:
    case PGW_TIMESTAMP:
    case PGW_TIMESTAMPTZ:
        return of_time(value, room);
    case PGW_FLOAT4:
    case PGW_FLOAT8:
        return of_real(value->as.real, room);
    case PGW_NUMERIC:
        return pgw_numeric_shortest(value->as.bytes);
    case PGW_BPCHAR:
        return pgw_text_trim(value->as.bytes);
    default:
        return value->as.bytes;
    }
}
