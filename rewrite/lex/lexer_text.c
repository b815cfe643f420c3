/*
 * lexer_text: what a token stands for: identifiers folded and unquoted, strings with their escapes
 * taken away. As scan.l and parser.c of PostgreSQL do it.
 */
#include "rewrite/lex/lexer_text.h"

#include "protocol/utf8.h"
#include "protocol/value_text.h"

#include <string.h>

/* A cursor over a token's bytes that writes what they mean. `out` is never longer than `in` is,
 * but for \u and \U escapes, which are longer than what they stand for. */
typedef struct unescaper {
    const char *at, *end;
    char *out;
    size_t len;
    uint32_t high; /* first half of a surrogate pair that waits for the second */
    bool bytes;    /* an escape made a byte that may not be part of valid UTF-8 */
} unescaper;

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 32);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Takes exactly `digits` hexadecimal digits. */
static bool take_hex(unescaper *u, int digits, uint32_t *value)
{
    *value = 0;
    for (int i = 0; i < digits; i++, u->at++) {
        int digit = u->at < u->end ? hex_digit(*u->at) : -1;
        if (digit < 0)
            return false;
        *value = *value << 4 | (uint32_t)digit;
    }
    return true;
}

static void put(unescaper *u, char c)
{
    u->out[u->len++] = c;
}

static void put_utf8(unescaper *u, uint32_t c)
{
    if (c < 0x80) {
        put(u, (char)c);
        return;
    }
    int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const unsigned char lead[] = {0, 0xC0, 0xE0, 0xF0};
    put(u, (char)(lead[more] | c >> (6 * more)));
    while (more-- > 0)
        put(u, (char)(0x80 | (c >> (6 * more) & 0x3F)));
}

/* Puts a code point of an escape, or a half of one in UTF-16. */
static bool put_point(unescaper *u, uint32_t c)
{
    bool low = c >= 0xDC00 && c <= 0xDFFF;
    if (low != (u->high != 0) || c == 0 || c > 0x10FFFF)
        return false;
    if (c >= 0xD800 && c <= 0xDBFF) {
        u->high = c;
        return true;
    }
    put_utf8(u, low ? 0x10000 + ((u->high - 0xD800) << 10) + (c - 0xDC00) : c);
    u->high = 0;
    return true;
}

/* Takes what follows a backslash in E'…'. */
static bool take_escape(unescaper *u)
{
    if (u->at == u->end)
        return false;
    char c = *u->at++; /* a closing quote is left to read behind this byte */
    if (c == 'u' || c == 'U') {
        uint32_t point;
        return take_hex(u, c == 'u' ? 4 : 8, &point) && put_point(u, point);
    }
    if (u->high != 0)
        return false;
    if (c >= '0' && c <= '7') {
        int value = c - '0';
        for (int i = 0; i < 2 && *u->at >= '0' && *u->at <= '7'; i++)
            value = value * 8 + (*u->at++ - '0');
        put(u, (char)value);
        u->bytes = true;
        return (value & 0xFF) != 0;
    }
    if (c == 'x' && hex_digit(*u->at) >= 0) {
        int value = hex_digit(*u->at++);
        if (hex_digit(*u->at) >= 0)
            value = value * 16 + hex_digit(*u->at++);
        put(u, (char)value);
        u->bytes = true;
        return value != 0;
    }
    static const char names[] = "bfnrt", meanings[] = "\b\f\n\r\t";
    const char *name = strchr(names, c);
    put(u, name != NULL && c != '\0' ? meanings[name - names] : c);
    /* \v is v up to PostgreSQL 15 and a vertical tab from 16 on */
    return c != 'v' && c != '\0';
}

/* The first byte of a string's next part, from `at` behind the closing quote of one part: it stands
 * behind blanks with a newline and another quote. The lexer saw that it is there. */
static const char *next_part(const char *at, const char *end)
{
    while (at < end && *at != '\'') {
        if (*at == '-')
            while (at < end && *at != '\n' && *at != '\r')
                at++;
        else
            at++;
    }
    return at < end ? at + 1 : end;
}

/* Unescapes a string from behind its opening quote; `end` is behind the last closing quote. */
static bool unescape(unescaper *u, bool backslashes)
{
    while (u->at < u->end) {
        char c = *u->at++;
        if (c == '\\' && backslashes) {
            if (!take_escape(u))
                return false;
            continue;
        }
        if (u->high != 0)
            return false;
        if (c != '\'') {
            put(u, c);
        } else if (u->at < u->end && *u->at == '\'') {
            put(u, '\'');
            u->at++;
        } else {
            u->at = next_part(u->at, u->end);
        }
    }
    return u->high == 0;
}

