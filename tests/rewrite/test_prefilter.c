/* The quick look of the hot path says the same as one that takes its time. */
#include "rewrite/lex/lexer.h"
#include "rewrite/lex/view.h"
#include "rewrite/statement/words/prefilter.h"
#include "tests/rewrite/exact.h"
#include "tests/rewrite/tables.h"
#include "tests/rewrite/word_by_word.h"

// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
// clang-format on
#include <stdio.h>
#include <stdlib.h>

/* Tables of these names; freed by free_names(). */
typedef struct names {
    rw_table *tables;
    const rw_table **pointers;
    rw_catalog catalog;
    rw_prefilter filter;
} names;

static names names_of(char *const *list, size_t count)
{
    names it = {.tables = pgw_calloc(count + 1, sizeof *it.tables),
                .pointers = pgw_calloc(count + 1, sizeof *it.pointers)};
    for (size_t i = 0; i < count; i++) {
        it.tables[i] = test_tables[0];
        it.tables[i].name = list[i];
        it.pointers[i] = &it.tables[i];
    }
    it.catalog = (rw_catalog){.tables = it.pointers, .count = count};
    rw_prefilter_init(&it.filter, &it.catalog);
    return it;
}

/* The first `count` of them are of patterns. */
static void make_patterns(names *it, size_t count)
{
    rw_prefilter_free(&it->filter);
    for (size_t i = 0; i < count; i++)
        it->tables[i].pattern = true;
    rw_prefilter_init(&it->filter, &it->catalog);
}

static void free_names(names *it)
{
    rw_prefilter_free(&it->filter);
    free(it->tables);
    free(it->pointers);
}

static bool passes(const names *it, const char *text)
{
    unsigned effects;
    return rw_prefilter_passes(exact(text), &it->filter, &effects);
}

static uint32_t draw(uint32_t *seed, uint32_t below)
{
    *seed = *seed * 1664525 + 1013904223;
    return (*seed >> 8) % below;
}

static bool is_letter(char c)
{
    return c == '_' || (unsigned char)c >= 128 || ((c | 32) >= 'a' && (c | 32) <= 'z');
}

static bool is_mark(char c, char next)
{
    static const char pairs[] = "-/*&\"";
    return memchr("(;", c, 3) != NULL ||
           (c != '\0' && strchr(pairs, c) != NULL && next != '\0' && strchr(pairs, next) != NULL);
}

/* Byte by byte. */
static rw_window window_of(const char *bytes)
{
    rw_window window = {0, 0};
    for (unsigned i = 0; i < RW_WINDOW; i++) {
        char next = i + 1 < RW_WINDOW ? bytes[i + 1] : '-';
        window.letters |= (uint64_t)is_letter(bytes[i]) << i;
        window.marks |= (uint64_t)is_mark(bytes[i], next) << i;
    }
    return window;
}

enum { WINDOWS = 3, APART = 56 };

static void assert_windows(const char *bytes)
{
    rw_window windows[WINDOWS], anywhere[WINDOWS];
    rw_windows_of(bytes, APART, WINDOWS, windows);
    rw_windows_anywhere(bytes, APART, WINDOWS, anywhere);
    for (size_t i = 0; i < WINDOWS; i++) {
        rw_window expected = window_of(bytes + i * APART);
        assert_memory_equal(&windows[i], &expected, sizeof expected);
        assert_memory_equal(&anywhere[i], &expected, sizeof expected);
    }
}

/* Each byte alone, two marks beside each other, at each place; bytes of all kinds beside others. */
static void windows_tell_letters_and_marks(void **state)
{
    (void)state;
    static const char marks[] = "(;-/*&\"=a";
    char *bytes = pgw_alloc(RW_WINDOW + (WINDOWS - 1) * APART); /* nothing is read beyond its end */
    size_t len = RW_WINDOW + (WINDOWS - 1) * APART;
    memset(bytes, ' ', len);
    for (size_t at = 0; at < RW_WINDOW; at++) {
        for (unsigned c = 0; c < 256; c++) {
            bytes[at] = (char)c;
            assert_windows(bytes);
        }
        for (size_t pair = 0; pair < sizeof marks * sizeof marks; pair++) {
            bytes[at] = marks[pair / sizeof marks];
            bytes[at + 1] = marks[pair % sizeof marks];
            assert_windows(bytes);
        }
        bytes[at] = bytes[at + 1] = ' ';
    }
    uint32_t seed = 5;
    for (int turn = 0; turn < 2000; turn++) {
        for (size_t i = 0; i < len; i++)
            bytes[i] =
                draw(&seed, 2) == 0 ? (char)draw(&seed, 256) : marks[draw(&seed, sizeof marks)];
        assert_windows(bytes);
    }
    free(bytes);
}

