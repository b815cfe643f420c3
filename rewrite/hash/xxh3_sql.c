#include "rewrite/hash/xxh3_sql.h"

#include <inttypes.h>
#include <string.h>

/* Each function here gives a piece of SQL. PostgreSQL has no unsigned arithmetic: numeric does it,
 * modulo 2^64. What is needed more than once is a column, v, of a subquery, which OFFSET 0 keeps
 * from being evaluated more than once. Names of types are keywords, which no search_path changes.
 */
#define PG "pg_catalog."
#define PLUS " operator(pg_catalog.+) "
#define MINUS " operator(pg_catalog.-) "
#define TIMES " operator(pg_catalog.*) "
#define BY " operator(pg_catalog./) "
#define AT_MOST " operator(pg_catalog.<=) "
#define TWO_63 "9223372036854775808"
#define TWO_64 "18446744073709551616"
#define TWO_127_63 "170141183460469231740910675752738881536" /* 2^127 + 2^63 */
#define LENGTH PG "length(b)"
#define SQL(...) pgw_arena_printf(arena, __VA_ARGS__)

/* XXH3's constants, as int8 has them. */
#define PRIME64_1 INT64_C(-7046029288634856825)
#define PRIME64_2 INT64_C(-4417276706812531889)
#define PRIME64_3 INT64_C(1609587929392839161)
#define PRIME_MX1 INT64_C(1609587791953885689)
#define PRIME_MX2 INT64_C(-6939452855193903323)
#define OF_NOTHING INT64_C(3244421341483603138)

/* XXH3's secret, as much of it as inputs of up to RW_XXH3_SQL_MOST bytes need. */
static const unsigned char secret[] = {
    0xb8, 0xfe, 0x6c, 0x39, 0x23, 0xa4, 0x4b, 0xbe, 0x7c, 0x01, 0x81, 0x2c, 0xf7, 0x21, 0xad, 0x1c,
    0xde, 0xd4, 0x6d, 0xe9, 0x83, 0x90, 0x97, 0xdb, 0x72, 0x40, 0xa4, 0xa4, 0xb7, 0xb3, 0x67, 0x1f,
    0xcb, 0x79, 0xe6, 0x4e, 0xcc, 0xc0, 0xe5, 0x78, 0x82, 0x5a, 0xd0, 0x7d, 0xcc, 0xff, 0x72, 0x21,
    0xb8, 0x08, 0x46, 0x74, 0xf7, 0x43, 0x24, 0x8e, 0xe0, 0x35, 0x90, 0xe6, 0x81, 0x3a, 0x26, 0x4c,
    0x3c, 0x28, 0x52, 0xbb, 0x91, 0xc3, 0x00, 0xcb, 0x88, 0xd0, 0x65, 0x8b, 0x1b, 0x53, 0x2e, 0xa3,
    0x71, 0x64, 0x48, 0x97, 0xa2, 0x0d, 0xf9, 0x4e, 0x38, 0x19, 0xef, 0x46, 0xa9, 0xde, 0xac, 0xd8,
    0xa8, 0xfa, 0x76, 0x3f, 0xe3, 0x9c, 0x34, 0x3f, 0xf9, 0xdc, 0xbb, 0xc7, 0xc7, 0x0b, 0x4f, 0x1d,
    0x8a, 0x51, 0xe0, 0x4b, 0xcd, 0xb4, 0x59, 0x31, 0xc8, 0x9f, 0x7e, 0xc9, 0xd9, 0x78, 0x73, 0x64,
    0xea, 0xc5, 0xac, 0x83, 0x34, 0xd3, 0xeb};

/* Eight bytes of the secret. */
static uint64_t word_of(size_t at)
{
    uint64_t word = 0;
    for (size_t i = 0; i < 8; i++)
        word |= (uint64_t)secret[at + i] << 8 * i;
    return word;
}

/* ---- arithmetic ---- */

static char *constant(pgw_arena *arena, uint64_t word)
{
    return SQL("bigint '%" PRId64 "'", (int64_t)word);
}

static char *xored(pgw_arena *arena, const char *a, const char *b)
{
    return SQL(PG "int8xor(%s, %s)", a, b);
}

static char *xor_word(pgw_arena *arena, const char *a, uint64_t word)
{
    return xored(arena, a, constant(arena, word));
}

static char *left(pgw_arena *arena, const char *a, unsigned bits)
{
    return SQL(PG "int8shl(%s, %u)", a, bits);
}

static char *right(pgw_arena *arena, const char *a, unsigned bits)
{
    return SQL(PG "int8and(" PG "int8shr(%s, %u), %s)", a, bits,
               constant(arena, (UINT64_C(1) << (64 - bits)) - 1));
}

static char *rotated(pgw_arena *arena, const char *a, unsigned bits)
{
    return SQL(PG "int8or(%s, %s)", left(arena, a, bits), right(arena, a, 64 - bits));
}