/* Unescapes U&'…' or U&"…" behind its quote: \XXXX, \+XXXXXX and the escape doubled. */
static bool unescape_unicode(unescaper *u, char escape)
{
    while (u->at < u->end) {
        char c = *u->at++;
        if (c != escape || (u->at < u->end && *u->at == escape)) {
            if (u->high != 0)
                return false;
            put(u, c);
            u->at += c == escape;
            continue;
        }
        bool six = u->at < u->end && *u->at == '+';
        u->at += six;
        uint32_t point;
        if (!take_hex(u, six ? 6 : 4, &point) || !put_point(u, point))
            return false;
    }
    return u->high == 0;
}

static pgw_slice dollar_body(pgw_slice whole)
{
    const char *second = memchr(whole.ptr + 1, '$', whole.len - 1);
    size_t tag = (size_t)(second - whole.ptr) + 1;
    return (pgw_slice){whole.ptr + tag, whole.len - 2 * tag};
}

bool rw_token_unicode(pgw_slice text, rw_token token, char escape, pgw_arena *arena, pgw_slice *out)
{
    pgw_slice whole = rw_token_text(text, token);
    unescaper quotes = {.at = whole.ptr + 3,
                        .end = whole.ptr + whole.len,
                        .out = pgw_arena_alloc(arena, whole.len)};
    if (whole.ptr[2] == '"') {
        quotes.end--;
        while (quotes.at < quotes.end) {
            put(&quotes, *quotes.at);
            quotes.at += *quotes.at == '"' ? 2 : 1;
        }
    } else {
        unescape(&quotes, false);
    }
    unescaper u = {
        .at = quotes.out, .end = quotes.out + quotes.len, .out = pgw_arena_alloc(arena, whole.len)};
    bool valid = unescape_unicode(&u, escape);
    *out = (pgw_slice){u.out, u.len};
    return valid;
}

bool rw_token_string(pgw_slice text, rw_token token, bool conforming, pgw_arena *arena,
                     pgw_slice *out)
{
    pgw_slice whole = rw_token_text(text, token);
    if (whole.ptr[0] == '$') {
        *out = dollar_body(whole);
        return true;
    }
    if ((whole.ptr[0] | 32) == 'u')
        return rw_token_unicode(text, token, '\\', arena, out);
    bool escapes = (whole.ptr[0] | 32) == 'e' || !conforming;
    size_t open = whole.ptr[0] == '\'' ? 0 : 1;
    pgw_slice inner = {whole.ptr + open + 1, whole.len - open - 2};
    if (memchr(inner.ptr, '\'', inner.len) == NULL &&
        (!escapes || memchr(inner.ptr, '\\', inner.len) == NULL)) {
        *out = inner;
        return true;
    }
    unescaper u = {
        .at = inner.ptr, .end = whole.ptr + whole.len, .out = pgw_arena_alloc(arena, whole.len)};
    if (!unescape(&u, escapes))
        return false;
    *out = (pgw_slice){u.out, u.len};
    return !u.bytes || pgw_utf8_valid(*out);
}

pgw_slice rw_token_name(pgw_slice text, rw_token token, pgw_arena *arena)
{
    pgw_slice whole = rw_token_text(text, token);
    if (token.kind == RW_TOKEN_QUOTED && whole.ptr[0] != '"') {
        pgw_slice name;
        bool valid = rw_token_unicode(text, token, '\\', arena, &name);
        return valid ? name : (pgw_slice){NULL, 0};
    }
    bool quoted = token.kind == RW_TOKEN_QUOTED;
    char *out = pgw_arena_alloc(arena, whole.len + 1);
    size_t len = 0, end = whole.len - quoted;
    for (size_t i = quoted; i < end; i++) {
        char c = whole.ptr[i];
        out[len++] = !quoted && c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
        i += quoted && c == '"';
    }
    return (pgw_slice){out, len};
}

/* The character behind UESCAPE, which is taken; a backslash where there is none. */
static char take_uescape(rw_lexer *lexer, pgw_arena *arena)
{
    rw_lexer ahead = *lexer;
    pgw_slice value;
    if (!rw_token_is(lexer->text, rw_lexer_next(&ahead), "uescape"))
        return '\\';
    rw_token escape = rw_lexer_next(&ahead);
    if (escape.kind != RW_TOKEN_STRING ||
        !rw_token_string(lexer->text, escape, lexer->conforming, arena, &value) || value.len != 1)
        return '\\'; /* the server refuses such a UESCAPE */
    *lexer = ahead;
    return value.ptr[0];
}

pgw_slice rw_take_identifier(rw_lexer *lexer, rw_token token, pgw_arena *arena)
{
    pgw_slice name = rw_token_name(lexer->text, token, arena);
    bool unicode = token.kind == RW_TOKEN_QUOTED && lexer->text.ptr[token.start] != '"';
    if (unicode && !rw_token_unicode(lexer->text, token, take_uescape(lexer, arena), arena, &name))
        return (pgw_slice){NULL, 0};
    return pgw_name_cut(name);
}
