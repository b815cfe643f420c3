/* Words in any case, by their first letters and whole. */
#include "rewrite/lex/word_set.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { FULL = 100 }; /* words */

static rw_word_set set;

static bool holds(const char *word)
{
    return rw_word_set_holds(&set, pgw_slice_str(word));
}

static bool may_hold(const char *word)
{
    return rw_word_set_may_hold(&set, pgw_slice_str(word));
}

/* Letters are the same in any case, and nothing else is. */
static void each_byte_is_its_own(void **state)
{
    (void)state;
    for (int added = 1; added < 256; added++) {
        const char word[] = {(char)added, '\0'};
        rw_word_set_init(&set, 1, 1);
        rw_word_set_add(&set, pgw_slice_str(word));
        rw_word_set_sort(&set);
        for (int asked = 1; asked < 256; asked++) {
            const char other[] = {(char)asked, '\0'};
            bool letters = ((added | 32) >= 'a' && (added | 32) <= 'z');
            assert_int_equal(holds(other), letters ? (added | 32) == (asked | 32) : added == asked);
        }
        rw_word_set_free(&set);
    }
}

static void a_word_is_whole(void **state)
{
    (void)state;
    rw_word_set_init(&set, 5, 2);
    rw_word_set_add(&set, PGW_LITERAL("Zeal"));
    rw_word_set_add(&set, PGW_LITERAL("az"));
    rw_word_set_add(&set, PGW_LITERAL("zebra"));
    rw_word_set_add_beginning(&set, PGW_LITERAL("Log_"));
    rw_word_set_add_beginning(&set, PGW_LITERAL("ZZ"));
    rw_word_set_sort(&set);
    static const struct {
        const char *word;
        bool held;
    } cases[] = {
        {"zeal", true},   {"ZEAL", true}, {"zea", false}, {"zeals", false}, {"", false},
        {"AZ", true},     {"a", false},   {"azz", false}, {"zebra", true},  {"zebr", false},
        {"zebrb", false}, {"log", false}, {"LOG_", true}, {"log_9", true},  {"log-9", false},
        {"zz", true},     {"zzz", true},  {"Zz_1", true}, {"z", false},     {"xlog_", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (holds(cases[i].word) != cases[i].held)
            fail_msg("%s", cases[i].word);
    rw_word_set_free(&set);
}

/* By its first letters alone, of which there may be fewer in front of what is none. */
static void a_key_is_the_first_letters(void **state)
{
    (void)state;
    static const struct {
        unsigned letters;
        const char *noted, *asked;
        bool same;
    } cases[] = {
        {4, "events", "eventful", true},
        {4, "events", "EVEN", true},
        {4, "events", "eve", false},
        {4, "events", "evil", false},
        {4, "a1", "a2", true},
        {4, "a1", "ab", false},
        {4, "a_bc", "A_BCd", true},
        {4, "a_bc", "a-bc", false},
        {8, "abcdefgh", "abcdefghi", true},
        {8, "abcdefgh", "abcdefgi", false},
        {8, "abcdefgh", "abcdefg", false},
        {1, "zeta", "Zulu", true},
        {1, "zeta", "yeta", false},
        {2, "\xc3\xa9t", "\xc3\xa9", true},
        {2, "az", "aZ", true},
        {2, "aa", "a{", false},
        {2, "a@", "a[", true},
        {3, "a\x80", "a\x80\x81", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rw_word_set_init(&set, 1, cases[i].letters);
        rw_word_set_note(&set, pgw_slice_str(cases[i].noted));
        assert_true(may_hold(cases[i].noted));
        if (may_hold(cases[i].asked) != cases[i].same)
            fail_msg("%s, %s", cases[i].noted, cases[i].asked);
        rw_word_set_free(&set);
    }
}

/* However many there are, none gets lost, and there is room between them. */
static void many_words_have_room(void **state)
{
    (void)state;
    for (size_t most = 0; most < FULL; most++) {
        char word[32];
        rw_word_set_init(&set, most, 8);
        assert_true((size_t)1 << set.bits >= 16 * (most + 1));
        assert_true(set.bits == 4 || (size_t)1 << set.bits < 32 * (most + 1));
        for (size_t i = 0; i < most; i++) {
            snprintf(word, sizeof word, "%c%c_table", (char)('a' + i / 26), (char)('z' - i % 26));
            rw_word_set_add(&set, pgw_slice_str(word));
            rw_word_set_note(&set, pgw_slice_str(word));
        }
        rw_word_set_sort(&set);
        for (size_t i = 0; i < most; i++) {
            snprintf(word, sizeof word, "%c%c_TABLE", (char)('A' + i / 26), (char)('Z' - i % 26));
            assert_true(holds(word) && may_hold(word));
        }
        assert_false(holds("zz_table") || may_hold("zz_table"));
        rw_word_set_free(&set);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_byte_is_its_own),
        cmocka_unit_test(a_word_is_whole),
        cmocka_unit_test(a_key_is_the_first_letters),
        cmocka_unit_test(many_words_have_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