char *rw_sql_wrap(pgw_arena *arena, const char *numeric)
{
    return SQL("(" PG "mod(%s" PLUS TWO_127_63 ", " TWO_64 ")" MINUS TWO_63 ")::bigint", numeric);
}

static char *times(pgw_arena *arena, const char *a, int64_t factor)
{
    return rw_sql_wrap(arena, SQL("%s::numeric" TIMES "(%" PRId64 ")", a, factor));
}

char *rw_sql_swapped(pgw_arena *arena, const char *int8)
{
    char *sum = NULL;
    for (unsigned i = 0; i < 8; i++) {
        char *byte =
            SQL(PG "int8and(%s, 255)", i > 0 ? SQL(PG "int8shr(%s, %u)", int8, 8 * i) : int8);
        byte = i < 7 ? left(arena, byte, 56 - 8 * i) : byte;
        sum = sum == NULL ? byte : SQL(PG "int8or(%s, %s)", sum, byte);
    }
    return sum;
}

/* The two halves of a product of 128 bits, combined by XOR. */
static char *folded(pgw_arena *arena, const char *a, const char *b)
{
    return SQL("(select " PG "int8xor((" PG "mod(p" PLUS TWO_63 ", " TWO_64 ")" MINUS TWO_63
               ")::bigint, (" PG "mod(" PG "div(p, " TWO_64 ")" PLUS TWO_63 ", " TWO_64
               ")" MINUS TWO_63 ")::bigint) from (select " PG "mod(%s::numeric" PLUS TWO_64
               ", " TWO_64 ")" TIMES PG "mod(%s::numeric" PLUS TWO_64 ", " TWO_64
               ") offset 0) f(p))",
               a, b);
}

/* Makes the next value of v by `expression` from `from`, which is the last one. */
static char *then(pgw_arena *arena, const char *expression, const char *from)
{
    return SQL("(select %s from (select %s offset 0) s(v))", expression, from);
}

static char *shifted_in(pgw_arena *arena, unsigned bits)
{
    return xored(arena, "v", right(arena, "v", bits));
}

static char *avalanche(pgw_arena *arena, const char *from)
{
    char *v = then(arena, times(arena, shifted_in(arena, 37), PRIME_MX1), from);
    return then(arena, shifted_in(arena, 32), v);
}

/* ---- bytes, of the column b ---- */

/* Reads `count` bytes of b from `at` on, little-endian. */
static char *read(pgw_arena *arena, const char *at, unsigned count)
{
    char *sum = NULL;
    for (unsigned i = 0; i < count; i++) {
        char *byte = SQL(PG "get_byte(b, %s" PLUS "%u)::bigint", at, i);
        byte = i > 0 ? left(arena, byte, 8 * i) : byte;
        sum = sum == NULL ? byte : SQL(PG "int8or(%s, %s)", sum, byte);
    }
    return sum;
}

static char *of_at_most_3(pgw_arena *arena)
{
    char *bytes =
        SQL(PG "int8or(" PG "int8or(%s, %s), " PG "int8or(%s, %s))",
            left(arena, PG "get_byte(b, 0)::bigint", 16),
            left(arena, PG "get_byte(b, " LENGTH BY "2)::bigint", 24),
            PG "get_byte(b, " LENGTH MINUS "1)::bigint", left(arena, LENGTH "::bigint", 8));
    uint64_t key = (word_of(0) & UINT32_MAX) ^ word_of(0) >> 32;
    char *v =
        then(arena, times(arena, shifted_in(arena, 33), PRIME64_2), xor_word(arena, bytes, key));
    v = then(arena, times(arena, shifted_in(arena, 29), PRIME64_3), v);
    return then(arena, shifted_in(arena, 32), v);
}

/* The hash of 4 to 8 bytes; `number` has the last four bytes below the first four. */
static char *of_4_to_8(pgw_arena *arena, const char *number, const char *length)
{
    char *v = xor_word(arena, number, word_of(8) ^ word_of(16));
    v = then(
        arena,
        times(arena,
              xored(arena, "v", xored(arena, rotated(arena, "v", 49), rotated(arena, "v", 24))),
              PRIME_MX2),
        v);
    v = then(arena,
             times(arena,
                   xored(arena, "v", SQL(PG "int8pl(%s, %s)", right(arena, "v", 35), length)),
                   PRIME_MX2),
             v);
    return then(arena, shifted_in(arena, 28), v);
}

static char *of_9_to_16(pgw_arena *arena, const char *first, const char *last, const char *length)
{
    char *sum = rw_sql_wrap(
        arena, SQL("%s::numeric" PLUS "%s::numeric" PLUS "y::numeric" PLUS "%s::numeric", length,
                   rw_sql_swapped(arena, "x"), folded(arena, "x", "y")));
    return avalanche(arena, SQL("(select %s from (select %s, %s offset 0) w(x, y))", sum,
                                xor_word(arena, first, word_of(24) ^ word_of(32)),
                                xor_word(arena, last, word_of(40) ^ word_of(48))));
}