static const char *const pieces[] = {
    "select",
    "INSERT",
    "into",
    "Into",
    "values",
    "update",
    "with",
    "as",
    "AS",
    "from",
    "a",
    "b1",
    "x_2",
    "$1",
    "12",
    "1e5",
    "0x1F",
    "'",
    "''",
    "'text'",
    "\"",
    "\"\"",
    "(",
    "(",
    ")",
    ",",
    ".",
    ";",
    "--",
    "-",
    "/*",
    "*/",
    "/",
    "&",
    "U&\"",
    "&\"",
    "|",
    "::",
    ":",
    "\n",
    "\t",
    "\v",
    " ",
    " ",
    " ",
    " ",
    "  ",
    "$$",
    "$tag$",
    "\xc3\xa9",
    "\xff",
    "set_config",
    "PG_temp",
    "pg_temp_3",
    "pg_tempting",
    "pg_advisory_lock",
    "pg_try_advisory_lock",
    "pg_settings",
    "pg_class",
    "pg_catalog",
    "information_schema",
    "Information_Schema",
    "informational",
    "pg_sleep",
    "now",
    "nextval",
    "setval",
    "currval",
    "setseed",
    "f",
    "count",
    "a_longer_name_than_a_window_holds_but_still_a_name_of_a_table_",
};

/* In a long text, most others soon make it one that does not pass. */
static const char *const harmless[] = {
    "a",         "b1",        "x_2",        "order_id", "customer",   "\xc3\xa9t\xc3\xa9",
    "coalesce(", "count(",    "md5(",       "md(",      "array_agg(", "array_ag(",
    "AND (",     ")",         ",",          ".",        " = ",        " ",
    "\n",        "12",        "2026-01-01", "'",        "$1",         "f (",
    "f(",        "counted (",
};
enum {
    PIECES = sizeof pieces / sizeof *pieces,
    HARMLESS = sizeof harmless / sizeof *harmless,
};

static const char *const firsts[] = {"SELECT",    "insert", "Update",  "delete", "WITH",
                                     " \n fetch", "values", "table x", "show",   "begin"};

/* A name of the list, or what is nearly one: less its end, or with another one. */
static void add_name(uint32_t *seed, const char *name, pgw_buf *text)
{
    size_t len = strlen(name);
    if (draw(seed, 2) == 0)
        len = draw(seed, (uint32_t)len + 1);
    pgw_buf_add(text, name, len);
    if (draw(seed, 3) == 0)
        pgw_buf_add_byte(text, "x1_$\xc3 ("[draw(seed, 7)]);
}

/* A text of pieces, some of them names of the list, perhaps in capitals. */
static void make_text(uint32_t *seed, char *const *list, size_t count, pgw_buf *text)
{
    pgw_buf_clear(text);
    pgw_buf_add_str(text, firsts[draw(seed, sizeof firsts / sizeof *firsts)]);
    bool is_long = draw(seed, 8) == 0;
    for (uint32_t left = draw(seed, is_long ? 600 : 60); left > 0; left--) {
        if (draw(seed, 3) > 0)
            pgw_buf_add_byte(text, ' ');
        if (is_long ? draw(seed, 80) > 0 : draw(seed, 8) == 0)
            pgw_buf_add_str(text, harmless[draw(seed, HARMLESS)]);
        else if (count > 0 && draw(seed, 40) == 0)
            add_name(seed, list[draw(seed, (uint32_t)count)], text);
        else if (draw(seed, 400) == 0)
            pgw_buf_add_byte(text, '\0');
        else
            pgw_buf_add_str(text, pieces[draw(seed, PIECES)]);
    }
    for (size_t i = 0; draw(seed, 3) == 0 && i < text->len; i++)
        if (text->ptr[i] >= 'a' && text->ptr[i] <= 'z')
            text->ptr[i] = (char)(text->ptr[i] - 32);
}

