/* What a session has prepared: which of it is on its link, and what it weighs. */
#include "proxy/client/core/statements.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static px_statements all;
static _Atomic size_t account;

static int setup(void **state)
{
    (void)state;
    all = (px_statements){.account = &account};
    account = 0;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    px_statements_free(&all);
    return account == 0 ? 0 : -1;
}

static pgw_slice named(const char *name)
{
    return pgw_slice_str(name);
}

static px_statement *put(const char *name, px_plan *plan, bool on_link)
{
    return px_statements_put(&all, named(name), plan, on_link);
}

/* Their names, the first to prepare again first. */
static void assert_order(const char *expected)
{
    pgw_buf names = {0}, back = {0};
    for (const px_statement *one = all.first; one != NULL; one = one->next)
        pgw_buf_add_str(&names, one->name);
    for (const px_statement *one = all.last; one != NULL; one = one->previous)
        pgw_buf_add(&back, one->name, 1);
    pgw_buf_add_byte(&names, '\0');
    assert_string_equal(names.ptr, expected);
    assert_int_equal(back.len, strlen(expected));
    for (size_t i = 0; i < back.len; i++)
        assert_int_equal(back.ptr[i], expected[back.len - 1 - i]);
    pgw_buf_free(&names);
    pgw_buf_free(&back);
}

static void they_are_found_by_their_names(void **state)
{
    (void)state;
    px_statement *a = put("a", NULL, false), *unnamed = put("", NULL, false);
    assert_ptr_equal(px_statements_find(&all, named("a")), a);
    assert_ptr_equal(px_statements_find(&all, named("")), unnamed);
    assert_null(px_statements_find(&all, named("ab")));
    px_statement *other = put("a", NULL, true);
    assert_ptr_equal(px_statements_find(&all, named("a")), other);
    assert_true(px_statements_on_link(&all, other));
    px_statements_remove(&all, named("a"));
    px_statements_remove(&all, named("a"));
    assert_null(px_statements_find(&all, named("a")));
    assert_ptr_equal(all.first, unnamed);
}

/* Those that are not on the link stand first, and drafts, which are there as another text. */
static void what_is_away_stands_first(void **state)
{
    (void)state;
    assert_null(px_statements_away(&all));
    px_statement *a = put("a", NULL, true), *b = put("b", NULL, true);
    assert_order("ab");
    assert_null(px_statements_away(&all));
    px_statement *c = put("c", NULL, false);
    assert_order("cab");
    assert_ptr_equal(px_statements_away(&all), c);
    px_statements_raw_parse(&all, b);
    assert_order("bca");
    assert_ptr_equal(px_statements_away(&all), b);
    assert_true(px_statements_is_raw_parse(&all, b));
    assert_false(px_statements_is_raw_parse(&all, a));
    px_statements_move(&all, c, true);
    assert_order("bac");
    px_statements_move(&all, b, true);
    assert_false(px_statements_is_raw_parse(&all, b));
    assert_order("acb");
    px_statements_move(&all, c, false);
    assert_order("cab");
    assert_true(px_statements_on_link(&all, a));
    px_statements_raw_parse(&all, a);
    px_statements_lose_link(&all);
    assert_false(px_statements_on_link(&all, a));
    assert_false(px_statements_on_link(&all, b));
    assert_false(px_statements_is_raw_parse(&all, a));
    assert_non_null(px_statements_away(&all));
    px_statements_move(&all, b, true);
    assert_true(px_statements_on_link(&all, b));
    assert_ptr_equal(all.last, b);
}

