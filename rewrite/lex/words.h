/*
 * words: whether a text holds a word, wherever that stands, in strings and comments, too: for what
 * is too much where it was not meant, and too little never.
 */
#ifndef RW_WORDS_H
#define RW_WORDS_H

#include "protocol/bytes.h"

/* Whether the text holds one of `words` (lower case, ended by NULL) in any case and not inside a
 * longer word. */
bool rw_holds_any(pgw_slice text, const char *const *words);

#endif