/* Words that are too long for a name are told apart more exactly than word by word. */
static bool has_long_word(pgw_slice text)
{
    for (size_t at = 0; at < text.len; at++) {
        size_t len = word_at(text, at).len;
        if (len > PGW_NAME_MAX)
            return true;
    }
    return false;
}

static size_t compare(const names *it, pgw_slice text)
{
    unsigned effects = 0, slowly = 0;
    bool passed = rw_prefilter_passes(text, &it->filter, &effects);
    bool expected = word_by_word(text, &it->catalog, &slowly);
    rw_catalog with_words = it->catalog;
    with_words.words = &it->filter.words;
    assert_int_equal(rw_prefilter_mentions(text, &with_words),
                     rw_prefilter_mentions(text, &it->catalog));
    if (!expected && has_long_word(text))
        return 0;
    if (passed != expected || (passed && effects != slowly))
        fail_msg("%d and %x, not %d and %x: %.*s", passed, effects, expected, slowly, (int)text.len,
                 text.ptr);
    return passed;
}

enum { MORE_THAN_ONE_VIEW = RW_VIEW_WINDOWS * RW_WINDOW };

static void texts_pass_as_word_by_word(void **state)
{
    (void)state;
    char *generated[1000];
    for (int i = 0; i < 1000; i++) {
        char name[32];
        snprintf(name, sizeof name, "%s%d", i % 2 ? "t" : "customer_", i);
        generated[i] = pgw_strndup(name, strlen(name));
    }
    char *few[] = {(char *)"events",         (char *)"t",  (char *)"2024_events",
                   (char *)"Mixed \"Case\"", (char *)"e1", (char *)"\xc3\x89t\xc3\xa9"};
    char *two[] = {(char *)"log", (char *)"ab"};
    const struct {
        char *const *list;
        size_t count;
        bool patterns;
    } lists[] = {{NULL, 0, false},         {few, 1, false},        {few, 6, false},
                 {few, 1, true},           {few + 2, 4, true},     {two, 2, false},
                 {generated, 1000, false}, {generated, 1000, true}};
    uint32_t seed = 11;
    pgw_buf text = {0};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        names it = names_of(lists[i].list, lists[i].count);
        if (lists[i].patterns)
            make_patterns(&it, lists[i].count);
        size_t passed = 0, long_passed = 0;
        for (size_t turn = 0; turn < 20000 / (1 + lists[i].count / 100); turn++) {
            make_text(&seed, lists[i].list, lists[i].count, &text);
            char *copy = pgw_alloc(text.len + (text.len == 0)); /* nothing is read beyond its end */
            memcpy(copy, text.ptr, text.len);
            bool passes = compare(&it, (pgw_slice){copy, text.len});
            passed += passes;
            long_passed += passes && text.len > MORE_THAN_ONE_VIEW;
            free(copy);
        }
        assert_true(passed > 100 && long_passed > 20);
        free_names(&it);
    }
    for (int i = 0; i < 1000; i++)
        free(generated[i]);
    pgw_buf_free(&text);
}

/* Behind any number of bytes, so that it stands at each place of a window, and over its end. */
static void a_name_is_seen_wherever_it_stands(void **state)
{
    (void)state;
    static const char *const forms[] = {
        "EVENTS",     "\"events\"", "public.events x", "1events",   "'events'",
        "||events||", "[events]",   "{events}",        "$a$events", "U&\"\\0065vents\""};
    names it = names_of((char *[]){(char *)"events"}, 1);
    for (size_t form = 0; form < sizeof forms / sizeof *forms; form++)
        for (int before = 0; before < 200; before++) {
            char text[300];
            snprintf(text, sizeof text, "SELECT %*s %s", before, "x,", forms[form]);
            bool seen = strcmp(forms[form], "$a$events") != 0; /* one word */
            assert_int_equal(passes(&it, text), !seen);
        }
    free_names(&it);
}

