/* The quick look of the hot path sees each piece of a text for what it is, wherever it stands. */
#include "rewrite/lex/lexer.h"
#include "rewrite/lex/view.h"
#include "rewrite/statement/words/prefilter.h"
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

/* Tables of these names; freed by free_names(). */
typedef struct name_list {
    rw_table *tables;
    const rw_table **pointers;
    rw_catalog catalog;
    rw_prefilter filter;
} name_list;

static name_list names_of(char *const *list, size_t count)
{
    name_list it = {.tables = pgw_calloc(count + 1, sizeof *it.tables),
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
static void make_patterns(name_list *it, size_t count)
{
    rw_prefilter_free(&it->filter);
    for (size_t i = 0; i < count; i++)
        it->tables[i].pattern = true;
    rw_prefilter_init(&it->filter, &it->catalog);
}

static void free_names(name_list *it)
{
    rw_prefilter_free(&it->filter);
    free(it->tables);
    free(it->pointers);
}

static bool passes(const name_list *it, const char *text)
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

/* ---- texts whose pieces are known ---- */

enum {
    READS = RW_EFFECT_READS,
    CALLS = RW_EFFECT_READS | RW_EFFECT_CALLS,
    DRAWS = RW_EFFECT_READS | RW_EFFECT_STATE | RW_EFFECT_DRAWS,
    RESETS = DRAWS | RW_EFFECT_RESETS,
    WRITES = RW_EFFECT_RUNS | RW_EFFECT_WRITES,
};

/* What a statement begins with, and what that does of itself. */
static const struct {
    const char *text;
    unsigned effects;
} begins[] = {
    {"select", 0},
    {"SELECT DISTINCT", READS},
    {" \n values", 0},
    {"table x", READS},
    {"show", 0},
    {"fetch", RW_EFFECT_RUNS | RW_EFFECT_RESUMES},
    {"insert into x (a,", WRITES},
    {"INSERT INTO s.x (", WRITES},
    {"update x set", WRITES},
    {"Delete from x where", WRITES},
    {"with w as (select 1), v(a) as (", WRITES | RW_EFFECT_CALLS},
};

/* What may stand anywhere in it, and what each does. */
static const struct {
    const char *text;
    unsigned effects;
} pieces[] = {
    {"a", READS},
    {"b1", READS},
    {"x_2", READS},
    {"order_id", READS},
    {"AND", READS},
    {"\xc3\xa9t\xc3\xa9", READS},
    {"pg_tempting", READS},
    {"informational", READS},
    {"intor", READS},
    {"12", 0},
    {"1e5", 0},
    {"0x1F", 0},
    {"$1", 0},
    {",", 0},
    {".", 0},
    {"=", 0},
    {"<", 0},
    {")", 0},
    {"-", 0},
    {"*", 0},
    {"/", 0},
    {"[1]", 0},
    {"'x'", READS},
    {"''", READS},
    {"\"q\"", READS},
    {"::", READS},
    {"||", READS},
    {"& \"q\"", READS},
    {"U&'x'", READS},
    {"coalesce(", READS},
    {"COUNT (", READS},
    {"array_agg(", READS},
    {"and\n(", READS},
    {"\"count\" (", READS},
    {"md5(", READS},
    {"md(", CALLS},
    {"array_ag(", CALLS},
    {"f (", CALLS},
    {"\"f\"\t(", CALLS},
    {"s.counted (", CALLS},
    {"as f (", READS},
    {"AS f(a", READS},
    {"nextval(", DRAWS},
    {"currval (", DRAWS},
    {"SETVAL(", RESETS},
    {"1(", RW_EFFECT_CALLS},
    {"as \"f\" (", READS},
    {"'as', md(", CALLS},
    {"\"as\"(f (", CALLS},
    {"as", READS},
};

/* What needs more than a glance; the last ones only if there are tables. */
static const char *const blockers[] = {
    "into",
    "INTO x",
    "set_config(",
    "PG_temp",
    "pg_temp_3.x",
    "\"pg_settings\"",
    "pg_advisory_lock(",
    "; select",
    "pg_try_advisory_x",
    "U&\"q\"",
    "pg_class",
    "Information_Schema.x",
};
enum {
    BEGINS = sizeof begins / sizeof *begins,
    PIECES = sizeof pieces / sizeof *pieces,
    BLOCKERS = sizeof blockers / sizeof *blockers,
    OF_TABLES = 2,
};

typedef struct composed {
    pgw_buf text;
    unsigned effects; /* if it passes */
    bool commented;   /* What is called from here on is not known. */
    bool obstructed;
} composed;

/* Between them stands what is part of neither; behind AS, what parts it from a name. */
static void add_between(composed *it, uint32_t *seed)
{
    static const char *const between[] = {" , ", "\n= ", "\t. ", " + ", " ", "  ", "\n", "\t"};
    bool given = memcmp(it->text.ptr + it->text.len - 2, "as", 2) == 0;
    pgw_buf_add_str(&it->text, between[draw(seed, given ? 4 : sizeof between / sizeof *between)]);
}

static void add_piece(composed *it, uint32_t *seed)
{
    add_between(it, seed);
    if (draw(seed, 300) == 0) {
        it->commented = true;
        pgw_buf_add_str(&it->text, draw(seed, 2) == 0 ? "--" : "/*");
        return;
    }
    size_t i = draw(seed, PIECES);
    pgw_buf_add_str(&it->text, pieces[i].text);
    it->effects |= it->commented && strchr(pieces[i].text, '(') != NULL
                       ? (pieces[i].effects & READS) | RW_EFFECT_CALLS
                       : pieces[i].effects;
}

/* The name of a table, in one of the forms that a statement may give it; of a pattern, what begins
 * with it. */
static void add_name(composed *it, uint32_t *seed, const char *name, bool pattern)
{
    static const char *const forms[][2] = {{"", ""},  {"\"", "\""}, {"public.", ""},
                                           {"", "("}, {"'", "'"},   {"7", ""}};
    bool lettered =
        is_letter(name[0]); /* A number may stand right before it, but not before another. */
    const char *const *form = forms[draw(seed, sizeof forms / sizeof *forms - !lettered)];
    pgw_buf_addf(&it->text, "%s%s%s%s", form[0], name, pattern && draw(seed, 2) == 0 ? "_2026" : "",
                 form[1]);
}

/* One that is none of ours, but begins as one of ours does. */
static void add_near_name(composed *it, uint32_t *seed, const char *name)
{
    add_between(it, seed);
    pgw_buf_addf(&it->text, "%s_", name);
    it->effects |= READS;
}

static void add_blocker(composed *it, uint32_t *seed, char *const *list, size_t count,
                        bool patterns)
{
    add_between(it, seed);
    it->obstructed = true;
    if (count > 0 && draw(seed, 2) == 0)
        add_name(it, seed, list[draw(seed, (uint32_t)count)], patterns);
    else
        pgw_buf_add_str(&it->text, blockers[draw(seed, BLOCKERS - (count == 0 ? OF_TABLES : 0))]);
}

static void compose(composed *it, uint32_t *seed, char *const *list, size_t count, bool patterns)
{
    pgw_buf_clear(&it->text);
    size_t first = draw(seed, BEGINS);
    pgw_buf_add_str(&it->text, begins[first].text);
    *it = (composed){.text = it->text};
    uint32_t length = draw(seed, draw(seed, 8) == 0 ? 400 : 40), where = draw(seed, 2 * length + 1);
    for (uint32_t i = 0; i < length; i++) {
        add_piece(it, seed);
        if (i == where)
            add_blocker(it, seed, list, count, patterns);
        if (count > 0 && !patterns && draw(seed, 60) == 0)
            add_near_name(it, seed, list[draw(seed, (uint32_t)count)]);
    }
    for (size_t i = 0; draw(seed, 3) == 0 && i < it->text.len; i++)
        if (it->text.ptr[i] >= 'a' && it->text.ptr[i] <= 'z')
            it->text.ptr[i] = (char)(it->text.ptr[i] - 32);
    it->effects &= (begins[first].effects & RW_EFFECT_RUNS) != 0 ? ~(unsigned)READS : UINT32_MAX;
    it->effects =
        begins[first].effects | (strcmp(begins[first].text, "show") == 0 ? 0 : it->effects);
}

static void assert_composed(const name_list *names, const composed *it)
{
    unsigned effects = 0;
    char *copy = pgw_alloc(it->text.len); /* nothing is read beyond its end */
    memcpy(copy, it->text.ptr, it->text.len);
    bool passed = rw_prefilter_passes((pgw_slice){copy, it->text.len}, &names->filter, &effects);
    if (passed == it->obstructed || (passed && effects != it->effects))
        fail_msg("%d and %x, not %d and %x: %.*s", passed, effects, !it->obstructed, it->effects,
                 (int)it->text.len, copy);
    rw_catalog with_words = names->catalog;
    with_words.words = &names->filter.words;
    assert_int_equal(rw_prefilter_mentions((pgw_slice){copy, it->text.len}, &with_words),
                     rw_prefilter_mentions((pgw_slice){copy, it->text.len}, &names->catalog));
    free(copy);
}

enum { MORE_THAN_ONE_VIEW = RW_VIEW_WINDOWS * RW_WINDOW };

static void a_text_is_what_its_pieces_are(void **state)
{
    (void)state;
    char *generated[1000];
    for (int i = 0; i < 1000; i++) {
        char name[32];
        snprintf(name, sizeof name, "%s%d", i % 2 ? "t" : "customer_", i);
        generated[i] = pgw_strndup(name, strlen(name));
    }
    char *few[] = {(char *)"events", (char *)"t",  (char *)"2024_events",
                   (char *)"Mixed",  (char *)"e1", (char *)"\xc3\xa9v\xc3\xa9n"};
    char *two[] = {(char *)"log", (char *)"ab"};
    const struct {
        char *const *list;
        size_t count;
        bool patterns;
    } lists[] = {{NULL, 0, false},         {few, 1, false},        {few, 6, false},
                 {few, 1, true},           {few + 2, 2, true},     {two, 2, false},
                 {generated, 1000, false}, {generated, 1000, true}};
    uint32_t seed = 11;
    composed it = {0};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        name_list names = names_of(lists[i].list, lists[i].count);
        if (lists[i].patterns)
            make_patterns(&names, lists[i].count);
        size_t passed = 0, long_passed = 0, turns = 5000 / (1 + lists[i].count / 100);
        for (size_t turn = 0; turn < turns; turn++) {
            compose(&it, &seed, lists[i].list, lists[i].count, lists[i].patterns);
            assert_composed(&names, &it);
            passed += !it.obstructed;
            long_passed += !it.obstructed && it.text.len > MORE_THAN_ONE_VIEW;
        }
        assert_true(passed > turns / 4 && long_passed > turns / 100);
        free_names(&names);
    }
    for (int i = 0; i < 1000; i++)
        free(generated[i]);
    pgw_buf_free(&it.text);
}

/* Behind any number of bytes, so that it stands at each place of a window, and over its end. */
static void a_name_is_seen_wherever_it_stands(void **state)
{
    (void)state;
    static const char *const forms[] = {
        "EVENTS",     "\"events\"", "public.events x", "1events",   "'events'",
        "||events||", "[events]",   "{events}",        "$a$events", "U&\"\\0065vents\""};
    name_list it = names_of((char *[]){(char *)"events"}, 1);
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
    name_list it = names_of(list, 4);
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
    name_list it = names_of((char *[]){longest}, 1);
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
        name_list it = names_of((char *[]){(char *)odd[i]}, 1);
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
        name_list it = names_of(list, count);
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
        cmocka_unit_test(a_text_is_what_its_pieces_are),
        cmocka_unit_test(a_name_is_seen_wherever_it_stands),
        cmocka_unit_test(a_pattern_is_seen_in_each_of_its_names),
        cmocka_unit_test(what_is_cut_may_be_a_name),
        cmocka_unit_test(one_table_is_enough_to_look_at_the_catalog),
        cmocka_unit_test(a_name_without_letters_lets_nothing_pass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
