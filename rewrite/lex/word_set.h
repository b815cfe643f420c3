/*
 * word_set: words that a text is searched for, each in any case. What the hot path asks costs the
 * same however many words there are: whether one of them begins with these letters.
 */
#ifndef RW_WORD_SET_H
#define RW_WORD_SET_H

#include "protocol/bytes.h"

enum {
    RW_KEY_LETTERS = 8,  /* most letters of a key: the first letters of a word; a key is never 0 */
    RW_FIRST_LETTERS = 4 /* a word's first letters that tell most words that have no noted key */
};

typedef struct rw_word_set {
    uint64_t *keys;    /* keys, by open addressing, at most a sixteenth full; 0: free */
    unsigned bits;     /* `keys` and `firsts` have 2^bits places */
    unsigned letters;  /* most letters of a key of this set */
    bool *firsts;      /* set at the place of the first letters of each key */
    unsigned shortest; /* letters of the shortest key, RW_FIRST_LETTERS at most, which `firsts` goes
                          by; 0 if `unlettered` */
    bool unlettered;   /* a word begins with no letter, so that no key finds it */
    char **words;      /* words in lower case; sorted once all are there */
    size_t count;
    char **beginnings; /* beginnings in lower case: words that begin so are in the set */
    size_t beginning_count;
} rw_word_set;

/* Makes an empty set for at most `most` words and beginnings of words, none of which has fewer than
 * `letters` letters in front; freed by rw_word_set_free(). */
void rw_word_set_init(rw_word_set *set, size_t most, unsigned letters);
void rw_word_set_free(rw_word_set *set);
/* Adds a word. It is found in a text only if its key is noted, too. */
void rw_word_set_add(rw_word_set *set, pgw_slice word);
/* Adds all words that begin so, in any case. */
void rw_word_set_add_beginning(rw_word_set *set, pgw_slice beginning);
/* Notes the key of a word that begins with a letter (see window.h). */
void rw_word_set_note(rw_word_set *set, pgw_slice word);
/* To be called once all words are added and noted. */
void rw_word_set_sort(rw_word_set *set);
/* Whether a word with the key of this one was noted. */
PGW_MUST_CHECK bool rw_word_set_may_hold(const rw_word_set *set, pgw_slice word);
/* Whether the word itself was added, in any case, or its beginning. */
PGW_MUST_CHECK bool rw_word_set_holds(const rw_word_set *set, pgw_slice word);

/* The key of the word at `bytes`, of which 8 can be read; `others` has a bit for each byte that is
 * no letter, the lowest bit for the first, which is one; of `letters` letters at most, 1 to 8. */
static inline uint64_t rw_word_key(const char *bytes, uint64_t others, unsigned letters)
{
    static const uint64_t first[RW_KEY_LETTERS + 1] = {
        0,          0xff,         0xffff,         0xffffff,
        0xffffffff, 0xffffffffff, 0xffffffffffff, 0xffffffffffffff,
        UINT64_MAX,
    };
    uint64_t key;
    __builtin_memcpy(&key, bytes, sizeof key);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    key = __builtin_bswap64(key);
#endif
    key |= 0x2020202020202020; /* letters in lower case; other bytes that become equal cost a look
                                  more */
    return key & first[(unsigned)__builtin_ctz((uint32_t)others | 1u << letters)];
}

/* The place in `firsts` of words that begin with these letters, the first in the lowest byte. */
static inline size_t rw_word_set_first(const rw_word_set *set, uint32_t letters)
{
    letters = (letters | 0x20202020) & (UINT32_MAX >> (32 - 8 * set->shortest));
    return (size_t)(letters * 0x9E3779B97F4A7C15 >> 32) & (((size_t)1 << set->bits) - 1);
}

/* Whether a word at `bytes`, of which 4 can be read, may have a key that was noted: false is
 * certain, and costs less than the key. It begins with at least `shortest` letters. */
static inline bool rw_word_set_may_begin(const rw_word_set *set, const char *bytes)
{
    uint32_t letters;
    __builtin_memcpy(&letters, bytes, sizeof letters);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    letters = __builtin_bswap32(letters);
#endif
    return set->firsts[rw_word_set_first(set, letters)];
}

/* The place of a key, or the free one where it could stand. */
static inline uint64_t *rw_word_set_slot(const rw_word_set *set, uint64_t key)
{
    size_t last = (size_t)(UINT64_MAX >> (64 - set->bits));
    size_t at = (size_t)(key * 0x9E3779B97F4A7C15 >> (64 - set->bits));
    while (set->keys[at] != 0 && set->keys[at] != key)
        at = (at + 1) & last;
    return &set->keys[at];
}

/* Whether a word with this key was noted. */
static inline bool rw_word_set_begins(const rw_word_set *set, uint64_t key)
{
    return *rw_word_set_slot(set, key) != 0;
}

#endif