/* The secret's words from byte `at` on, as an array. */
static char *words_from(pgw_arena *arena, size_t at)
{
    char *list = SQL("'{%" PRId64, (int64_t)word_of(at));
    for (at += 8; at + 8 <= sizeof secret; at += 8)
        list = SQL("%s,%" PRId64, list, (int64_t)word_of(at));
    return SQL("%s}'::bigint[]", list);
}

/* Mixes 16 bytes from `at` on with two words of the secret; a numeric. */
static char *mixed(pgw_arena *arena, const char *at, const char *word, const char *next)
{
    return SQL("%s::numeric", folded(arena, xored(arena, read(arena, at, 8), word),
                                     xored(arena, read(arena, SQL("%s" PLUS "8", at), 8), next)));
}

/* The element at `index` (from 0) of words_from(`at`). */
static char *word_at(pgw_arena *arena, size_t at, const char *index)
{
    return SQL("(%s)[%s" PLUS "1]", words_from(arena, at), index);
}

/* The sum of `term` over each i from `first` to `last` that is at most `most`; a numeric. */
static char *summed(pgw_arena *arena, const char *term, unsigned first, unsigned last,
                    const char *most)
{
    return SQL("(select coalesce(" PG "sum(%s), 0) from " PG
               "generate_series(%u, %u) i where i" AT_MOST "(%s))",
               term, first, last, most);
}

#define BEGUN LENGTH "::numeric" TIMES "(-7046029288634856825)" /* PRIME64_1 */

static char *of_17_to_128(pgw_arena *arena)
{
    char *front = mixed(arena, "16" TIMES "i", word_at(arena, 0, "4" TIMES "i"),
                        word_at(arena, 8, "4" TIMES "i"));
    char *back = mixed(arena, LENGTH MINUS "16" MINUS "(16" TIMES "i)",
                       word_at(arena, 16, "4" TIMES "i"), word_at(arena, 24, "4" TIMES "i"));
    char *sum =
        summed(arena, SQL("%s" PLUS "%s", front, back), 0, 3, "(" LENGTH MINUS "1)" BY "32");
    return avalanche(arena, rw_sql_wrap(arena, SQL(BEGUN PLUS "%s", sum)));
}

static char *of_129_to_240(pgw_arena *arena)
{
    char *front = mixed(arena, "16" TIMES "i", word_at(arena, 0, "2" TIMES "i"),
                        word_at(arena, 8, "2" TIMES "i"));
    char *begun = rw_sql_wrap(arena, SQL(BEGUN PLUS "%s", summed(arena, front, 0, 7, "7")));
    char *middle = mixed(arena, "16" TIMES "i", word_at(arena, 3, "2" TIMES "i" MINUS "16"),
                         word_at(arena, 11, "2" TIMES "i" MINUS "16"));
    char *back = mixed(arena, LENGTH MINUS "16", constant(arena, word_of(119)),
                       constant(arena, word_of(127)));
    char *sum = summed(arena, middle, 8, 14, LENGTH BY "16" MINUS "1");
    return avalanche(arena, rw_sql_wrap(arena, SQL("%s::numeric" PLUS "%s" PLUS "%s",
                                                   avalanche(arena, begun), sum, back)));
}

/* ---- the whole ---- */

static char *of_length(pgw_arena *arena, size_t length)
{
    if (length <= 3)
        return of_at_most_3(arena);
    if (length <= 8)
        return of_4_to_8(arena,
                         SQL(PG "int8or(%s, %s)", read(arena, LENGTH MINUS "4", 4),
                             left(arena, read(arena, "0", 4), 32)),
                         LENGTH "::bigint");
    if (length <= 16)
        return of_9_to_16(arena, read(arena, "0", 8), read(arena, LENGTH MINUS "8", 8),
                          LENGTH "::bigint");
    return length <= 128 ? of_17_to_128(arena) : of_129_to_240(arena);
}

char *rw_xxh3_sql_of_numbers(pgw_arena *arena, const char *first, const char *second)
{
    if (second != NULL)
        return of_9_to_16(arena, first, second, "16");
    char *number = then(arena, rotated(arena, "v", 32), first);
    return of_4_to_8(arena, number, "8");
}

char *rw_xxh3_sql_of_bytes(pgw_arena *arena, const char *bytes, size_t length,
                           const char *otherwise)
{
    static const size_t lengths[] = {3, 8, 16, 128, RW_XXH3_SQL_MOST};
    if (length > 0)
        return SQL("(select %s from (select %s offset 0) k(b))", of_length(arena, length), bytes);
    char *cases = SQL("when " LENGTH " operator(pg_catalog.=) 0 then %s",
                      constant(arena, (uint64_t)OF_NOTHING));
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        cases = SQL("%s when " LENGTH AT_MOST "%zu then %s", cases, lengths[i],
                    of_length(arena, lengths[i]));
    return SQL("(select case %s else %s end from (select %s offset 0) k(b))", cases, otherwise,
               bytes);
}
