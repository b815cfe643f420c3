#include "rewrite/read/prefilter.h"

#include "protocol/value_text.h"
#include "rewrite/lex/calls.h"
#include "rewrite/lex/window.h"
#include "rewrite/read/system_catalog.h"

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

/* Whether `word` may be of the table's name: what that is as far as it is one word, in any case, or
 * begins with all of a pattern. */
static bool is_name(pgw_slice word, const rw_table *table)
{
    const char *name = table->name;
    size_t at = 0;
    while (at < word.len && lower(name[at]) == lower(word.ptr[at]))
        at++;
    return at > 0 &&
           ((at == word.len && !is_word(name[at])) || (table->pattern && name[at] == '\0'));
}

static bool is_number(char c)
{
    return c == '$' || (c >= '0' && c <= '9');
}

/* Less a number that it may be written right behind. */
static pgw_slice without_number(pgw_slice word)
{
    while (word.len > 0 && is_number(word.ptr[0])) {
        word.ptr++;
        word.len--;
    }
    return word;
}

static bool holds(const rw_word_set *words, pgw_slice word, pgw_slice rest)
{
    return rw_word_set_may_hold(words, rest) &&
           (rw_word_set_holds(words, word) || rw_word_set_holds(words, rest));
}

/* Whether a configured table may be meant. */
static bool may_be_table(pgw_slice word, const rw_catalog *catalog)
{
    pgw_slice rest = without_number(word);
    if (catalog->words != NULL && !catalog->words->unlettered)
        return holds(catalog->words, word, rest) || word.len > PGW_NAME_MAX;
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

bool rw_prefilter_mentions(pgw_slice text, const rw_catalog *catalog)
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

bool rw_prefilter_asks(pgw_slice text, const rw_catalog *catalog)
{
    for (size_t at = 0; at < text.len && catalog->count > 0; at++) {
        pgw_slice word = word_at(text, at);
        if (rw_system_names(word) || (catalog->informs && rw_system_informs(word)))
            return true;
        at += word.len > 0 ? word.len - 1 : 0;
    }
    return false;
}

/* ---- at a glance ---- */

static void note(rw_prefilter *filter, pgw_slice letters)
{
    size_t count = 0;
    while (count < letters.len && !is_number(letters.ptr[count]))
        count++;
    filter->shortest = count < filter->shortest ? (unsigned)count : filter->shortest;
    if (count > 0)
        rw_word_set_note(&filter->words, letters);
    else
        filter->words.unlettered = true;
}

/* How many letters the keys of words may have, so that each word that begins with a pattern has
 * one that is noted. */
static unsigned key_letters(const rw_catalog *catalog)
{
    unsigned least = RW_KEY_LETTERS;
    for (size_t i = 0; i < catalog->count; i++) {
        pgw_slice name = without_number(pgw_slice_str(catalog->tables[i]->name));
        unsigned letters = 0;
        while (letters < name.len && is_word(name.ptr[letters]) && !is_number(name.ptr[letters]))
            letters++;
        if (catalog->tables[i]->pattern && letters < least)
            least = letters > 0 ? letters : 1;
    }
    return least;
}

static void add_name(rw_prefilter *filter, const rw_table *table)
{
    pgw_slice word = word_at(pgw_slice_str(table->name), 0);
    if (table->pattern && table->name[word.len] == '\0')
        rw_word_set_add_beginning(&filter->words, word);
    else
        rw_word_set_add(&filter->words, word);
    note(filter, without_number(word));
}

void rw_prefilter_init(rw_prefilter *filter, const rw_catalog *catalog)
{
    static const char *const noted[] = {
        "into",         "set_config",       "pg_temp",     "pg_temp_",
        "pg_advisory_", "pg_try_advisory_", "pg_settings", "information_schema",
    };
    enum { NOTED = sizeof noted / sizeof *noted };
    size_t system = 0;
    while (rw_system_name(system) != NULL)
        system++;
    *filter = (rw_prefilter){.tables = catalog->count > 0, .shortest = 4}; /* into */
    rw_word_set_init(&filter->words, NOTED + system + catalog->count, key_letters(catalog));
    for (size_t i = 0; i < NOTED; i++)
        note(filter, pgw_slice_str(noted[i]));
    for (size_t i = 0; i < system; i++)
        note(filter, pgw_slice_str(rw_system_name(i)));
    for (size_t i = 0; i < catalog->count; i++)
        add_name(filter, catalog->tables[i]);
    rw_word_set_sort(&filter->words);
}

void rw_prefilter_free(rw_prefilter *filter)
{
    rw_word_set_free(&filter->words);
}

typedef struct glance {
    const rw_prefilter *filter;
    pgw_slice text, first; /* its first word */
    unsigned effects;
    bool opened;    /* there was a parenthesis */
    bool commented; /* … or what may be a comment, which hides what is called */
} glance;

/* The word that ends before `end`. */
static pgw_slice word_before(pgw_slice text, size_t end)
{
    size_t start = end;
    while (start > 0 && is_word(text.ptr[start - 1]))
        start--;
    return (pgw_slice){text.ptr + start, end - start};
}

/* … whatever stands between them. */
static pgw_slice previous_word(pgw_slice text, pgw_slice word)
{
    size_t end = (size_t)(word.ptr - text.ptr);
    while (end > 0 && !is_word(text.ptr[end - 1]))
        end--;
    return word_before(text, end);
}

/* What stands directly before a parenthesis: there may be a closing quote and blanks. */
static pgw_slice called_at(pgw_slice text, size_t paren)
{
    while (paren > 0 && is_blank(text.ptr[paren - 1]))
        paren--;
    paren -= paren > 0 && text.ptr[paren - 1] == '"';
    return word_before(text, paren);
}

/* INSERT INTO name (…, INSERT INTO schema.name (… */
static bool lists_columns(const glance *at, pgw_slice word)
{
    if (at->opened || !is(at->first, "insert") || is(word, "values"))
        return false;
    size_t words = 1;
    for (; word.ptr > at->first.ptr && words <= 4; words++)
        word = previous_word(at->text, word);
    return words <= 4;
}

static unsigned effects_of_call(const glance *at, size_t paren)
{
    if (at->commented)
        return RW_EFFECT_CALLS;
    pgw_slice word = called_at(at->text, paren);
    rw_call call = rw_call_of(word);
    if (word.len == 0 || call == RW_CALL_HARMLESS || lists_columns(at, word) ||
        is(previous_word(at->text, word), "as"))
        return 0;
    switch (call) {
    case RW_CALL_KEEPS:
        return RW_EFFECT_STATE;
    case RW_CALL_DRAWS:
        return RW_EFFECT_STATE | RW_EFFECT_DRAWS;
    case RW_CALL_RESETS:
        return RW_EFFECT_STATE | RW_EFFECT_DRAWS | RW_EFFECT_RESETS;
    default:
        return RW_EFFECT_CALLS;
    }
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

/* Whether the word of which a letter stands at `at` needs more than a glance. */
static bool is_suspicious(const glance *it, size_t at)
{
    pgw_slice text = it->text;
    pgw_slice word = word_at(text, at - word_before(text, at).len);
    return is_remarkable(word, previous_word(text, word)) ||
           rw_word_set_holds(&it->filter->words, word) ||
           rw_word_set_holds(&it->filter->words, without_number(word)) ||
           word.len > PGW_NAME_MAX || /* it is cut, and may be one of ours then */
           (it->filter->tables && (rw_system_names(word) || rw_system_informs(word)));
}

/* The words that begin at the bits of `starts`: `bytes` are the window's, the first of which is at
 * `base` in the text. */
static bool words_pass(glance *it, const char *bytes, size_t base, uint64_t starts,
                       uint64_t letters)
{
    const rw_word_set words = it->filter->words;
    for (; starts != 0; starts &= starts - 1) {
        unsigned at = (unsigned)__builtin_ctzll(starts);
        uint64_t key = rw_word_key(bytes + at, ~letters >> at, words.letters);
        if (rw_word_set_begins(&words, key) && is_suspicious(it, base + at))
            return false;
    }
    return true;
}

typedef enum mark { MARK_NOTHING, MARK_END, MARK_OBSTACLE } mark;

static mark look_at_mark(glance *it, size_t at)
{
    switch (it->text.ptr[at]) {
    case '(':
        it->effects |= effects_of_call(it, at);
        it->opened = true;
        return MARK_NOTHING;
    case ';':
        return ends_at(it->text, at + 1) ? MARK_END : MARK_OBSTACLE;
    case '&':
        return at_unicode_name(it->text, at) ? MARK_OBSTACLE : MARK_NOTHING;
    case '\0':
        return MARK_OBSTACLE;
    default:
        it->commented = it->commented || opens_comment(it->text, at);
        return MARK_NOTHING;
    }
}

/* A word that is none behind a number. */
static bool begins_word(const char *bytes, uint64_t starts)
{
    for (; starts != 0; starts &= starts - 1)
        if (!is_word(bytes[__builtin_ctzll(starts) - 1]))
            return true;
    return false;
}

enum {
    STEP = RW_WINDOW - RW_KEY_LETTERS /* of a window, between the byte before and a key's rest */
};

/* What begins in the STEP bytes behind the first of the window. */
static mark look_at_window(glance *it, const char *bytes, size_t base, uint64_t valid)
{
    rw_window window = rw_window_of(bytes);
    uint64_t starts = window.letters & ~(window.letters << 1) & valid;
    if (!(it->effects & RW_EFFECT_READS) && begins_word(bytes, starts))
        it->effects |= RW_EFFECT_READS;
    for (unsigned i = 1; i < it->filter->shortest; i++)
        starts &= window.letters >> i;
    if (!words_pass(it, bytes, base, starts, window.letters))
        return MARK_OBSTACLE;
    for (uint64_t marks = window.marks & valid; marks != 0; marks &= marks - 1) {
        mark found = look_at_mark(it, base + (size_t)__builtin_ctzll(marks));
        if (found != MARK_NOTHING)
            return found;
    }
    return MARK_NOTHING;
}

/* From behind the first word on. */
static bool rest_passes(glance *it)
{
    const uint64_t step = (((uint64_t)1 << STEP) - 1) << 1;
    pgw_slice text = it->text;
    size_t base = (size_t)(it->first.ptr - text.ptr) + it->first.len - 1;
    mark found = MARK_NOTHING;
    for (; base + RW_WINDOW <= text.len && found == MARK_NOTHING; base += STEP)
        found = look_at_window(it, text.ptr + base, base, step);
    for (; base + 1 < text.len && found == MARK_NOTHING; base += STEP) {
        char rest[RW_WINDOW] = {0};
        size_t left = text.len - base;
        memcpy(rest, text.ptr + base, left < RW_WINDOW ? left : RW_WINDOW);
        uint64_t there = left < RW_WINDOW ? ((uint64_t)1 << left) - 1 : UINT64_MAX;
        found = look_at_window(it, rest, base, step & there);
    }
    for (size_t at = base = (size_t)(it->first.ptr - text.ptr) + it->first.len;
         at < text.len && !(it->effects & RW_EFFECT_READS); at++)
        it->effects |= may_run(text.ptr[at]) ? RW_EFFECT_READS : 0;
    return found != MARK_OBSTACLE;
}

bool rw_prefilter_passes(pgw_slice text, const rw_prefilter *filter, unsigned *effects)
{
    size_t at = 0;
    while (at < text.len && is_blank(text.ptr[at]))
        at++;
    glance it = {.filter = filter, .text = text, .first = word_at(text, at)};
    if (!is_plain(it.first, effects) || filter->shortest == 0 || !rest_passes(&it))
        return false;
    if (*effects & RW_EFFECT_RUNS)
        it.effects &= ~(unsigned)RW_EFFECT_READS; /* they are among what runs */
    *effects |= is(it.first, "show") ? 0 : it.effects;
    return true;
}
