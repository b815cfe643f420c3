/*
 * value_parts: what the files of values share: refusals, characters, and what a typmod is made of.
 */
#ifndef PGW_VALUE_PARTS_H
#define PGW_VALUE_PARTS_H

#include "protocol/value.h"

#define PGW_REFUSE(...) (pgw_fail(__VA_ARGS__), PGW_INVALID)

#define PGW_REFUSE_SYNTAX(type, text, error)                                                       \
    PGW_REFUSE(error, "22P02", "invalid input syntax for type %s: \"%.*s\"", pgw_type_name(type),  \
               PGW_SHOWN(text))

/* For printf's "%.*s": a message is cut long before this. */
#define PGW_SHOWN(slice) (int)((slice).len < 1024 ? (slice).len : 1024), (slice).ptr

enum { PGW_TYPMOD_BASE = 4 }; /* VARHDRSZ: typmods of varchar, bpchar, numeric are that much more */

static inline bool pgw_is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static inline bool pgw_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline size_t pgw_skip_blanks(pgw_slice text, size_t at)
{
    while (at < text.len && pgw_is_blank(text.ptr[at]))
        at++;
    return at;
}

static inline bool pgw_is_string(uint32_t type)
{
    return type == PGW_TEXT || type == PGW_VARCHAR || type == PGW_BPCHAR || type == PGW_NAME;
}

#endif
