/*
 * words: whether a text holds a word, wherever that stands, in strings and comments, too: for what
 * is too much where it was not meant, and too little never.
 */
#ifndef RW_WORDS_H
#define RW_WORDS_H

#include "protocol/bytes.h"

/* One of these (lower case, ends with NULL), in any case, not as a part of a longer word. */
bool rw_holds_any(pgw_slice text, const char *const *words);

#endif
