#include "rewrite/statement/words/prefilter.h"

#include "protocol/value_text.h"
#include "rewrite/lex/calls.h"
#include "rewrite/lex/view.h"
#include "rewrite/statement/catalog/system_catalog.h"
#include "rewrite/statement/words/spelling.h"

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

static inline bool is(pgw_slice word, const char *lower)
{
    return word.len == strlen(lower) && pgw_slice_ieq_str(word, lower);
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

/* The word without the number that it may be written right behind. */
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
    return word.len > PGW_NAME_MAX; /* a long name is cut to another one */
}

/* Whether only blanks stand from `at` on. */
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
    if (letters.len > 0)
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

/* A word that is no more than its key. */
static bool is_key(pgw_slice word)
{
    size_t at = 0;
    while (at < word.len && !is_number(word.ptr[at]))
        at++;
    return at == word.len && at <= RW_KEY_LETTERS;
}

static void note_harmless(rw_word_set *words)
{
    size_t count = 0;
    for (size_t i = 0; rw_call_harmless(i) != NULL; i++)
        count += is_key(pgw_slice_str(rw_call_harmless(i)));
    rw_word_set_init(words, count, RW_KEY_LETTERS);
    for (size_t i = 0; rw_call_harmless(i) != NULL; i++)
        if (is_key(pgw_slice_str(rw_call_harmless(i))))
            rw_word_set_note(words, pgw_slice_str(rw_call_harmless(i)));
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
    *filter = (rw_prefilter){.tables = catalog->count > 0,
                             .beyond_ascii = rw_names_beyond_ascii(catalog)};
    rw_word_set_init(&filter->words, NOTED + system + catalog->count, key_letters(catalog));
    for (size_t i = 0; i < NOTED; i++)
        note(filter, pgw_slice_str(noted[i]));
    for (size_t i = 0; i < system; i++)
        note(filter, pgw_slice_str(rw_system_name(i)));
    for (size_t i = 0; i < catalog->count; i++)
        add_name(filter, catalog->tables[i]);
    rw_word_set_sort(&filter->words);
    note_harmless(&filter->harmless);
}

void rw_prefilter_free(rw_prefilter *filter)
{
    rw_word_set_free(&filter->words);
    rw_word_set_free(&filter->harmless);
}

typedef struct glance {
    const rw_prefilter *filter;
    pgw_slice text, first; /* `first` is the first word of `text` */
    unsigned effects;
    bool opened;    /* a parenthesis was met */
    bool commented; /* a comment may have been met, which hides the names of calls */
} glance;

/* The word that ends before `end`. */
static pgw_slice word_before(pgw_slice text, size_t end)
{
    size_t start = end;
    while (start > 0 && is_word(text.ptr[start - 1]))
        start--;
    return (pgw_slice){text.ptr + start, end - start};
}

/* The word before `word`, whatever stands between them. */
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

/* Whether the parenthesis is that of `INSERT INTO name (` or `INSERT INTO schema.name (`. */
static bool lists_columns(const glance *at, pgw_slice word)
{
    if (at->opened || !is(at->first, "insert") || is(word, "values"))
        return false;
    size_t words = 1;
    for (; word.ptr > at->first.ptr && words <= 4; words++)
        word = previous_word(at->text, word);
    return words <= 4;
}

/* A quick answer for most calls: the word's key is compared, not its letters. False is not certain.
 */
static bool is_harmless(const glance *at, pgw_slice word)
{
    size_t left = at->text.len - (size_t)(word.ptr - at->text.ptr);
    if (word.len == 0 || word.len > RW_KEY_LETTERS || left < RW_KEY_LETTERS)
        return false;
    uint64_t key = rw_word_key(word.ptr, UINT64_MAX << word.len, RW_KEY_LETTERS);
    return rw_word_set_begins(&at->filter->harmless, key);
}

/* `word` is a name that AS gives, and what follows lists its columns: nothing but blanks and a
 * quote stands between, for an "as" at the end of a string says nothing of what is called behind
 * it. */
static bool is_given_by_as(const glance *at, pgw_slice word)
{
    pgw_slice as = previous_word(at->text, word);
    size_t from = (size_t)(as.ptr - at->text.ptr) + as.len, to = (size_t)(word.ptr - at->text.ptr);
    to -= to > from && at->text.ptr[to - 1] == '"';
    while (from < to && is_blank(at->text.ptr[from]))
        from++;
    return from == to && is(as, "as");
}

static unsigned effects_of_call(const glance *at, size_t paren)
{
    if (at->commented)
        return RW_EFFECT_CALLS;
    pgw_slice word = called_at(at->text, paren);
    if (is_harmless(at, word))
        return 0;
    rw_call call = rw_call_of(word);
    if (word.len == 0 || call == RW_CALL_HARMLESS || lists_columns(at, word) ||
        is_given_by_as(at, word))
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
           word.len > PGW_NAME_MAX ||                  /* a long name is cut to another one */
           (it->filter->tables && !is(word, "into") && /* INTO is common, and no system name */
            (rw_system_names(word) || rw_system_informs(word)));
}

