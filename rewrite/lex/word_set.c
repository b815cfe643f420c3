#include "rewrite/lex/word_set.h"

#include <stdlib.h>
#include <string.h>

enum { SLOTS_A_WORD = 16 };

void rw_word_set_init(rw_word_set *set, size_t most, unsigned letters)
{
    unsigned bits = 4;
    while ((size_t)1 << bits < SLOTS_A_WORD * (most + 1))
        bits++;
    *set = (rw_word_set){.keys = pgw_calloc((size_t)1 << bits, sizeof *set->keys),
                         .bits = bits,
                         .letters = letters,
                         .firsts = pgw_calloc((size_t)1 << bits, sizeof *set->firsts),
                         .words = pgw_calloc(most + 1, sizeof *set->words),
                         .beginnings = pgw_calloc(most + 1, sizeof *set->beginnings)};
}

void rw_word_set_free(rw_word_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        free(set->words[i]);
    for (size_t i = 0; i < set->beginning_count; i++)
        free(set->beginnings[i]);
    free(set->words);
    free(set->beginnings);
    free(set->keys);
    free(set->firsts);
    *set = (rw_word_set){0};
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

static bool is_letter(char c)
{
    return (lower(c) >= 'a' && lower(c) <= 'z') || c == '_' || (unsigned char)c >= 128;
}

static uint64_t key_of(const rw_word_set *set, pgw_slice word)
{
    char bytes[RW_KEY_LETTERS] = {0};
    unsigned letters = 0;
    for (; letters < sizeof bytes && letters < word.len && is_letter(word.ptr[letters]); letters++)
        bytes[letters] = word.ptr[letters];
    return rw_word_key(bytes, ~(uint64_t)0 << letters, set->letters);
}

void rw_word_set_note(rw_word_set *set, pgw_slice word)
{
    uint64_t key = key_of(set, word);
    *rw_word_set_slot(set, key) = key;
}

bool rw_word_set_may_hold(const rw_word_set *set, pgw_slice word)
{
    return rw_word_set_begins(set, key_of(set, word));
}

static char *in_small(pgw_slice word)
{
    char *copy = pgw_strndup(word.ptr, word.len);
    for (char *c = copy; *c != '\0'; c++)
        *c = lower(*c);
    return copy;
}

void rw_word_set_add(rw_word_set *set, pgw_slice word)
{
    set->words[set->count++] = in_small(word);
}

void rw_word_set_add_beginning(rw_word_set *set, pgw_slice beginning)
{
    set->beginnings[set->beginning_count++] = in_small(beginning);
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* How many letters a key has, RW_FIRST_LETTERS at most. */
static unsigned first_letters(uint64_t key)
{
    unsigned count = 0;
    while (count < RW_FIRST_LETTERS && key >> 8 * count != 0)
        count++;
    return count;
}

/* Fills `shortest` and `firsts` once all keys are there. */
static void note_firsts(rw_word_set *set)
{
    size_t slots = (size_t)1 << set->bits;
    set->shortest = set->unlettered ? 0 : RW_FIRST_LETTERS;
    for (size_t i = 0; i < slots; i++)
        if (set->keys[i] != 0 && first_letters(set->keys[i]) < set->shortest)
            set->shortest = first_letters(set->keys[i]);
    for (size_t i = 0; i < slots && set->shortest > 0; i++)
        if (set->keys[i] != 0)
            set->firsts[rw_word_set_first(set, (uint32_t)set->keys[i])] = true;
}

void rw_word_set_sort(rw_word_set *set)
{
    qsort(set->words, set->count, sizeof *set->words, by_bytes);
    note_firsts(set);
}

static int in_lower(const void *key, const void *entry)
{
    const pgw_slice *word = key;
    const char *held = *(char *const *)entry;
    for (size_t i = 0; i < word->len; i++) {
        int order = (unsigned char)lower(word->ptr[i]) - (unsigned char)held[i];
        if (order != 0)
            return order;
    }
    return held[word->len] == '\0' ? 0 : -1;
}

static bool begins(pgw_slice word, const char *beginning)
{
    size_t at = 0;
    while (at < word.len && beginning[at] != '\0' && lower(word.ptr[at]) == beginning[at])
        at++;
    return beginning[at] == '\0';
}

bool rw_word_set_holds(const rw_word_set *set, pgw_slice word)
{
    for (size_t i = 0; i < set->beginning_count; i++)
        if (begins(word, set->beginnings[i]))
            return true;
    return bsearch(&word, set->words, set->count, sizeof *set->words, in_lower) != NULL;
}
