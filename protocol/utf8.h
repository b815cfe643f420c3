/*
 * utf8: characters of UTF-8, as PostgreSQL takes them: no overlong forms, no surrogates, nothing
 * above U+10FFFF. Positions in texts are counted in them.
 */
#ifndef PGW_UTF8_H
#define PGW_UTF8_H

#include "protocol/bytes.h"

/* Whether the byte continues a character that began before it. */
static inline bool pgw_utf8_continues(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

/* How long a character is by its first byte alone; 1 for bytes that cannot begin one, as
 * PostgreSQL's pg_utf_mblen() counts them. */
size_t pgw_utf8_announced(char first);
/* Bytes of the first character; 0: not valid, or NUL. */
size_t pgw_utf8_length(pgw_slice text);
/* The code point of the first character, and its bytes; a byte that begins none is its own code
 * point. The text must not be empty. */
uint32_t pgw_utf8_code_point(pgw_slice text, size_t *length);
/* Whether every byte is a character of ASCII, which all encodings of a server have alike. */
bool pgw_is_ascii(pgw_slice text);
/* Whether all characters are valid; NUL is one. */
PGW_MUST_CHECK bool pgw_utf8_valid(pgw_slice text);
/* The first `most` bytes, or fewer, so that no character is split. */
pgw_slice pgw_utf8_cut(pgw_slice text, size_t most);
/* Characters in front of byte `offset`; bytes, where the text is not UTF-8. */
size_t pgw_characters(pgw_slice text, size_t offset, bool utf8);
/* The byte at which a character stands, counting from 1; the text's length if it has fewer. */
size_t pgw_byte_of(pgw_slice text, size_t position, bool utf8);

#endif
