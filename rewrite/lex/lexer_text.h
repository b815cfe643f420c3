/*
 * lexer_text: what the lexer's tokens stand for, where it depends on more than the token itself.
 */
#ifndef RW_LEXER_TEXT_H
#define RW_LEXER_TEXT_H

#include "rewrite/lex/lexer.h"

/* The value of U&'…' or U&"…" with `escape` in the place of the backslash (UESCAPE); arena-owned.
 * False if an escape is invalid. */
bool rw_token_unicode(pgw_slice text, rw_token token, char escape, pgw_arena *arena,
                      pgw_slice *out);

#endif