/* PostgreSQL cuts a name that is too long: then it may be one of ours. */
static void a_pattern_is_seen_in_each_of_its_names(void **state)
{
    (void)state;
    char *list[] = {(char *)"ev_", (char *)"Orders_of_2024", (char *)"odd table", (char *)"plain"};
    names it = names_of(list, 4);
    make_patterns(&it, 3);
    static const char *const seen[] = {
        "ev_1",  "EV_archive",      "ev_", "ev_x_y",         "\"ev_é\"",    "orders_of_2024_5",
        "5ev_1", "orders_of_20245", "odd", "\"odd tables\"", "public.ev_2", "plain"};
    static const char *const unseen[] = {"ev",     "eva_1",    "my_ev_1", "orders_of_2023",
                                         "plain2", "evening_", "odds",    "into_ev"};
    rw_catalog with_words = it.catalog;
    with_words.words = &it.filter.words;
    char text[200];
    for (size_t before = 0; before < 100; before++) {
        for (size_t i = 0; i < sizeof seen / sizeof *seen; i++) {
            snprintf(text, sizeof text, "select%*sfrom %s", (int)before + 1, "", seen[i]);
            assert_false(passes(&it, text));
            assert_true(rw_prefilter_mentions(exact(text), &it.catalog));
            assert_true(rw_prefilter_mentions(exact(text), &with_words));
        }
        for (size_t i = 0; i < sizeof unseen / sizeof *unseen; i++) {
            snprintf(text, sizeof text, "select%*sfrom %s", (int)before + 1, "", unseen[i]);
            assert_true(passes(&it, text));
            assert_false(rw_prefilter_mentions(exact(text), &it.catalog));
            assert_false(rw_prefilter_mentions(exact(text), &with_words));
        }
    }
    free_names(&it);
}

static void what_is_cut_may_be_a_name(void **state)
{
    (void)state;
    char longest[64], longer[80], text[200];
    memset(longest, 'n', 63);
    longest[63] = '\0';
    snprintf(longer, sizeof longer, "%snn", longest);
    names it = names_of((char *[]){longest}, 1);
    snprintf(text, sizeof text, "SELECT * FROM %s", longer);
    assert_false(passes(&it, text));
    longer[0] = 'm';
    snprintf(text, sizeof text, "SELECT * FROM %s", longer);
    assert_true(passes(&it, text));
    free_names(&it);
}

/* Nobody can tell of such a name by its letters. */
static void a_name_without_letters_lets_nothing_pass(void **state)
{
    (void)state;
    static const char *const odd[] = {"-odd", "2024", "$", "\"", " x"};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        names it = names_of((char *[]){(char *)odd[i]}, 1);
        assert_false(passes(&it, "SELECT 1 FROM other"));
        it.tables[0].pattern = true;
        it.catalog.words = &it.filter.words;
        assert_true(rw_prefilter_mentions(exact("SELECT \"2024x\", $y"), &it.catalog));
        free_names(&it);
    }
}

/* What is asked of PostgreSQL's catalog is looked at as soon as there is a table. */
static void one_table_is_enough_to_look_at_the_catalog(void **state)
{
    (void)state;
    char *list[] = {"t", "u"};
    for (size_t count = 0; count <= 2; count++) {
        names it = names_of(list, count);
        assert_int_equal(rw_prefilter_asks(exact("select 1 from(pg_class)"), &it.catalog),
                         count > 0);
        assert_int_equal(rw_prefilter_asks(exact("PG_CLASS"), &it.catalog), count > 0);
        assert_false(
            rw_prefilter_asks(exact("select xpg_class, pg_classes, pg_clas"), &it.catalog));
        free_names(&it);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_tell_letters_and_marks),
        cmocka_unit_test(texts_pass_as_word_by_word),
        cmocka_unit_test(a_name_is_seen_wherever_it_stands),
        cmocka_unit_test(a_pattern_is_seen_in_each_of_its_names),
        cmocka_unit_test(what_is_cut_may_be_a_name),
        cmocka_unit_test(one_table_is_enough_to_look_at_the_catalog),
        cmocka_unit_test(a_name_without_letters_lets_nothing_pass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
