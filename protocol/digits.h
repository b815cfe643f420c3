/*
 * digits: numbers that are written in nothing but decimal digits.
 */
#ifndef PGW_DIGITS_H
#define PGW_DIGITS_H

#include "protocol/bytes.h"

#include <endian.h>
#include <string.h>

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
    word = word * 10 + (word >> 8);
    word = ((word & UINT64_C(0x000000ff000000ff)) * UINT64_C(0x000f424000000064) +
            (word >> 16 & UINT64_C(0x000000ff000000ff)) * UINT64_C(0x0000271000000001)) >>
           32;
    *out = word;
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
