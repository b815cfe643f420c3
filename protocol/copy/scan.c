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

/* Writes the cuts of a block, behind each byte whose bit is set; returns their end. */
static inline uint32_t *cut_block(uint64_t found, uint32_t place, uint32_t *to)
{
    for (; found != 0; found &= found - 1)
        *to++ = place + (uint32_t)__builtin_ctzll(found) + 1;
    return to;
}

/* Writes the cuts of blocks, of which the first is at `place` of its piece; returns their end. */
static uint32_t *cut_anywhere(const pgw_copy_scan *scan, const char *at, size_t blocks,
                              uint32_t place, uint32_t *to)
{
    for (; blocks > 0; blocks--, at += BLOCK, place += BLOCK) {
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
        to = cut_block(found, place, to);
    }
    return to;
}

#ifdef __SSE2__

#define AVX2 __attribute__((target("avx2,bmi")))

AVX2 static uint64_t special_bits(const char *at, __m256i by_low)
{
    __m256i bytes = _mm256_loadu_si256((const __m256i *)(const void *)at);
    __m256i same = _mm256_cmpeq_epi8(bytes, _mm256_shuffle_epi8(by_low, bytes));
    return (uint32_t)_mm256_movemask_epi8(same);
}

AVX2 static uint32_t *cut_by_low(const pgw_copy_scan *scan, const char *at, size_t blocks,
                                 uint32_t place, uint32_t *to)
{
    __m128i once = _mm_loadu_si128((const __m128i *)(const void *)scan->by_low);
    __m256i by_low = _mm256_broadcastsi128_si256(once);
    for (; blocks > 0; blocks--, at += BLOCK, place += BLOCK)
        to = cut_block(special_bits(at, by_low) | special_bits(at + 32, by_low) << 32, place, to);
    return to;
}

static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi");
}

#else

static uint32_t *cut_by_low(const pgw_copy_scan *scan, const char *at, size_t blocks,
                            uint32_t place, uint32_t *to)
{
    return cut_anywhere(scan, at, blocks, place, to);
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

static void cut(const pgw_copy_scan *scan, const char *at, size_t blocks, pgw_copy_cuts *it)
{
    uint32_t place = (uint32_t)(it->at - it->begin), *to = it->cuts + it->count;
    to = scan->is_by_low ? cut_by_low(scan, at, blocks, place, to)
                         : cut_anywhere(scan, at, blocks, place, to);
    it->count = (size_t)(to - it->cuts);
}

/* Cuts the bytes at the end of the piece, which are fewer than a block. */
static void cut_rest(const pgw_copy_scan *scan, pgw_copy_cuts *it)
{
    char rest[BLOCK] = {0};
    memcpy(rest, it->at, (size_t)(it->end - it->at));
    cut(scan, rest, 1, it);
    it->at = it->end;
    while (it->cuts[it->count - 1] > it->end - it->begin) /* It is behind one of the zeros. */
        it->count--;
}

const uint32_t *pgw_copy_scan_on(const pgw_copy_scan *scan, const uint32_t *first, size_t wanted,
                                 pgw_copy_cuts *it)
{
    it->count -= (size_t)(first - it->cuts);
    memmove(it->cuts, first, it->count * sizeof *first);
    while (it->count < wanted && it->at < it->end) {
        size_t whole = (size_t)(it->end - it->at) / BLOCK,
               room = it->at == it->begin ? 1 : (it->room - it->count) / BLOCK,
               blocks = whole < room ? whole : room;
        if (whole > 0)
            cut(scan, it->at, blocks, it);
        else
            cut_rest(scan, it);
        it->at += blocks * BLOCK;
    }
    return it->cuts + it->count;
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
