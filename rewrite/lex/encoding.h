/*
 * encoding: how long characters are in the encodings that PostgreSQL takes from clients, and texts
 * in which a later byte of one looks like a mark of SQL. See src/common/wchar.c.
 */
#ifndef RW_ENCODING_H
#define RW_ENCODING_H

#include "protocol/bytes.h"

typedef enum rw_encoding {
    RW_ENCODING_UTF8,
    RW_ENCODING_SINGLE, /* a byte each, and any that is not known here */
    RW_ENCODING_PAIRS,  /* BIG5, GBK, UHC, EUC_CN */
    RW_ENCODING_EUC,    /* EUC_JP, EUC_KR, EUC_JIS_2004, JOHAB */
    RW_ENCODING_EUC_TW,
    RW_ENCODING_SJIS,
    RW_ENCODING_GB18030,
    RW_ENCODING_MULE
} rw_encoding;

/* The encoding of this name, or alias, as the server reads it: letters and digits count, their case
 * does not. */
rw_encoding rw_encoding_of(const char *name);
/* Bytes of the character that `text`, which is not empty, begins with; at most its length. */
size_t rw_character_length(rw_encoding encoding, pgw_slice text);
/* Whether a later byte of a character is one of ASCII's that is neither letter, digit nor _: the
 * text cannot be taken apart byte by byte. */
PGW_MUST_CHECK bool rw_encoding_hides_marks(rw_encoding encoding, pgw_slice text);
/* The text with all later bytes of characters such that they are taken for letters, of the same
 * length, and a NUL behind it. */
pgw_slice rw_encoding_lexable(rw_encoding encoding, pgw_slice text, pgw_arena *arena);

#endif
