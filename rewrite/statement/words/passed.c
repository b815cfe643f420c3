#include "rewrite/statement/words/passed.h"

#include <stdlib.h>
#include <string.h>

enum { WINDOW = 64, MOST_USES = 8 };

typedef struct rw_passed_text {
    uint64_t missed; /* hash of the last text that was looked for here and not found */
    char *bytes;     /* the kept text without its numbers; owned; NULL: none */
    size_t len;
    unsigned effects;
    unsigned uses; /* how often the text came, less what other texts for this place took off */
} rw_passed_text;

#ifdef __SSE2__

#include <immintrin.h>

#define AVX2 __attribute__((target("avx2")))

AVX2 static uint64_t bits_of(__m256i low, __m256i high)
{
    uint64_t first = (unsigned)_mm256_movemask_epi8(low);
    return first | (uint64_t)(unsigned)_mm256_movemask_epi8(high) << 32;
}

AVX2 static __m256i are_within(__m256i bytes, char first, char last)
{
    __m256i place = _mm256_sub_epi8(bytes, _mm256_set1_epi8(first));
    return _mm256_cmpeq_epi8(_mm256_min_epu8(place, _mm256_set1_epi8((char)(last - first))), place);
}

/* Finds letters, `_` and `$`; bytes beyond ASCII have the highest bit themselves. */
AVX2 static __m256i are_letters(__m256i bytes)
{
    __m256i small = _mm256_or_si256(bytes, _mm256_set1_epi8(0x20));
    __m256i marks = _mm256_or_si256(_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('_')),
                                    _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('$')));
    return _mm256_or_si256(_mm256_or_si256(are_within(small, 'a', 'z'), marks), bytes);
}

/* The digits that are alone, with no letter before or behind them; none if one of them has a letter
 * behind it, or may have one in the next window. `*word`: the last window ended with a word. */
static uint64_t numbers_of(uint64_t letters, uint64_t digits, bool *word)
{
    uint64_t words = letters | digits;
    uint64_t starts = digits & ~(words << 1 | *word);
    uint64_t ends = digits + starts; /* Carried to the byte behind each run that begins there. */
    uint64_t numbers = digits & ~ends;
    *word = words >> (WINDOW - 1);
    return (ends & ~digits & letters) != 0 || numbers >> (WINDOW - 1) ? 0 : numbers;
}

/* '0' in the place of these bytes. */
AVX2 static __m256i cleared(__m256i bytes, uint32_t which)
{
    const __m256i places =
        _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
    const __m256i bits = _mm256_set1_epi64x((long long)0x8040201008040201);
    __m256i all = _mm256_shuffle_epi8(_mm256_set1_epi32((int)which), places);
    __m256i mask = _mm256_cmpeq_epi8(_mm256_and_si256(all, bits), bits);
    return _mm256_blendv_epi8(bytes, _mm256_set1_epi8('0'), mask);
}

AVX2 static __m256i mixed(__m256i hash, __m256i bytes)
{
    return _mm256_add_epi64(_mm256_add_epi64(hash, _mm256_slli_epi64(hash, 7)), bytes);
}

/* Clears the numbers in `count` windows; their hash, which only says where to look. */
AVX2 static uint64_t clear_numbers(char *bytes, size_t count)
{
    __m256i hash = _mm256_setzero_si256();
    bool word = false;
    for (size_t i = 0; i < count; i++) {
        __m256i *at = (__m256i *)(void *)(bytes + i * WINDOW);
        __m256i low = _mm256_loadu_si256(at), high = _mm256_loadu_si256(at + 1);
        uint64_t letters = bits_of(are_letters(low), are_letters(high));
        uint64_t digits = bits_of(are_within(low, '0', '9'), are_within(high, '0', '9'));
        uint64_t numbers = numbers_of(letters, digits, &word);
        if (numbers != 0) {
            low = cleared(low, (uint32_t)numbers);
            high = cleared(high, (uint32_t)(numbers >> 32));
            _mm256_storeu_si256(at, low);
            _mm256_storeu_si256(at + 1, high);
        }
        hash = mixed(mixed(hash, low), high);
    }
    uint64_t parts[4];
    _mm256_storeu_si256((__m256i *)(void *)parts, hash);
    uint64_t all = parts[0] ^ parts[1] * 3 ^ parts[2] * 5 ^ parts[3] * 7;
    return all * 0x9E3779B97F4A7C15;
}

static bool is_able(void)
{
    return __builtin_cpu_supports("avx2");
}

#else

/* Byte by byte it would take as long as the prefilter. */
static bool is_able(void)
{
    return false;
}

static uint64_t clear_numbers(char *bytes, size_t count)
{
    (void)bytes;
    return count;
}

#endif

static void keep(rw_passed_text *at, pgw_slice bytes, uint64_t hash, unsigned effects)
{
    if (at->missed != hash) {
        at->missed = hash;
    } else if (at->uses > 0) {
        at->uses--;
    } else {
        free(at->bytes);
        *at = (rw_passed_text){.missed = hash,
                               .bytes = pgw_strndup(bytes.ptr, bytes.len),
                               .len = bytes.len,
                               .effects = effects};
    }
}

/* An INSERT comes with other strings each time, not with other numbers alone. */
static bool may_come_again(pgw_slice text)
{
    return text.len >= RW_PASSED_LEAST && text.len <= RW_PASSED_MOST && (*text.ptr | 0x20) != 'i';
}

bool rw_passed_passes(rw_passed *passed, pgw_slice text, const rw_prefilter *filter,
                      unsigned *effects)
{
    if (!may_come_again(text) || !is_able())
        return rw_prefilter_passes(text, filter, effects);
    char bytes[RW_PASSED_MOST + WINDOW];
    memcpy(bytes, text.ptr, text.len);
    memset(bytes + text.len, ' ', WINDOW);
    uint64_t hash = clear_numbers(bytes, (text.len + WINDOW - 1) / WINDOW);
    if (passed->texts == NULL)
        passed->texts = pgw_calloc(RW_PASSED_TEXTS, sizeof *passed->texts);
    rw_passed_text *at = &passed->texts[(hash >> 32) % RW_PASSED_TEXTS];
    if (at->len == text.len && memcmp(at->bytes, bytes, text.len) == 0) {
        at->uses += at->uses < MOST_USES;
        *effects = at->effects;
        return true;
    }
    if (!rw_prefilter_passes(text, filter, effects))
        return false;
    keep(at, (pgw_slice){bytes, text.len}, hash, *effects);
    return true;
}

void rw_passed_free(rw_passed *passed)
{
    for (size_t i = 0; passed->texts != NULL && i < RW_PASSED_TEXTS; i++)
        free(passed->texts[i].bytes);
    free(passed->texts);
    *passed = (rw_passed){0};
}
