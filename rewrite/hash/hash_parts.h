/*
 * hash_parts: what hash.c, pg_hash.c and cityhash.c share: unaligned little-endian reads and
 * rotations.
 */
#ifndef RW_HASH_PARTS_H
#define RW_HASH_PARTS_H

#include <stdint.h>

static inline uint32_t rw_read_32(const char *s)
{
    const unsigned char *b = (const unsigned char *)s;
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static inline uint64_t rw_read_64(const char *s)
{
    return (uint64_t)rw_read_32(s) | (uint64_t)rw_read_32(s + 4) << 32;
}

static inline uint32_t rw_rotate_left_32(uint32_t x, int bits)
{
    return x << bits | x >> (32 - bits);
}

static inline uint64_t rw_rotate_right_64(uint64_t x, int bits)
{
    return x >> bits | x << (64 - bits);
}

#endif
