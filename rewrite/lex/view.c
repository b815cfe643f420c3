#include "rewrite/lex/view.h"

static const uint64_t inner = (((uint64_t)1 << RW_VIEW_STEP) - 1) << 1;

/* The starts of words that the set may hold. The loop calls nothing, so that it keeps what it needs
 * in registers. */
static uint64_t likely_of(const rw_word_set *words, const char *bytes, uint64_t starts)
{
    uint64_t likely = 0;
    for (; starts != 0; starts &= starts - 1)
        if (rw_word_set_may_begin(words, bytes + (unsigned)__builtin_ctzll(starts)))
            likely |= starts & -starts;
    return likely;
}

void rw_view_of(rw_view *view, const char *bytes, size_t base, size_t count,
                const rw_word_set *words)
{
    const rw_word_set set = *words;
    uint64_t short_too[RW_FIRST_LETTERS]; /* all bits if so many letters are enough for a word */
    for (unsigned i = 0; i < RW_FIRST_LETTERS; i++)
        short_too[i] = set.shortest <= i ? UINT64_MAX : 0;
    view->bytes = bytes;
    view->base = base;
    view->count = count;
    rw_windows_of(bytes, RW_VIEW_STEP, count, view->windows);
    for (size_t i = 0; i < count; i++) {
        uint64_t letters = view->windows[i].letters;
        uint64_t starts = letters & ~(letters << 1) & inner;
        uint64_t enough = (letters >> 1 | short_too[1]) & (letters >> 2 | short_too[2]) &
                          (letters >> 3 | short_too[3]);
        view->windows[i].marks &= inner;
        view->starts[i] = starts;
        view->likely[i] = likely_of(&set, bytes + i * RW_VIEW_STEP, starts & enough);
    }
}
