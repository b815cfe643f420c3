/*
 * sixteen: as many bytes of a COPY's data that are compared at once.
 */
#ifndef PGW_COPY_SIXTEEN_H
#define PGW_COPY_SIXTEEN_H

#include <endian.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* The compiler compares them all at once, where the machine can. */
typedef unsigned char sixteen __attribute__((vector_size(16)));

/* One bit for each byte of `matches`, which is 0 or 255. */
static inline uint64_t bits_of(sixteen matches)
{
#ifdef __SSE2__
    return (uint64_t)(uint32_t)_mm_movemask_epi8((__m128i)matches);
#else
    const uint64_t one_a_byte = UINT64_C(0x8040201008040201), sum = UINT64_C(0x0101010101010101);
    uint64_t halves[2];
    memcpy(halves, &matches, sizeof halves);
    return ((le64toh(halves[0]) & one_a_byte) * sum) >> 56 |
           ((le64toh(halves[1]) & one_a_byte) * sum) >> 56 << 8;
#endif
}

#endif