static void one_that_is_taken_can_be_given_back(void **state)
{
    (void)state;
    px_statement *a = put("a", NULL, false);
    put("b", NULL, true);
    assert_null(px_statements_take(&all, named("c")));
    assert_ptr_equal(px_statements_take(&all, named("a")), a);
    assert_order("b");
    assert_int_equal(all.unkept, 1);
    put("a", NULL, true);
    px_statements_restore(&all, named("a"), a);
    assert_ptr_equal(px_statements_find(&all, named("a")), a);
    assert_order("ab");
    px_statements_restore(&all, named("b"), NULL);
    assert_order("a");
    assert_int_equal(all.unkept, 1);
    px_statements_clear(&all);
    assert_null(px_statements_find(&all, named("a")));
    assert_int_equal(all.unkept, 0);
    assert_null(all.first);
    assert_null(all.last);
    assert_ptr_equal(all.account, &account);
}

/* As many as are lost, when all are cleared, are lost still. */
static void cleared_ones_forget_no_link(void **state)
{
    (void)state;
    px_statements_lose_link(&all);
    px_statements_clear(&all);
    assert_int_equal(all.links_lost, 1);
    assert_true(px_statements_on_link(&all, put("a", NULL, true)));
}

static void parses_are_kept_while_there_is_room(void **state)
{
    (void)state;
    static char large[PX_KEPT_PARSES];
    px_statement *a = put("a", NULL, false), *b = put("b", NULL, false);
    assert_int_equal(all.unkept, 2);
    assert_int_equal(all.ours, 0);
    px_statements_keep(&all, a, (pgw_slice){large, 100});
    assert_int_equal(a->parse.len, 100);
    assert_int_equal(all.unkept, 1);
    assert_int_equal(all.kept_bytes, 100);
    assert_int_equal(all.weight, 100);
    assert_int_equal(account, 100);
    px_statements_keep(&all, b, (pgw_slice){large, PX_KEPT_PARSES - 99});
    assert_int_equal(b->parse.len, 0);
    assert_int_equal(all.kept_bytes, 100);
    px_statements_keep(&all, b, (pgw_slice){large, PX_KEPT_PARSES - 100});
    assert_int_equal(all.kept_bytes, PX_KEPT_PARSES);
    assert_false(px_statements_have_room(&all, 1));
    px_statements_remove(&all, named("b"));
    assert_int_equal(all.kept_bytes, 100);
    assert_int_equal(account, 100);
    assert_true(px_statements_have_room(&all, 1));
    assert_true(px_statements_have_room(&all, PX_KEPT_PARSE));
    assert_false(px_statements_have_room(&all, PX_KEPT_PARSE + 1));
    px_statements_forget_lookups(&all, a, (pgw_slice){large, 7});
    assert_int_equal(a->parse.len, 7);
    assert_int_equal(all.kept_bytes, 7);
    assert_int_equal(account, 7);
}

static void room_is_for_four_times_a_text(void **state)
{
    (void)state;
    static char large[PX_KEPT_PARSES];
    px_statement *a = put("a", NULL, false);
    px_statements_keep(&all, a, (pgw_slice){large, PX_KEPT_PARSES - 400});
    assert_true(px_statements_have_room(&all, 100));
    assert_false(px_statements_have_room(&all, 101));
}

static px_plan *plan_of(size_t bytes, rw_insert *insert)
{
    px_plan *plan = calloc(1, sizeof *plan);
    assert_non_null(plan);
    plan->references = 1;
    plan->arena.bytes = bytes;
    plan->insert = insert;
    return plan;
}

/* A plan weighs on each session that has it, and once on the process. */
static void plans_weigh_once(void **state)
{
    (void)state;
    px_statements others = {.account = &account};
    px_plan *plan = plan_of(1000, NULL), *fresh = plan_of(30, NULL);
    px_statement *a = put("a", plan, false);
    assert_int_equal(plan->references, 2);
    assert_int_equal(all.ours, 1);
    assert_int_equal(all.unkept, 0);
    put("b", plan, false);
    px_statements_put(&others, named("a"), plan, false);
    plan->arena.bytes = 5000; /* it has grown since: as much is taken off as was added */
    assert_int_equal(account, 1000);
    assert_int_equal(all.weight, 2000);
    assert_int_equal(others.weight, 1000);
    assert_int_equal(plan->holders, 3);
    px_plan_take(fresh);
    px_statements_replan(&all, a, fresh);
    assert_int_equal(account, 1030);
    assert_int_equal(all.weight, 1030);
    assert_int_equal(plan->references, 3);
    px_statements_remove(&all, named("b"));
    assert_int_equal(account, 1030);
    px_statements_free(&others);
    assert_int_equal(account, 30);
    assert_int_equal(plan->holders, 0);
    px_statements_clear(&all);
    assert_int_equal(account, 0);
    assert_int_equal(plan->references, 1);
    assert_int_equal(fresh->references, 1);
    free(plan);
    free(fresh);
}

