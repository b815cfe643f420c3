#include "rewrite/lex/window.h"

#ifdef __SSE2__

#include <emmintrin.h>

static __m128i is(__m128i bytes, char c)
{
    return _mm_cmpeq_epi8(bytes, _mm_set1_epi8(c));
}

static __m128i either(__m128i a, __m128i b)
{
    return _mm_or_si128(a, b);
}

/* Bytes beyond ASCII have the highest bit themselves. */
static uint64_t letters_of(__m128i bytes)
{
    __m128i lower = either(bytes, _mm_set1_epi8(0x20));
    __m128i place = _mm_sub_epi8(lower, _mm_set1_epi8('a'));
    __m128i letters = _mm_cmpeq_epi8(_mm_min_epu8(place, _mm_set1_epi8('z' - 'a')), place);
    return (uint64_t)(unsigned)_mm_movemask_epi8(either(either(letters, is(bytes, '_')), bytes));
}

static uint64_t marks_of(__m128i bytes)
{
    __m128i few = either(either(is(bytes, '('), is(bytes, ';')), is(bytes, '\0'));
    __m128i lines = is(either(bytes, _mm_set1_epi8('-' ^ '/')), '/'); /* - and /, and no other */
    return (uint64_t)(unsigned)_mm_movemask_epi8(either(either(few, lines), is(bytes, '&')));
}

rw_window rw_window_of(const char *bytes)
{
    rw_window window = {0, 0};
    for (unsigned i = 0; i < RW_WINDOW; i += 16) {
        __m128i part = _mm_loadu_si128((const __m128i *)(const void *)(bytes + i));
        window.letters |= letters_of(part) << i;
        window.marks |= marks_of(part) << i;
    }
    return window;
}

#else

enum { LETTER = 1, MARK = 2 };

static const unsigned char classes[256] = {
    ['A' ... 'Z'] = LETTER, ['a' ... 'z'] = LETTER, ['_'] = LETTER, [128 ... 255] = LETTER,
    ['('] = MARK,           [';'] = MARK,           ['&'] = MARK,   ['-'] = MARK,
    ['/'] = MARK,           ['\0'] = MARK,
};

rw_window rw_window_of(const char *bytes)
{
    rw_window window = {0, 0};
    for (unsigned i = 0; i < RW_WINDOW; i++) {
        uint64_t class = classes[(unsigned char)bytes[i]];
        window.letters |= (class & LETTER) << i;
        window.marks |= (class >> 1) << i;
    }
    return window;
}

#endif
