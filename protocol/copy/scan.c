#include "protocol/copy/scan.h"

#include <endian.h>
#include <string.h>
#ifdef __SSE2__
#include <immintrin.h>
#endif

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

static uint64_t block_anywhere(const pgw_copy_scan *scan, const char *at)
{
    uint64_t found = 0;
#pragma GCC unroll 4
    for (size_t i = 0; i < BLOCK / sizeof(sixteen); i++) {
        sixteen bytes, special = {0};
        memcpy(&bytes, at + i * sizeof bytes, sizeof bytes);
#pragma GCC unroll 4
        for (size_t j = 0; j < UNQUOTED_SPECIALS; j++)
            special |= (sixteen)(bytes == scan->specials[j]);
        found |= bits_of(special) << i * sizeof bytes;
    }
    return found;
}

static void blocks_anywhere(const pgw_copy_scan *scan, const char *at, size_t count,
                            uint64_t *found)
{
    for (size_t i = 0; i < count; i++)
        found[i] = block_anywhere(scan, at + i * BLOCK);
}

#ifdef __SSE2__

#define AVX2 __attribute__((target("avx2")))

AVX2 static uint64_t special_bits(const char *at, __m256i by_low)
{
    __m256i bytes = _mm256_loadu_si256((const __m256i *)(const void *)at);
    __m256i same = _mm256_cmpeq_epi8(bytes, _mm256_shuffle_epi8(by_low, bytes));
    return (uint32_t)_mm256_movemask_epi8(same);
}

AVX2 static void blocks_by_low(const pgw_copy_scan *scan, const char *at, size_t count,
                               uint64_t *found)
{
    __m128i once = _mm_loadu_si128((const __m128i *)(const void *)scan->by_low);
    __m256i by_low = _mm256_broadcastsi128_si256(once);
    for (size_t i = 0; i < count; i++, at += BLOCK)
        found[i] = special_bits(at, by_low) | special_bits(at + 32, by_low) << 32;
}

static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2");
}

#else

static void blocks_by_low(const pgw_copy_scan *scan, const char *at, size_t count, uint64_t *found)
{
    blocks_anywhere(scan, at, count, found);
}

static bool has_avx2(void)
{
    return false;
}

#endif

void pgw_copy_scan_of(const char specials[SPECIALS], pgw_copy_scan *out)
{
    *out = (pgw_copy_scan){.by_low = {1}, .is_by_low = has_avx2()};
    bool taken[16] = {0};
    for (size_t i = 0; i < SPECIALS; i++) {
        unsigned char byte = (unsigned char)specials[i], low = byte & 15;
        out->specials[i] = (sixteen){0} + byte;
        if (i < UNQUOTED_SPECIALS) {
            bool clashes = byte > 127 || (taken[low] && out->by_low[low] != byte);
            out->is_by_low = out->is_by_low && !clashes;
            out->by_low[low] = byte;
            taken[low] = true;
        }
        out->special[byte] = true;
    }
}

size_t pgw_copy_scan_blocks(const pgw_copy_scan *scan, const char *at, const char *end, size_t most,
                            uint64_t *found)
{
    size_t len = (size_t)(end - at), whole = len / BLOCK, count = whole < most ? whole : most;
    char rest[BLOCK] = {0};
    if (whole == 0) {
        at = memcpy(rest, at, len);
        count = 1;
    }
    if (scan->is_by_low)
        blocks_by_low(scan, at, count, found);
    else
        blocks_anywhere(scan, at, count, found);
    if (whole == 0)
        *found &= (UINT64_C(1) << len) - 1;
    return count;
}

/* Which of these bytes is the first special one; 16: none is. */
static size_t first_special(const pgw_copy_scan *scan, const char *at)
{
    sixteen bytes;
    uint64_t found[2];
    memcpy(&bytes, at, sizeof bytes);
    sixteen special = (sixteen)(bytes == scan->specials[0]);
#pragma GCC unroll 4
    for (size_t i = 1; i < SPECIALS; i++)
        special |= (sixteen)(bytes == scan->specials[i]);
    memcpy(found, &special, sizeof found);
    if (found[0] != 0)
        return (size_t)__builtin_ctzll(le64toh(found[0])) / 8;
    return found[1] != 0 ? 8 + (size_t)__builtin_ctzll(le64toh(found[1])) / 8 : sizeof bytes;
}

const char *pgw_copy_scan_next(const pgw_copy_scan *scan, const char *at, const char *end)
{
    while (end - at >= (ptrdiff_t)sizeof(sixteen)) {
        size_t plain = first_special(scan, at);
        at += plain;
        if (plain < sizeof(sixteen))
            return at;
    }
    while (at < end && !scan->special[(unsigned char)*at])
        at++;
    return at;
}
