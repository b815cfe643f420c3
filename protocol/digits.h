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

/* The number that one to eight digits make, all at once; -1: there are other bytes among them. */
static inline int64_t pgw_eight_digits(const char *digits, size_t len)
{
    const uint32_t zeros = UINT32_C(0x30303030);
    uint64_t word = 0, other;
    if (len >= 4) {
        uint32_t first, last; /* two halves, which overlap */
        memcpy(&first, digits, sizeof first);
        memcpy(&last, digits + len - sizeof last, sizeof last);
        word = (uint64_t)(le32toh(first) ^ zeros) << 8 * (8 - len);
        word |= (uint64_t)(le32toh(last) ^ zeros) << 32;
    } else {
        for (size_t i = 0; i < len; i++)
            word = word >> 8 | (uint64_t)(unsigned char)(digits[i] ^ '0') << 56;
    }
    other = (word | (word + UINT64_C(0x7676767676767676))) & UINT64_C(0x8080808080808080);
    return other == 0 ? (int64_t)pgw_of_digit_values(word) : -1;
}

/* The number that nine to 18 digits make; -1: there are other bytes among them. */
__attribute__((noinline)) int64_t pgw_many_digits(pgw_slice digits);

/* The number that one to 18 digits make; -1: there are other bytes among them. */
static inline int64_t pgw_digits(pgw_slice digits)
{
    return digits.len <= 8 ? pgw_eight_digits(digits.ptr, digits.len) : pgw_many_digits(digits);
}

#endif
