/*
 * lexer_text: what the lexer's tokens stand for, where it depends on more than the token itself.
 */
#ifndef RW_LEXER_TEXT_H
#define RW_LEXER_TEXT_H

#include "rewrite/lex/lexer.h"

/* The identifier as PostgreSQL stores it: folded to lower case or unquoted; arena-owned.
 * Not cut to 63 bytes. {NULL,0} for a U&"" that is malformed. */
pgw_slice rw_token_name(pgw_slice text, rw_token token, pgw_arena *arena);
/* The identifier as PostgreSQL looks it up, cut to 63 bytes. `lexer` stands behind the token and
 * takes a UESCAPE that follows. Arena-owned; {NULL,0} if a U&"" is malformed. */
pgw_slice rw_take_identifier(rw_lexer *lexer, rw_token token, pgw_arena *arena);
/* A STRING's value, unescaped; arena-owned or in `text`. False if its escapes are invalid. */
PGW_MUST_CHECK bool rw_token_string(pgw_slice text, rw_token token, bool conforming,
                                    pgw_arena *arena, pgw_slice *out);
/* The value of U&'…' or U&"…" with `escape` in the place of the backslash (UESCAPE); arena-owned.
 * False if an escape is invalid. */
PGW_MUST_CHECK bool rw_token_unicode(pgw_slice text, rw_token token, char escape, pgw_arena *arena,
                                     pgw_slice *out);

#endif
