/*
 * cursor: reads a part of a text token by token, to look for a few words in it.
 */
#ifndef RW_CURSOR_H
#define RW_CURSOR_H

#include "rewrite/lex/lexer.h"

/* A range of bytes of a text; empty if `from` equals `to`. */
typedef struct rw_part {
    size_t from, to;
} rw_part;

typedef struct rw_cursor {
    rw_lexer lexer;
    rw_token token;  /* the next token, not yet taken; END behind the part */
    rw_token before; /* the last token taken; END at first */
    bool dotted;     /* `before` stands behind a dot: it is a name, whatever word it is */
} rw_cursor;

void rw_cursor_begin(rw_cursor *cursor, pgw_slice text, rw_part part, bool conforming);
void rw_cursor_advance(rw_cursor *cursor);
bool rw_cursor_at(const rw_cursor *cursor, char c); /* whether the next token is this CHAR */
bool rw_cursor_at_word(const rw_cursor *cursor, const char *lower);
bool rw_cursor_after(const rw_cursor *cursor, char c);
bool rw_cursor_after_word(const rw_cursor *cursor, const char *lower); /* false behind a dot */
bool rw_cursor_at_name(const rw_cursor *cursor); /* whether an identifier is next, quoted or not */
/* Whether the part is at its end, or at a token that is not PostgreSQL's. */
bool rw_cursor_ended(const rw_cursor *cursor);
/* Takes the next token, if it is this character or this word. */
bool rw_cursor_take(rw_cursor *cursor, char c);
bool rw_cursor_take_word(rw_cursor *cursor, const char *lower);
/* Whether the token behind the next one is this word, or this character. */
bool rw_cursor_before_word(const rw_cursor *cursor, const char *lower);
bool rw_cursor_before(const rw_cursor *cursor, char c);
/* Takes one token or, where a bracket opens, all up to its partner; false if there is none. */
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
