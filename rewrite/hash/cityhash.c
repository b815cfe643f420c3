#include "rewrite/hash/cityhash.h"

#include "rewrite/hash/hash_parts.h"

#define K0 UINT64_C(0xc3a5c85c97cb3127)
#define K1 UINT64_C(0xb492b66fbe98f273)
#define K2 UINT64_C(0x9ae16a3b2f90404f)
#define K3 UINT64_C(0xc949d7c7509e6557)

typedef struct pair {
    uint64_t first, second;
} pair;

static uint64_t rotate(uint64_t x, int bits)
{
    return rw_rotate_right_64(x, bits);
}

static uint64_t shift_mix(uint64_t x)
{
    return x ^ x >> 47;
}

/* 128 bits into 64, as Murmur does it. */
static uint64_t fold(uint64_t low, uint64_t high)
{
    const uint64_t multiplier = UINT64_C(0x9ddfea08eb382d69);
    uint64_t a = shift_mix((low ^ high) * multiplier);
    return shift_mix((high ^ a) * multiplier) * multiplier;
}

static uint64_t hash_to_16(const char *s, size_t len)
{
    if (len > 8) {
        uint64_t a = rw_read_64(s), b = rw_read_64(s + len - 8);
        return fold(a, rotate(b + len, (int)len)) ^ b;
    }
    if (len >= 4)
        return fold(len + ((uint64_t)rw_read_32(s) << 3), rw_read_32(s + len - 4));
    if (len == 0)
        return K2;
    uint32_t first = (unsigned char)s[0], middle = (unsigned char)s[len / 2],
             last = (unsigned char)s[len - 1];
    uint32_t y = first + (middle << 8), z = (uint32_t)len + (last << 2);
    return shift_mix(y * K2 ^ z * K3) * K2;
}

static uint64_t hash_to_32(const char *s, size_t len)
{
    uint64_t a = rw_read_64(s) * K1, b = rw_read_64(s + 8);
    uint64_t c = rw_read_64(s + len - 8) * K2, d = rw_read_64(s + len - 16) * K0;
    return fold(rotate(a - b, 43) + rotate(c, 30) + d, a + rotate(b ^ K3, 20) - c + len);
}

/* Half of the 33…64 byte case: two 16-byte pieces, the second of them in front of `end`. */
static pair half(const char *piece, const char *end, uint64_t a, uint64_t z)
{
    uint64_t b = rotate(a + z, 52), c = rotate(a, 37);
    a += rw_read_64(piece);
    c += rotate(a, 7);
    a += rw_read_64(end);
    return (pair){a + z, b + rotate(a, 31) + c};
}

static uint64_t hash_to_64(const char *s, size_t len)
{
    pair v = half(s + 8, s + 16, rw_read_64(s) + (len + rw_read_64(s + len - 16)) * K0,
                  rw_read_64(s + 24));
    pair w = half(s + len - 24, s + len - 16, rw_read_64(s + 16) + rw_read_64(s + len - 32),
                  rw_read_64(s + len - 8));
    uint64_t r = shift_mix((v.first + w.second) * K2 + (w.first + v.second) * K0);
    return shift_mix(r * K0 + v.second) * K2;
}

/* 16 bytes of hash for 32 bytes and two seeds: quick, and weak by itself. */
static pair weak_hash(const char *s, uint64_t a, uint64_t b)
{
    uint64_t w = rw_read_64(s), x = rw_read_64(s + 8), y = rw_read_64(s + 16),
             z = rw_read_64(s + 24);
    a += w;
    b = rotate(b + a + z, 21);
    uint64_t c = a;
    a += x + y;
    b += rotate(a, 44);
    return (pair){a + z, b + c};
}

static uint64_t hash_long(const char *s, size_t len)
{
    uint64_t x = rw_read_64(s), y = rw_read_64(s + len - 16) ^ K1,
             z = rw_read_64(s + len - 56) ^ K0;
    pair v = weak_hash(s + len - 64, len, y);
    pair w = weak_hash(s + len - 32, len * K1, K0);
    z += shift_mix(v.second) * K1;
    x = rotate(z + x, 39) * K1;
    y = rotate(y, 33) * K1;
    /* Whole blocks of 64; the last bytes have gone into v, w, y and z above. */
    for (const char *end = s + ((len - 1) & ~(size_t)63); s != end; s += 64) {
        x = rotate(x + y + v.first + rw_read_64(s + 16), 37) * K1;
        y = rotate(y + v.second + rw_read_64(s + 48), 42) * K1;
        x ^= w.second;
        y ^= v.first;
        z = rotate(z ^ w.first, 33);
        v = weak_hash(s, v.second * K1, x + w.first);
        w = weak_hash(s + 32, z + w.second, y);
        uint64_t swap = z;
        z = x;
        x = swap;
    }
    return fold(fold(v.first, w.first) + shift_mix(y) * K1 + z, fold(v.second, w.second) + x);
}

uint64_t rw_cityhash64(pgw_slice bytes)
{
    if (bytes.len <= 16)
        return hash_to_16(bytes.ptr, bytes.len);
    if (bytes.len <= 32)
        return hash_to_32(bytes.ptr, bytes.len);
    if (bytes.len <= 64)
        return hash_to_64(bytes.ptr, bytes.len);
    return hash_long(bytes.ptr, bytes.len);
}
