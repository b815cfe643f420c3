/*
 * word_by_word: the quick look of the hot path as it would be without any haste: one word after the
 * other, each compared with each name. What rw_prefilter_passes() says is to be the same.
 */
#ifndef TEST_WORD_BY_WORD_H
#define TEST_WORD_BY_WORD_H

#include "protocol/value_text.h"
#include "rewrite/lex/calls.h"
#include "rewrite/statement/catalog/system_catalog.h"
#include "rewrite/statement/words/statement.h"

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

/* First words of statements that have no effect on the session of themselves; their effects by
 * what they run. */
static bool is_plain(pgw_slice first, unsigned *effects)
{
    static const struct {
        const char *word;
        unsigned effects;
    } words[] = {
        {"select", 0},
        {"insert", RW_EFFECT_RUNS | RW_EFFECT_WRITES},
        {"update", RW_EFFECT_RUNS | RW_EFFECT_WRITES},
        {"delete", RW_EFFECT_RUNS | RW_EFFECT_WRITES},
        {"with", RW_EFFECT_RUNS | RW_EFFECT_WRITES},
        {"fetch", RW_EFFECT_RUNS | RW_EFFECT_RESUMES},
        {"values", 0},
        {"table", RW_EFFECT_READS},
        {"show", 0},
    };
    char letter = first.len > 0 ? (char)(first.ptr[0] | 0x20) : '\0';
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (words[i].word[0] == letter && is(first, words[i].word)) {
            *effects = words[i].effects;
            return true;
        }
    return false;
}

/* Words that the lexer should have a look at: they may leave something in the session. */
static bool is_remarkable(pgw_slice word, pgw_slice previous)
{
    switch (word.ptr[0] | 0x20) {
    case 's':
        return word.len == 10 && is(word, "set_config");
    case 'p':
        return word.len > 6 && word.ptr[2] == '_' &&
               (is(word, "pg_temp") || begins(word, "pg_temp_") || begins(word, "pg_advisory_") ||
                begins(word, "pg_try_advisory_") || is(word, "pg_settings"));
    case 'i':
        return word.len == 4 && is(word, "into") && !is(previous, "insert");
    default:
        return false;
    }
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

/* Whether the table's name, as far as it is one word, is `word` in any case, or begins it, if it is
 * a pattern's. */
static bool is_name(pgw_slice word, const rw_table *table)
{
    const char *name = table->name;
    size_t at = 0;
    while (at < word.len && lower(name[at]) == lower(word.ptr[at]))
        at++;
    if (table->pattern && name[at] == '\0')
        return at > 0;
    return at == word.len && at > 0 && !is_word(name[at]);
}

static bool is_number(char c)
{
    return c == '$' || (c >= '0' && c <= '9');
}

/* Whether a configured table may be meant. */
static bool may_be_table(pgw_slice word, const rw_catalog *catalog)
{
    pgw_slice rest = word; /* less a number that it may be written right behind */
    while (rest.len > 0 && is_number(rest.ptr[0])) {
        rest.ptr++;
        rest.len--;
    }
    for (size_t i = 0; i < catalog->count; i++) {
        const rw_table *table = catalog->tables[i];
        if (is_name(word, table) || is_name(rest, table) || !is_word(table->name[0]))
            return true;
    }
    return word.len > PGW_NAME_MAX; /* it is cut, and may be one of ours then */
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

/* What stands directly before a parenthesis. */
typedef struct caller {
    pgw_slice word, before; /* the last two words */
    size_t words;
    bool opened;    /* there was a parenthesis */
    bool commented; /* … or what may be a comment, which hides what is called */
} caller;

/* INSERT INTO name (…, INSERT INTO schema.name (… */
static bool lists_columns(const caller *at, pgw_slice first)
{
    return !at->opened && at->words <= 4 && is(first, "insert") && !is(at->word, "values");
}

/* Behind a word there may be nothing but a closing quote and blanks. */
static bool ends_before(pgw_slice text, pgw_slice word, size_t paren)
{
    size_t at = (size_t)(word.ptr - text.ptr) + word.len;
    at += at < paren && text.ptr[at] == '"';
    while (at < paren && is_blank(text.ptr[at]))
        at++;
    return at == paren;
}

static unsigned effects_of_call(pgw_slice text, pgw_slice first, const caller *at, size_t paren)
{
    if (at->commented)
        return RW_EFFECT_CALLS;
    if (!ends_before(text, at->word, paren))
        return 0;
    if (lists_columns(at, first) || (at->before.len > 0 && is(at->before, "as")))
        return 0;
    switch (rw_call_of(at->word)) {
    case RW_CALL_HARMLESS:
        return 0;
    case RW_CALL_KEEPS:
        return RW_EFFECT_STATE;
    case RW_CALL_DRAWS:
        return RW_EFFECT_STATE | RW_EFFECT_DRAWS;
    case RW_CALL_RESETS:
        return RW_EFFECT_STATE | RW_EFFECT_DRAWS | RW_EFFECT_RESETS;
    case RW_CALL_UNKNOWN:
        break;
    }
    return RW_EFFECT_CALLS;
}

static bool opens_comment(pgw_slice text, size_t at)
{
    char c = text.ptr[at], next = at + 1 < text.len ? text.ptr[at + 1] : '\0';
    return (c == '-' && next == '-') || (c == '/' && next == '*');
}

/* Strings that are cast, operators and parameters' types may run functions, too. */
static bool may_run(char c)
{
    static const bool marks[256] = {
        ['"'] = true, ['\''] = true, ['~'] = true, ['!'] = true, ['@'] = true, ['#'] = true,
        ['^'] = true, ['&'] = true,  ['|'] = true, ['?'] = true, ['%'] = true, [':'] = true};
    return marks[(unsigned char)c];
}

/* From behind the first word on. */
static bool rest_passes(pgw_slice text, pgw_slice first, const rw_catalog *catalog,
                        unsigned *effects)
{
    caller seen = {.word = first, .words = 1};
    for (size_t at = (size_t)(first.ptr - text.ptr) + first.len; at < text.len; at++) {
        char c = text.ptr[at];
        if (c == ' ')
            continue;
        if (c == ';')
            return ends_at(text, at + 1);
        if (c == '\0' || at_unicode_name(text, at))
            return false;
        if (c == '(') {
            *effects |= effects_of_call(text, first, &seen, at);
            seen.opened = true;
        }
        if (!is_word(c)) {
            *effects |= may_run(c) ? RW_EFFECT_READS : 0;
            seen.commented = seen.commented || opens_comment(text, at);
            continue;
        }
        seen.before = seen.word;
        seen.word = word_at(text, at);
        seen.words++;
        if (is_remarkable(seen.word, seen.before) ||
            (catalog->count > 0 && (rw_system_names(seen.word) || rw_system_informs(seen.word))) ||
            may_be_table(seen.word, catalog))
            return false;
        *effects |= is_number(c) ? 0 : RW_EFFECT_READS;
        at += seen.word.len - 1;
    }
    return true;
}

static bool word_by_word(pgw_slice text, const rw_catalog *catalog, unsigned *effects)
{
    size_t at = 0;
    while (at < text.len && is_blank(text.ptr[at]))
        at++;
    unsigned more = 0;
    pgw_slice first = word_at(text, at);
    if (!is_plain(first, effects) || !rest_passes(text, first, catalog, &more))
        return false;
    if (*effects & RW_EFFECT_RUNS)
        more &= ~(unsigned)RW_EFFECT_READS; /* they are among what runs */
    *effects |= is(first, "show") ? 0 : more;
    return true;
}

#endif
