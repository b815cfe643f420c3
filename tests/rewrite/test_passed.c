/* A text that comes again, with whatever numbers, passes exactly if the prefilter lets it pass. */
#include "rewrite/statement/words/passed.h"
#include "tests/rewrite/exact.h"
#include "tests/rewrite/tables.h"

// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
// clang-format on
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TABLES = 4 };

static rw_table tables[TABLES];
static const rw_table *pointers[TABLES];
static rw_prefilter filter, refuses_all;
static rw_passed passed;

static void make_filter(rw_prefilter *made, char *const *names)
{
    for (size_t i = 0; i < TABLES; i++) {
        tables[i] = test_tables[0];
        tables[i].name = names[i];
        pointers[i] = &tables[i];
    }
    rw_catalog catalog = {.tables = pointers, .count = TABLES};
    rw_prefilter_init(made, &catalog);
}

static int set_up(void **state)
{
    (void)state;
    passed = (rw_passed){0};
    make_filter(&filter, (char *[]){"events", "t1", "2x", "half_3"});
    make_filter(&refuses_all, (char *[]){"events", "12", "a", "b"});
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    rw_passed_free(&passed);
    rw_prefilter_free(&filter);
    rw_prefilter_free(&refuses_all);
    return 0;
}

static bool is_able(void)
{
#ifdef __SSE2__
    return __builtin_cpu_supports("avx2");
#else
    return false;
#endif
}

/* It passes though the filter would not let it. */
static bool is_kept(const char *text)
{
    unsigned effects;
    return rw_passed_passes(&passed, exact(text), &refuses_all, &effects);
}

static void show(const char *text)
{
    unsigned effects;
    assert_true(rw_passed_passes(&passed, exact(text), &filter, &effects));
}

/* A text of so many bytes, with this number in it. */
static char *text_of(size_t len, unsigned number, const char *comment)
{
    static char text[8192];
    snprintf(text, sizeof text, "select a, coalesce(b, 0) from others where c = %08u and '%s",
             number, comment);
    size_t from = strlen(text);
    memset(text + from, 'x', len - from);
    text[len - 1] = '\'';
    text[len] = '\0';
    return text;
}

static void expect_same(const char *text)
{
    unsigned effects = 0, own = 0;
    bool passes = rw_prefilter_passes(exact(text), &filter, &own);
    if (rw_passed_passes(&passed, exact(text), &filter, &effects) != passes ||
        (passes && effects != own))
        fail_msg("%d %x, by the prefilter %d %x: %s", !passes, effects, passes, own, text);
}

/* Digits come in words, before them and behind them, and alone, also where one window ends and the
 * next begins; those of one text are others each time. */
static void test_it_says_what_the_prefilter_says(void **state)
{
    (void)state;
    static const char *const parts[] = {
        " # ",      "#",           " t# ",
        " t#,",     "md#(a)",      " log## (a)",
        " half_# ", "#x ",         " #e# ",
        "0x#f",     "#_#",         "(#)",
        "$# ",      "#.#",         "-#",
        " a#b ",    "\xc3\xa9#",   "'#'",
        "\"t#\"",   " now() ",     "x#(",
        " #(",      "::int# ",     "#events ",
        " f#(a) ",  " into # ",    "pg_temp_#.a",
        " ;# ",     "/*#*/",       " abc ",
        " -- #\n",  "U&\"#\"",     " and aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa#",
        "####",     " as a# (b) ", "='#' "};
    for (unsigned i = 0; i < 3000; i++) {
        char pattern[1024] = "select a from b where ";
        size_t wanted = 1 + (size_t)rand() % 12;
        for (size_t part = 0; part < wanted; part++)
            strcat(pattern, parts[(size_t)rand() % (sizeof parts / sizeof *parts)]);
        while (strlen(pattern) < RW_PASSED_LEAST)
            strcat(pattern, rand() % 4 > 0 ? " harmless" : " #");
        for (unsigned again = 0; again < 8; again++) {
            char text[1024];
            size_t len = strlen(pattern);
            for (size_t at = 0; at <= len; at++)
                text[at] = pattern[at] == '#' ? (char)('0' + rand() % 4) : pattern[at];
            expect_same(text);
        }
    }
}

static void test_other_numbers_are_known_and_other_names_are_not(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2; i++)
        show(text_of(700, i, "a"));
    assert_int_equal(is_kept(text_of(700, 2, "a")), is_able());
    assert_false(is_kept(text_of(701, 2, "a")));
    assert_false(is_kept(text_of(700, 2, "b")));
    assert_false(is_kept(text_of(700, 2, "a7")));
}

static void test_what_comes_once_is_not_kept(void **state)
{
    (void)state;
    show(text_of(700, 1, "a"));
    assert_false(is_kept(text_of(700, 1, "a")));
    show(text_of(700, 1, "a"));
    for (unsigned i = 0; i < 100000; i++) {
        char word[32];
        snprintf(word, sizeof word, "w%u", i);
        show(text_of(700, 1, word));
    }
    assert_int_equal(is_kept(text_of(700, 1, "a")), is_able());
}

/* What comes instead from now on is kept, however often the other one came. */
static void test_what_is_not_used_any_more_gives_way(void **state)
{
    (void)state;
    for (unsigned text = 0; text < 2 * RW_PASSED_TEXTS; text++) {
        char word[32];
        snprintf(word, sizeof word, "w%u", text);
        for (unsigned i = 0; i < 100; i++)
            show(text_of(700, i, word));
        assert_int_equal(is_kept(text_of(700, 1, word)), is_able());
    }
}

static void test_short_texts_and_long_ones_are_not_kept(void **state)
{
    (void)state;
    static const struct {
        size_t len;
        bool kept;
    } cases[] = {{RW_PASSED_LEAST - 1, false},
                 {RW_PASSED_LEAST, true},
                 {RW_PASSED_MOST, true},
                 {RW_PASSED_MOST + 1, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        show(text_of(cases[i].len, 1, "a"));
        show(text_of(cases[i].len, 1, "a"));
        assert_int_equal(is_kept(text_of(cases[i].len, 1, "a")), cases[i].kept && is_able());
    }
}

static void test_an_insert_is_not_kept(void **state)
{
    (void)state;
    char text[512];
    snprintf(text, sizeof text, "insert into others %s", text_of(400, 1, "a"));
    show(text);
    show(text);
    assert_false(is_kept(text));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_it_says_what_the_prefilter_says, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_other_numbers_are_known_and_other_names_are_not,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_comes_once_is_not_kept, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_is_not_used_any_more_gives_way, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_short_texts_and_long_ones_are_not_kept, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_an_insert_is_not_kept, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