typedef enum mark { MARK_NOTHING, MARK_END, MARK_BLOCKER } mark;

static mark look_at_mark(glance *it, size_t at)
{
    switch (it->text.ptr[at]) {
    case '(':
        it->effects |= effects_of_call(it, at);
        it->opened = true;
        return MARK_NOTHING;
    case ';':
        return ends_at(it->text, at + 1) ? MARK_END : MARK_BLOCKER;
    case '&':
        return at_unicode_name(it->text, at) ? MARK_BLOCKER : MARK_NOTHING;
    case '\0':
        return MARK_BLOCKER;
    default:
        it->commented = it->commented || opens_comment(it->text, at);
        return MARK_NOTHING;
    }
}

/* Whether a word begins that does not stand right behind a number. */
static bool begins_word(const rw_view *view)
{
    for (size_t i = 0; i < view->count; i++)
        for (uint64_t starts = view->starts[i]; starts != 0; starts &= starts - 1) {
            size_t at = i * RW_VIEW_STEP + (unsigned)__builtin_ctzll(starts);
            if (!is_word(view->bytes[at - 1]))
                return true;
        }
    return false;
}

static bool words_pass(const glance *it, const rw_view *view, size_t window)
{
    const rw_word_set *words = &it->filter->words;
    for (uint64_t likely = view->likely[window]; likely != 0; likely &= likely - 1) {
        unsigned start = (unsigned)__builtin_ctzll(likely);
        size_t at = window * RW_VIEW_STEP + start;
        uint64_t others = ~view->windows[window].letters >> start;
        if (rw_word_set_begins(words, rw_word_key(view->bytes + at, others, words->letters)) &&
            is_suspicious(it, view->base + at))
            return false;
    }
    return true;
}

static mark look_at_window(glance *it, const rw_view *view, size_t window)
{
    if (!words_pass(it, view, window))
        return MARK_BLOCKER;
    for (uint64_t marks = view->windows[window].marks; marks != 0; marks &= marks - 1) {
        size_t at = window * RW_VIEW_STEP + (unsigned)__builtin_ctzll(marks);
        mark found = look_at_mark(it, view->base + at);
        if (found != MARK_NOTHING)
            return found;
    }
    return MARK_NOTHING;
}

/* `count` windows that begin at `base` in the text; `bytes` are theirs. */
static mark look_at(glance *it, const char *bytes, size_t base, size_t count)
{
    rw_view view;
    rw_view_of(&view, bytes, base, count, &it->filter->words);
    if (!(it->effects & RW_EFFECT_READS) && begins_word(&view))
        it->effects |= RW_EFFECT_READS;
    mark found = MARK_NOTHING;
    for (size_t i = 0; i < count && found == MARK_NOTHING; i++)
        if ((view.likely[i] | view.windows[i].marks) != 0)
            found = look_at_window(it, &view, i);
    return found;
}

/* The last bytes of the text, fewer than a window: in a copy, blanks stand behind them. */
static mark look_at_rest(glance *it, size_t base)
{
    char rest[RW_WINDOW + RW_VIEW_STEP];
    size_t left = it->text.len - base;
    memset(rest, ' ', sizeof rest);
    memcpy(rest, it->text.ptr + base, left);
    return look_at(it, rest, base, left > RW_VIEW_STEP + 1 ? 2 : 1);
}

/* Looks at the text behind the first word. */
static bool rest_passes(glance *it)
{
    pgw_slice text = it->text;
    size_t from = (size_t)(it->first.ptr - text.ptr) + it->first.len, base = from - 1;
    /* The first look takes one window: a statement that writes names its table early. */
    size_t most = 1;
    mark found = MARK_NOTHING;
    while (text.len - base >= RW_WINDOW && found == MARK_NOTHING) {
        size_t count = (text.len - base - RW_WINDOW) / RW_VIEW_STEP + 1;
        count = count < most ? count : most;
        found = look_at(it, text.ptr + base, base, count);
        base += count * RW_VIEW_STEP;
        most = RW_VIEW_WINDOWS;
    }
    if (found == MARK_NOTHING)
        found = look_at_rest(it, base);
    for (size_t at = from; at < text.len && !(it->effects & RW_EFFECT_READS); at++)
        it->effects |= may_run(text.ptr[at]) ? RW_EFFECT_READS : 0;
    return found != MARK_BLOCKER;
}

bool rw_prefilter_passes(pgw_slice text, const rw_prefilter *filter, unsigned *effects)
{
    size_t at = 0;
    while (at < text.len && is_blank(text.ptr[at]))
        at++;
    glance it = {.filter = filter, .text = text, .first = word_at(text, at)};
    if (!is_plain(it.first, effects) || filter->words.shortest == 0 || !rest_passes(&it))
        return false;
    if (*effects & RW_EFFECT_RUNS)
        it.effects &= ~(unsigned)RW_EFFECT_READS; /* RUNS includes what READS may run. */
    *effects |= is(it.first, "show") ? 0 : it.effects;
    return true;
}
