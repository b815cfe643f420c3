#include "rewrite/lex/window.h"

/* The bytes of a window that are of each kind, as bits. */
typedef struct bits {
    uint64_t letters;
    uint64_t alone; /* ( ; and NUL */
    uint64_t pairs; /* - / * & " */
} bits;

static rw_window window_of(bits found)
{
    uint64_t next = found.pairs >> 1 | (uint64_t)1 << (RW_WINDOW - 1);
    return (rw_window){found.letters, found.alone | (found.pairs & next)};
}

#ifdef __SSE2__

#include <immintrin.h>

static __m128i is(__m128i bytes, char c)
{
    return _mm_cmpeq_epi8(bytes, _mm_set1_epi8(c));
}

static __m128i either(__m128i a, __m128i b)
{
    return _mm_or_si128(a, b);
}

static uint64_t bits_of(__m128i bytes)
{
    return (uint64_t)(unsigned)_mm_movemask_epi8(bytes);
}

/* Bytes beyond ASCII have the highest bit themselves. */
static __m128i letters_of(__m128i bytes)
{
    __m128i place = _mm_sub_epi8(either(bytes, _mm_set1_epi8(0x20)), _mm_set1_epi8('a'));
    __m128i letters = _mm_cmpeq_epi8(_mm_min_epu8(place, _mm_set1_epi8('z' - 'a')), place);
    return either(either(letters, is(bytes, '_')), bytes);
}

static rw_window window_at(const char *bytes)
{
    bits found = {0};
    for (unsigned i = 0; i < RW_WINDOW; i += 16) {
        __m128i part = _mm_loadu_si128((const __m128i *)(const void *)(bytes + i));
        __m128i alone = either(either(is(part, '('), is(part, ';')), is(part, '\0'));
        __m128i lines = is(either(part, _mm_set1_epi8('-' ^ '/')), '/'); /* - /, and no other */
        __m128i more = either(either(is(part, '*'), is(part, '&')), is(part, '"'));
        found.letters |= bits_of(letters_of(part)) << i;
        found.alone |= bits_of(alone) << i;
        found.pairs |= bits_of(either(lines, more)) << i;
    }
    return window_of(found);
}

#define AVX2 __attribute__((target("avx2")))

AVX2 static uint64_t joined(__m256i low, __m256i high)
{
    uint64_t first = (unsigned)_mm256_movemask_epi8(low);
    return first | (uint64_t)(unsigned)_mm256_movemask_epi8(high) << 32;
}

AVX2 static __m256i wide_letters_of(__m256i bytes)
{
    __m256i lower = _mm256_or_si256(bytes, _mm256_set1_epi8(0x20));
    __m256i place = _mm256_sub_epi8(lower, _mm256_set1_epi8('a'));
    __m256i least = _mm256_min_epu8(place, _mm256_set1_epi8('z' - 'a'));
    __m256i line = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('_'));
    return _mm256_or_si256(_mm256_or_si256(_mm256_cmpeq_epi8(least, place), line), bytes);
}

/* Bytes that are the one in `marks` with the same last four bits, which no two marks share. */
AVX2 static __m256i wide_marks_of(__m256i bytes, __m128i marks)
{
    __m256i wanted = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(marks), bytes);
    return _mm256_cmpeq_epi8(bytes, wanted);
}

AVX2 static rw_window wide_window_at(const char *bytes)
{
    /* Where no mark belongs stands a byte that belongs elsewhere, and is never found. */
    const __m128i alone = _mm_setr_epi8('\0', 0, 0, 0, 0, 0, 0, 0, '(', 0, 0, ';', 0, 0, 0, 0);
    const __m128i pairs = _mm_setr_epi8(1, 0, '"', 0, 0, 0, '&', 0, 0, 0, '*', 0, 0, '-', 0, '/');
    __m256i low = _mm256_loadu_si256((const __m256i *)(const void *)bytes);
    __m256i high = _mm256_loadu_si256((const __m256i *)(const void *)(bytes + 32));
    return window_of((bits){
        .letters = joined(wide_letters_of(low), wide_letters_of(high)),
        .alone = joined(wide_marks_of(low, alone), wide_marks_of(high, alone)),
        .pairs = joined(wide_marks_of(low, pairs), wide_marks_of(high, pairs)),
    });
}

AVX2 static void wide_windows_of(const char *bytes, size_t step, size_t count, rw_window *windows)
{
    for (size_t i = 0; i < count; i++)
        windows[i] = wide_window_at(bytes + i * step);
}

void rw_windows_of(const char *bytes, size_t step, size_t count, rw_window *windows)
{
    if (__builtin_cpu_supports("avx2"))
        wide_windows_of(bytes, step, count, windows);
    else
        rw_windows_anywhere(bytes, step, count, windows);
}

#else

enum { LETTER = 1, ALONE = 2, PAIR = 4 };

static const unsigned char classes[256] = {
    ['A' ... 'Z'] = LETTER, ['a' ... 'z'] = LETTER, ['_'] = LETTER, [128 ... 255] = LETTER,
    ['('] = ALONE,          [';'] = ALONE,          ['\0'] = ALONE, ['-'] = PAIR,
    ['/'] = PAIR,           ['*'] = PAIR,           ['&'] = PAIR,   ['"'] = PAIR,
};

static rw_window window_at(const char *bytes)
{
    bits found = {0};
    for (unsigned i = 0; i < RW_WINDOW; i++) {
        uint64_t class = classes[(unsigned char)bytes[i]];
        found.letters |= (class & LETTER) << i;
        found.alone |= (class & ALONE) / ALONE << i;
        found.pairs |= (class & PAIR) / PAIR << i;
    }
    return window_of(found);
}

void rw_windows_of(const char *bytes, size_t step, size_t count, rw_window *windows)
{
    rw_windows_anywhere(bytes, step, count, windows);
}

#endif

void rw_windows_anywhere(const char *bytes, size_t step, size_t count, rw_window *windows)
{
    for (size_t i = 0; i < count; i++)
        windows[i] = window_at(bytes + i * step);
}
