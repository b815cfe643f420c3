/*
 * words: whether a text holds a word anywhere, in strings and comments, too. For questions where a
 * wrong yes costs little; a name in Unicode escapes (U&"…") or one put together at run time is not
 * found.
 */
#ifndef RW_WORDS_H
#define RW_WORDS_H

#include "protocol/bytes.h"

/* Whether the text holds one of `words` (lower case, ended by NULL) in any case, with no ASCII
 * letter or `_` directly before or behind it (`as1` holds `as`). */
bool rw_holds_any(pgw_slice text, const char *const *words);

#endif
