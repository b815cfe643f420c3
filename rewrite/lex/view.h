/*
 * view: some windows of a text, and where in them words begin that may be among those of a set. It
 * is where the quick look of the hot path spends its time: nothing is called for a word that begins
 * with the letters of none.
 */
#ifndef RW_VIEW_H
#define RW_VIEW_H

#include "rewrite/lex/window.h"
#include "rewrite/lex/word_set.h"

enum {
    RW_VIEW_STEP =
        RW_WINDOW - RW_KEY_LETTERS, /* bytes of a window in which words may begin: one byte stands
                                       before them, and the rest of a key behind */
    RW_VIEW_WINDOWS = 16
};

/* Windows of a text, each RW_VIEW_STEP bytes behind the one before. Each is about the words that
 * begin in the RW_VIEW_STEP bytes behind its first byte. */
typedef struct rw_view {
    const char *bytes;
    size_t base; /* offset of `bytes` in the text */
    size_t count;
    rw_window windows[RW_VIEW_WINDOWS]; /* windows; letters are marked in all of their bytes */
    uint64_t starts[RW_VIEW_WINDOWS];   /* where words begin */
    uint64_t likely[RW_VIEW_WINDOWS];   /* begins of words that the set may hold, unless it is
                                           `unlettered` */
} rw_view;

/* Fills a view with the `count` windows at `bytes`, RW_VIEW_WINDOWS at most, which stand at `base`
 * in the text. */
void rw_view_of(rw_view *view, const char *bytes, size_t base, size_t count,
                const rw_word_set *words);

#endif
