/*
 * passes: the quick look of the hot path. One loop over the words of a text, blind to strings and
 * comments: what it takes for a word too many only costs the slower way.
 * Names count as whole words: a table `events` does not make `events_archive` suspicious.
 */
#include "rewrite/statement.h"

#include "rewrite/tree.h"

#include <string.h>

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r' && c != '\v');
}

static bool is_word(char c)
{
    static const bool words[256] = {
        ['$'] = true, ['0' ... '9'] = true, ['A' ... 'Z'] = true,
        ['_'] = true, ['a' ... 'z'] = true, [128 ... 255] = true,
    };
    return words[(unsigned char)c];
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
        return word.len == 10 && is(word, "set_config");
    case 'p':
        return word.len > 6 && word.ptr[2] == '_' &&
               (begins(word, "pg_temp") || begins(word, "pg_advisory_") ||
                begins(word, "pg_try_advisory_") || is(word, "pg_settings"));
    case 'i':
        return word.len == 4 && is(word, "into") && !is(previous, "insert");
    default:
        return false;
    }
}

enum { MAX_NAME = 63 }; /* PostgreSQL cuts longer names: they may be one of ours */

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

/* Whether `name`, as far as it is one word, is `word` in any case. */
static bool is_name(pgw_slice word, const char *name)
{
    size_t at = 0;
    while (at < word.len && lower(name[at]) == lower(word.ptr[at]))
        at++;
    return at == word.len && at > 0 && !is_word(name[at]);
}

/* Whether a configured table may be meant. */
static bool may_be_table(pgw_slice word, const rw_catalog *catalog)
{
    pgw_slice rest = word; /* less a number that it may be written right behind */
    while (rest.len > 0 && (rest.ptr[0] == '$' || (rest.ptr[0] >= '0' && rest.ptr[0] <= '9'))) {
        rest.ptr++;
        rest.len--;
    }
    for (size_t i = 0; i < catalog->count; i++) {
        const char *name = catalog->tables[i]->name;
        if (is_name(word, name) || is_name(rest, name) || !is_word(name[0]))
            return true;
    }
    return word.len > MAX_NAME;
}

/* Only blanks from `at` on. */
static bool ends_at(pgw_slice text, size_t at)
{
    while (at < text.len && is_blank(text.ptr[at]))
        at++;
    return at == text.len;
}

/* A name spelled by numbers: U&"…". */
static bool at_unicode_name(pgw_slice text, size_t at)
{
    return text.ptr[at] == '&' && at + 1 < text.len && text.ptr[at + 1] == '"';
}

bool rw_words_mention(pgw_slice text, const rw_catalog *catalog)
{
    for (size_t at = 0; at < text.len; at++) {
        if (at_unicode_name(text, at))
            return true;
        pgw_slice word = word_at(text, at);
        if (word.len == 0)
            continue;
        if (may_be_table(word, catalog))
            return true;
        at += word.len - 1;
    }
    return false;
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
            return ends_at(text, at + 1);
        if (c == '\0' || at_unicode_name(text, at))
            return false;
        if (!is_word(c))
            continue;
        word = word_at(text, at);
        if (is_remarkable(word, previous) || may_be_table(word, catalog))
            return false;
        previous = word;
        at += word.len - 1;
    }
    return true;
}
