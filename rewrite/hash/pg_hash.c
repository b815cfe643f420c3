#include "rewrite/hash/pg_hash.h"

#include "protocol/value_text.h"
#include "rewrite/hash/hash_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct state {
    uint32_t a, b, c;
} state;

static state start(size_t len)
{
    uint32_t seed = UINT32_C(0x9e3779b9) + (uint32_t)len + 3923095;
    return (state){seed, seed, seed};
}

static void mix(state *s)
{
    static const int rotations[] = {4, 6, 8, 16, 19, 4};
    uint32_t a = s->a, b = s->b, c = s->c;
    for (int i = 0; i < 6; i++) {
        uint32_t mixed = (a - c) ^ rw_rotate_left_32(c, rotations[i]);
        c += b;
        /* The three words take turns. */
        a = b;
        b = c;
        c = mixed;
    }
    *s = (state){a, b, c};
}

static uint64_t finish(state s)
{
    s.c = (s.c ^ s.b) - rw_rotate_left_32(s.b, 14);
    s.a = (s.a ^ s.c) - rw_rotate_left_32(s.c, 11);
    s.b = (s.b ^ s.a) - rw_rotate_left_32(s.a, 25);
    s.c = (s.c ^ s.b) - rw_rotate_left_32(s.b, 16);
    s.a = (s.a ^ s.c) - rw_rotate_left_32(s.c, 4);
    s.b = (s.b ^ s.a) - rw_rotate_left_32(s.a, 14);
    s.c = (s.c ^ s.b) - rw_rotate_left_32(s.b, 24);
    return (uint64_t)s.b << 32 | s.c;
}

static uint64_t hash_bytes(pgw_slice bytes)
{
    state s = start(bytes.len);
    const char *at = bytes.ptr;
    size_t left = bytes.len;
    for (; left >= 12; at += 12, left -= 12) {
        s.a += rw_read_32(at);
        s.b += rw_read_32(at + 4);
        s.c += rw_read_32(at + 8);
        mix(&s);
    }
    /* The lowest byte of c is kept for the length, so the last bytes are put one higher there. */
    char last[13] = {0};
    if (left > 0)
        memcpy(last, at, left);
    s.a += rw_read_32(last);
    s.b += rw_read_32(last + 4);
    s.c += rw_read_32(last + 8) << 8;
    return finish(s);
}

static uint64_t hash_32(uint32_t word)
{
    state s = start(sizeof word);
    s.a += word;
    return finish(s);
}

/* int8 hashes like int4 and int2 where they are equal. */
static uint64_t hash_64(int64_t integer)
{
    uint32_t low = (uint32_t)integer, high = (uint32_t)((uint64_t)integer >> 32);
    return hash_32(low ^ (integer >= 0 ? high : ~high));
}

static uint64_t hash_real(double real)
{
    char bytes[8];
    uint64_t bits;
    if (real == 0)
        return 0;
    memcpy(&bits, &real, sizeof bits);
    if (isnan(real))
        bits = UINT64_C(0x7ff8000000000000);
    for (int i = 0; i < 8; i++)
        bytes[i] = (char)(bits >> 8 * i);
    return hash_bytes((pgw_slice){bytes, sizeof bytes});
}

/* The value's groups of four decimal digits on both sides of the point, as PostgreSQL keeps it. */
typedef struct groups {
    char *bytes; /* two bytes for each group, little-endian */
    size_t count;
    int weight;   /* place of the first group: 0 is the one before the point */
    size_t zeros; /* groups of zeros since the last other group */
} groups;

static void add_group(groups *g, unsigned group, int weight)
{
    if (group == 0) {
        g->zeros += g->count > 0;
        return;
    }
    if (g->count == 0)
        g->weight = weight;
    for (; g->zeros > 0; g->zeros--)
        g->count++; /* the groups' memory is zeroed */
    g->bytes[2 * g->count] = (char)group;
    g->bytes[2 * g->count + 1] = (char)(group >> 8);
    g->count++;
}

static unsigned digit_at(pgw_slice digits, size_t point, int64_t place)
{
    int64_t index = place < 0 ? (int64_t)point + place : (int64_t)point + 1 + place;
    return index >= 0 && index < (int64_t)digits.len ? (unsigned)(digits.ptr[index] - '0') : 0;
}

static uint64_t hash_numeric(pgw_slice text)
{
    enum { SHORT = 64 };
    char room[SHORT] = {0};
    if (text.ptr[0] == 'N' || text.ptr[text.len - 1] == 'y')
        return 0; /* NaN and the infinities hash to the seed */
    if (text.ptr[0] == '-')
        text = (pgw_slice){text.ptr + 1, text.len - 1};
    const char *dot = memchr(text.ptr, '.', text.len);
    size_t point = dot != NULL ? (size_t)(dot - text.ptr) : text.len;
    int first = (int)(point + 3) / 4, last = (int)(text.len - point + 3) / 4;
    size_t needed = 2 * (size_t)(first + last);
    groups g = {.bytes = needed > SHORT ? pgw_calloc(1, needed) : room};
    for (int group = -first; group < last; group++) {
        unsigned value = 0;
        for (int i = 0; i < 4; i++)
            value = value * 10 + digit_at(text, point, (int64_t)group * 4 + i);
        add_group(&g, value, -group - 1);
    }
    uint64_t hash = UINT64_MAX; /* zero hashes to the seed less one */
    if (g.count > 0)
        hash = hash_bytes((pgw_slice){g.bytes, 2 * g.count}) ^ (uint64_t)(int64_t)g.weight;
    if (g.bytes != room)
        free(g.bytes);
    return hash;
}

static uint64_t hash_value(const pgw_value *value)
{
    switch (value->type) {
    case PGW_BOOL:
    case PGW_INT2:
    case PGW_INT4:
    case PGW_DATE:
        return hash_32((uint32_t)value->as.integer);
    case PGW_INT8:
    case PGW_TIMESTAMP:
    case PGW_TIMESTAMPTZ:
        return hash_64(value->as.integer);
    case PGW_FLOAT4:
    case PGW_FLOAT8:
        return hash_real(value->as.real);
    case PGW_NUMERIC:
        return hash_numeric(value->as.bytes);
    case PGW_BPCHAR:
        return hash_bytes(pgw_text_trim(value->as.bytes));
    default:
        return hash_bytes(value->as.bytes);
    }
}

uint64_t rw_pg_hash(const pgw_value *values, size_t count)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < count; i++)
        hash = hash * 31 + (values[i].null ? 0 : hash_value(&values[i]));
    return hash;
}
