/*
 * cursor: a part of a text, token by token, as those who look for a few words in it read it.
 */
#ifndef RW_CURSOR_H
#define RW_CURSOR_H

#include "rewrite/lex/lexer.h"

/* Bytes of a text; equal: there are none. */
typedef struct rw_part {
    size_t from, to;
} rw_part;

typedef struct rw_cursor {
    rw_lexer lexer;
    rw_token token;  /* the next one, not yet taken; END behind the part */
    rw_token before; /* the last one taken; END at first */
    bool dotted;     /* … behind a dot: a name, whatever word it is */
} rw_cursor;

void rw_cursor_begin(rw_cursor *cursor, pgw_slice text, rw_part part, bool conforming);
void rw_cursor_advance(rw_cursor *cursor);
bool rw_cursor_at(const rw_cursor *cursor, char c); /* a CHAR token */
bool rw_cursor_at_word(const rw_cursor *cursor, const char *lower);
bool rw_cursor_after(const rw_cursor *cursor, char c);
bool rw_cursor_after_word(const rw_cursor *cursor, const char *lower); /* no name behind a dot */
bool rw_cursor_at_name(const rw_cursor *cursor); /* an identifier, quoted or not */
/* END, or a token that is not PostgreSQL's. */
bool rw_cursor_ended(const rw_cursor *cursor);
/* Takes it if it is there. */
bool rw_cursor_take(rw_cursor *cursor, char c);
bool rw_cursor_take_word(rw_cursor *cursor, const char *lower);
/* Whether the token behind the next one is this word, or this character. */
bool rw_cursor_before_word(const rw_cursor *cursor, const char *lower);
bool rw_cursor_before(const rw_cursor *cursor, char c);
/* Takes one token or, where a bracket opens, all up to its partner; false if it has none. */
PGW_MUST_CHECK bool rw_cursor_skip(rw_cursor *cursor);

static inline bool rw_part_is_empty(rw_part part)
{
    return part.from == part.to;
}

static inline pgw_slice rw_part_text(pgw_slice text, rw_part part)
{
    return (pgw_slice){text.ptr + part.from, part.to - part.from};
}

#endif
