/*
 * passes: the quick look of the hot path. One loop over the words of a text, blind to strings and
 * comments: what it takes for a word too many only costs the slower way.
 */
#include "rewrite/statement.h"

#include <string.h>

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r' && c != '\v');
}

static bool is_word(char c)
{
    unsigned u = (unsigned char)c;
    return (u | 0x20) - 'a' < 26 || u - '0' < 10 || u == '_' || u == '$' || u >= 128;
}

static bool is(pgw_slice word, const char *lower)
{
    return pgw_slice_ieq_str(word, lower);
}

static bool begins(pgw_slice word, const char *lower)
{
    size_t len = strlen(lower);
    return word.len >= len && is((pgw_slice){word.ptr, len}, lower);
}

static pgw_slice word_at(pgw_slice text, size_t at)
{
    size_t end = at;
    while (end < text.len && is_word(text.ptr[end]))
        end++;
    return (pgw_slice){text.ptr + at, end - at};
}

/* First words of statements that have no effect on the session of themselves. */
static bool is_plain(pgw_slice first)
{
    if (first.len == 0)
        return false;
    switch (first.ptr[0] | 0x20) {
    case 's':
        return is(first, "select") || is(first, "show");
    case 'i':
        return is(first, "insert");
    case 'u':
        return is(first, "update");
    case 'd':
        return is(first, "delete");
    case 'v':
        return is(first, "values");
    case 'f':
        return is(first, "fetch");
    case 't':
        return is(first, "table");
    case 'w':
        return is(first, "with");
    default:
        return false;
    }
}

/* Words that the lexer should have a look at: they may leave something in the session. */
static bool is_remarkable(pgw_slice word, pgw_slice previous)
{
    switch (word.ptr[0] | 0x20) {
    case 's':
        return is(word, "set_config");
    case 'p':
        return begins(word, "pg_temp") || begins(word, "pg_advisory_") ||
               begins(word, "pg_try_advisory_") || is(word, "pg_settings");
    case 'i':
        return is(word, "into") && !is(previous, "insert");
    default:
        return false;
    }
}

/* Only blanks from `at` on. */
static bool ends_at(pgw_slice text, size_t at)
{
    while (at < text.len && is_blank(text.ptr[at]))
        at++;
    return at == text.len;
}

bool rw_text_passes(pgw_slice text, const rw_catalog *catalog)
{
    size_t at = 0;
    while (at < text.len && is_blank(text.ptr[at]))
        at++;
    pgw_slice word = word_at(text, at);
    if (!is_plain(word))
        return false;
    pgw_slice previous = word;
    for (at += word.len; at < text.len; at++) {
        char c = text.ptr[at];
        if (c == ';')
            return ends_at(text, at + 1) && !rw_catalog_mentioned(catalog, text);
        if (c == '\0' || (c == '&' && at + 1 < text.len && text.ptr[at + 1] == '"'))
            return false;
        if (!is_word(c))
            continue;
        word = word_at(text, at);
        if (is_remarkable(word, previous))
            return false;
        previous = word;
        at += word.len - 1;
    }
    return !rw_catalog_mentioned(catalog, text);
}
