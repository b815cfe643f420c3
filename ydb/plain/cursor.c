#include "ydb/plain/cursor.h"

void rw_cursor_begin(rw_cursor *cursor, pgw_slice text, rw_part part, bool conforming)
{
    *cursor = (rw_cursor){.before = {RW_TOKEN_END, part.from, part.from}};
    rw_lexer_init(&cursor->lexer, (pgw_slice){text.ptr, part.to}, conforming);
    cursor->lexer.at = part.from;
    cursor->token = rw_lexer_next(&cursor->lexer);
}

void rw_cursor_advance(rw_cursor *cursor)
{
    cursor->dotted = rw_cursor_after(cursor, '.');
    cursor->before = cursor->token;
    cursor->token = rw_lexer_next(&cursor->lexer);
}

static bool is_char(const rw_cursor *cursor, rw_token token, char c)
{
    return token.kind == RW_TOKEN_CHAR && cursor->lexer.text.ptr[token.start] == c;
}

bool rw_cursor_at(const rw_cursor *cursor, char c)
{
    return is_char(cursor, cursor->token, c);
}

bool rw_cursor_at_word(const rw_cursor *cursor, const char *lower)
{
    return rw_token_is(cursor->lexer.text, cursor->token, lower);
}

bool rw_cursor_after(const rw_cursor *cursor, char c)
{
    return is_char(cursor, cursor->before, c);
}

bool rw_cursor_after_word(const rw_cursor *cursor, const char *lower)
{
    return !cursor->dotted && rw_token_is(cursor->lexer.text, cursor->before, lower);
}

bool rw_cursor_at_name(const rw_cursor *cursor)
{
    return cursor->token.kind == RW_TOKEN_WORD || cursor->token.kind == RW_TOKEN_QUOTED;
}

bool rw_cursor_ended(const rw_cursor *cursor)
{
    return cursor->token.kind == RW_TOKEN_END || cursor->token.kind == RW_TOKEN_BAD;
}

bool rw_cursor_take(rw_cursor *cursor, char c)
{
    bool there = rw_cursor_at(cursor, c);
    if (there)
        rw_cursor_advance(cursor);
    return there;
}

bool rw_cursor_take_word(rw_cursor *cursor, const char *lower)
{
    bool there = rw_cursor_at_word(cursor, lower);
    if (there)
        rw_cursor_advance(cursor);
    return there;
}

bool rw_cursor_before_word(const rw_cursor *cursor, const char *lower)
{
    rw_lexer ahead = cursor->lexer;
    return rw_token_is(ahead.text, rw_lexer_next(&ahead), lower);
}

bool rw_cursor_before(const rw_cursor *cursor, char c)
{
    rw_lexer ahead = cursor->lexer;
    return is_char(cursor, rw_lexer_next(&ahead), c);
}

bool rw_cursor_skip(rw_cursor *cursor)
{
    size_t depth = 0;
    do {
        if (rw_cursor_ended(cursor))
            return false;
        if (rw_cursor_at(cursor, '(') || rw_cursor_at(cursor, '['))
            depth++;
        else if ((rw_cursor_at(cursor, ')') || rw_cursor_at(cursor, ']')) && depth-- == 0)
            return false;
        rw_cursor_advance(cursor);
    } while (depth > 0);
    return true;
}
