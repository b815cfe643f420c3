/*
 * digits: numbers that are written in nothing but decimal digits.
 */
#ifndef PGW_DIGITS_H
#define PGW_DIGITS_H

#include "protocol/bytes.h"

#include <endian.h>
#include <string.h>

/* The number that the digits' values make, of which the first is in the lowest byte. */
static inline uint64_t pgw_of_digit_values(uint64_t word)
{
    word = word * 10 + (word >> 8);
    return ((word & UINT64_C(0x000000ff000000ff)) * UINT64_C(0x000f424000000064) +
            (word >> 16 & UINT64_C(0x000000ff000000ff)) * UINT64_C(0x0000271000000001)) >>
           32;
}

/* How many of the eight bytes at `at` are digits, up to the first other one; `out` is the number
 * that they make. */
static inline size_t pgw_leading_digits(const char *at, uint64_t *out)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    word = le64toh(word) ^ UINT64_C(0x3030303030303030);
    uint64_t other = (word | (word + UINT64_C(0x7676767676767676))) & UINT64_C(0x8080808080808080);
    size_t bits = other != 0 ? (size_t)__builtin_ctzll(other) & 0x38 : 64;
    *out = bits > 0 ? pgw_of_digit_values(word << (64 - bits)) : 0;
    return bits / 8;
}

/* The number that one to eight digits make, all at once. False: there are other bytes among them.
 */
static inline bool pgw_eight_digits(const char *digits, size_t len, uint64_t *out)
{
    uint64_t word = 0, other;
    if (len >= 4) {
        uint32_t first, last; /* two halves, which overlap */
        memcpy(&first, digits, sizeof first);
        memcpy(&last, digits + len - sizeof last, sizeof last);
        word = (uint64_t)le32toh(last) << 32 | (uint64_t)le32toh(first) << 8 * (8 - len);
    } else {
        for (size_t i = 0; i < len; i++)
            word = word >> 8 | (uint64_t)(unsigned char)digits[i] << 56;
    }
    /* Bytes in front that are none of the digits' are zero, as are the digits' own upper halves
     * then. */
    word ^= UINT64_C(0x3030303030303030) << 8 * (8 - len);
    other = (word | (word + UINT64_C(0x7676767676767676))) & UINT64_C(0x8080808080808080);
    *out = pgw_of_digit_values(word);
    return other == 0;
}

/* The number that more than eight digits make, and not more than 24. */
__attribute__((noinline)) PGW_MUST_CHECK bool pgw_many_digits(pgw_slice digits, uint64_t *out);

/* The number that one to 24 digits make, modulo 2^64. False: there are other bytes among them. */
PGW_MUST_CHECK static inline bool pgw_digits(pgw_slice digits, uint64_t *out)
{
    return digits.len <= 8 ? pgw_eight_digits(digits.ptr, digits.len, out)
                           : pgw_many_digits(digits, out);
}

#endif
