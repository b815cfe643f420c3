/*
 * decimal: numbers written as decimal digits, with the least work for those that have more than
 * sixteen, as most hashes have.
 */
#ifndef PGW_DECIMAL_H
#define PGW_DECIMAL_H

#include <endian.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { PGW_DIGITS_ROOM = 24 }; /* bytes that any number of 64 bits has room in */

static inline void pgw_put_pair(char *to, uint64_t pair)
{
    static const char pairs[] =
        "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
        "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
        "8081828384858687888990919293949596979899";
    memcpy(to, pairs + pair * 2, 2);
}

/* The eight digits of a number below 100,000,000: it is made a fraction, whose whole part is the
 * first two, and each multiplication brings the next two there. */
static inline void pgw_put_eight(char *to, uint32_t value)
{
    uint64_t millions = ((uint64_t)value * 281474978 >> 16) + 1;
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++, millions = (millions & UINT32_MAX) * 100)
        pgw_put_pair(to + 2 * i, millions >> 32);
}

/* The sixteen digits of a number below 10,000,000,000,000,000: where the machine can, its halves
 * are cut into numbers of four, two and one digits beside each other. */
static inline void pgw_put_sixteen(char *to, uint64_t value)
{
    uint32_t first = (uint32_t)(value / 100000000), second = (uint32_t)(value % 100000000);
#ifdef __SSE2__
    __m128i halves = _mm_set_epi64x(second, first);
    __m128i high = _mm_srli_epi64(_mm_mul_epu32(halves, _mm_set1_epi64x(0xd1b71759)), 45);
    __m128i low = _mm_sub_epi32(halves, _mm_mul_epu32(high, _mm_set1_epi64x(10000)));
    __m128i fours = _mm_or_si128(high, _mm_slli_epi64(low, 32));
    high = _mm_srli_epi16(_mm_mulhi_epu16(fours, _mm_set1_epi16(5243)), 3);
    low = _mm_sub_epi16(fours, _mm_madd_epi16(high, _mm_set1_epi32(100)));
    __m128i twos = _mm_or_si128(high, _mm_slli_epi32(low, 16));
    high = _mm_mulhi_epu16(twos, _mm_set1_epi16(6554));
    low = _mm_sub_epi16(twos, _mm_mullo_epi16(high, _mm_set1_epi16(10)));
    __m128i ones = _mm_or_si128(high, _mm_slli_epi16(low, 8));
    _mm_storeu_si128((__m128i *)(void *)to, _mm_or_si128(ones, _mm_set1_epi8('0')));
#else
    pgw_put_eight(to, first);
    pgw_put_eight(to + 8, second);
#endif
}

/* Writes one to four digits of a number below 10,000, and sixteen of `rest`; returns their end. */
static inline char *pgw_put_many(char *to, uint32_t first, uint64_t rest)
{
    uint32_t four;
    pgw_put_pair((char *)&four, first / 100);
    pgw_put_pair((char *)&four + 2, first % 100);
    four = le32toh(four);
    unsigned zeros = (unsigned)__builtin_ctz((four & 0x0f0f0f) | 1 << 24) & ~7u;
    four = htole32(four >> zeros);
    memcpy(to, &four, sizeof four);
    to += 4 - zeros / 8;
    pgw_put_sixteen(to, rest);
    return to + 16;
}

/* Writes up to sixteen digits in PGW_DIGITS_ROOM bytes; returns their end. */
char *pgw_put_few(char *to, uint64_t value);

/* Writes the digits of a number in PGW_DIGITS_ROOM bytes, of which those behind the digits have no
 * meaning; returns the end of the digits. */
static inline char *pgw_put_digits(char *to, uint64_t value)
{
    const uint64_t unit = UINT64_C(10000000000000000); /* It has sixteen zeros. */
    uint64_t first = value / unit;
    return first > 0 ? pgw_put_many(to, (uint32_t)first, value - first * unit)
                     : pgw_put_few(to, value);
}

#endif