static void lookups_weigh_on_their_session(void **state)
{
    (void)state;
    px_lookups *lookups = calloc(1, sizeof *lookups);
    assert_non_null(lookups);
    lookups->references = 1;
    lookups->arena.bytes = 50;
    px_statement *a = put("a", NULL, false);
    px_statements_look_up(&all, a, lookups);
    assert_ptr_equal(a->lookups, lookups);
    assert_int_equal(lookups->references, 2);
    assert_int_equal(all.weight, 50);
    assert_int_equal(account, 50);
    assert_int_equal(all.unkept, 1);
    px_statements_forget_lookups(&all, a, named("P"));
    assert_null(a->lookups);
    assert_int_equal(lookups->references, 1);
    assert_int_equal(account, 1);
    assert_int_equal(all.unkept, 0);
    free(lookups);
}

/* Too many: all of the process together, and this session more than a little. */
static void who_has_many_is_told(void **state)
{
    (void)state;
    px_plan *plan = plan_of(PX_PREPARED_FREE - 1, NULL), *little = plan_of(1, NULL);
    put("a", plan, false);
    assert_false(px_statements_are_many(&all, 10));
    put("b", little, false);
    assert_true(px_statements_are_many(&all, PX_PREPARED_FREE));
    assert_false(px_statements_are_many(&all, PX_PREPARED_FREE + 1));
    const px_statements uncounted = {.weight = PX_PREPARED_FREE};
    assert_false(px_statements_are_many(&uncounted, 0));
    px_statements_clear(&all);
    free(plan);
    free(little);
}

/* Whose constants are read by the session's settings. */
static void what_reads_constants_is_counted(void **state)
{
    (void)state;
    static const struct {
        const char *tail; /* behind its rows */
        bool reads_constants, reads;
    } cases[] = {{"", false, false},
                 {"", true, true},
                 {" on conflict (a) do update set at = '2026-01-01'", false, true},
                 {" on conflict (a) do update set b = 'x2026'", false, false},
                 {" on conflict (a) do update set b = '9", false, true},
                 {" on conflict (a) do update set b = '0'", false, true},
                 {" on conflict (a) do update set b = '", false, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pgw_buf text = {0};
        pgw_buf_add_str(&text, "values ('1')");
        rw_insert insert = {.reads_constants = cases[i].reads_constants, .tail = text.len};
        pgw_buf_add_str(&text, cases[i].tail);
        insert.text = pgw_slice_buf(&text);
        insert.end = text.len;
        px_plan *plan = plan_of(1, &insert);
        px_statement *a = put("a", plan, false);
        assert_int_equal(px_statement_reads(a), cases[i].reads);
        assert_int_equal(all.reading, cases[i].reads);
        px_statements_clear(&all);
        assert_int_equal(all.reading, 0);
        free(plan);
        pgw_buf_free(&text);
    }
    assert_false(px_statement_reads(put("b", NULL, false)));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(they_are_found_by_their_names),
        TEST(what_is_away_stands_first),
        TEST(one_that_is_taken_can_be_given_back),
        TEST(cleared_ones_forget_no_link),
        TEST(parses_are_kept_while_there_is_room),
        TEST(room_is_for_four_times_a_text),
        TEST(plans_weigh_once),
        TEST(lookups_weigh_on_their_session),
        TEST(who_has_many_is_told),
        TEST(what_reads_constants_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
