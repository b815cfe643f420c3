/* What a session's link owes: in the order in which it was asked, and which names hang on it. */
#include "proxy/client/core/replies.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static px_replies owed;
static px_statements statements;

static int setup(void **state)
{
    (void)state;
    owed = (px_replies){0};
    statements = (px_statements){0};
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    px_replies_clear(&owed);
    px_statements_free(&statements);
    return owed.cap == 0 && owed.ring == NULL && owed.text_bytes == 0 ? 0 : -1;
}

static px_reply *push(px_reply_kind kind)
{
    return px_replies_push(&owed, kind);
}

/* Their kinds, from the head on: Q P B D d E C S. */
static void assert_owed(const char *kinds)
{
    assert_int_equal(owed.count, strlen(kinds));
    for (size_t i = 0; i < owed.count; i++)
        assert_int_equal("QPBDdECS"[px_replies_at(&owed, i)->kind], kinds[i]);
}

static void they_come_in_order(void **state)
{
    (void)state;
    assert_null(px_replies_head(&owed));
    for (size_t i = 0; i < 5; i++)
        push(PX_REPLY_PARSE)->at = i;
    for (size_t i = 0; i < 3; i++)
        px_replies_pop(&owed);
    for (size_t i = 5; i < 40; i++) /* while the ring turns, and grows */
        push(PX_REPLY_EXECUTE)->at = i;
    assert_int_equal(owed.count, 37);
    for (size_t i = 3; i < 40; i++) {
        assert_int_equal(px_replies_head(&owed)->at, i);
        assert_int_equal(px_replies_head(&owed)->kind, i < 5 ? PX_REPLY_PARSE : PX_REPLY_EXECUTE);
        px_replies_pop(&owed);
    }
    assert_null(px_replies_head(&owed));
    push(PX_REPLY_SYNC);
    assert_false(px_replies_head(&owed)->silent);
    assert_int_equal(px_replies_head(&owed)->at, 0);
}

static void what_runs_and_what_is_silent(void **state)
{
    (void)state;
    assert_true(px_replies_are_silent(&owed));
    push(PX_REPLY_SYNC)->silent = true;
    assert_true(px_replies_are_silent(&owed));
    push(PX_REPLY_PARSE);
    push(PX_REPLY_SYNC)->silent = true;
    assert_false(px_replies_are_silent(&owed));
    assert_false(px_replies_run(&owed));
    push(PX_REPLY_EXECUTE);
    assert_true(px_replies_run(&owed));
    px_replies_clear(&owed);
    push(PX_REPLY_QUERY);
    assert_true(px_replies_run(&owed));
}

static pgw_slice named(const char *name)
{
    return pgw_slice_str(name);
}

static void a_name_moves_until_all_is_answered(void **state)
{
    (void)state;
    px_statement *a = px_statements_put(&statements, named("a"), NULL, false);
    px_reply_renames(&owed, push(PX_REPLY_CLOSE), &statements, named("a"));
    assert_ptr_equal(px_replies_head(&owed)->before, a);
    assert_null(px_statements_find(&statements, named("a")));
    px_reply_records(&owed, push(PX_REPLY_PARSE), "a");
    px_reply_renames(&owed, push(PX_REPLY_PARSE), &statements, named(""));
    assert_true(px_replies_move(&owed, named("a")));
    assert_true(px_replies_move(&owed, named("")));
    assert_false(px_replies_move(&owed, named("b")));
    px_replies_pop(&owed);
    assert_true(px_replies_move(&owed, named("a")));
    px_replies_pop(&owed);
    assert_false(px_replies_move(&owed, named("a")));
    assert_true(px_replies_move(&owed, named("")));
    px_replies_pop(&owed);
    assert_false(px_replies_move(&owed, named("")));
}

/* Of the group that is being sent, or of one before it. */
static void names_that_moved_before_the_group(void **state)
{
    (void)state;
    assert_false(px_replies_move_before(&owed, named("a")));
    px_reply_renames(&owed, push(PX_REPLY_PARSE), &statements, named("a"));
    assert_false(px_replies_move_before(&owed, named("a")));
    push(PX_REPLY_BIND);
    assert_false(px_replies_move_before(&owed, named("a")));
    push(PX_REPLY_SYNC);
    assert_true(px_replies_move_before(&owed, named("a")));
    assert_false(px_replies_move_before(&owed, named("b")));
    px_reply_records(&owed, push(PX_REPLY_PARSE), "a");
    push(PX_REPLY_EXECUTE);
    assert_false(px_replies_move_before(&owed, named("a")));
    push(PX_REPLY_QUERY);
    assert_true(px_replies_move_before(&owed, named("a")));
    px_reply_renames(&owed, push(PX_REPLY_PARSE), &statements, named("b"));
    assert_true(px_replies_move_before(&owed, named("a")));
    assert_false(px_replies_move_before(&owed, named("b")));
}

/* A text may change what any name means. */
static void texts_move_all_names(void **state)
{
    (void)state;
    static const struct {
        unsigned effects;
        bool moves;
    } cases[] = {{0, false},
                 {RW_EFFECT_DDL, false},
                 {RW_EFFECT_DEALLOCATE, true},
                 {RW_EFFECT_DISCARD_ALL, true},
                 {RW_EFFECT_PREPARE | RW_EFFECT_DDL, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        px_text text = {
            .references = 1, .text = PGW_LITERAL("some text"), .script.effects = cases[i].effects};
        px_reply_is_about(&owed, push(PX_REPLY_QUERY), &text);
        assert_int_equal(text.references, 2);
        assert_int_equal(owed.text_bytes, 4096 + 4 * 9);
        assert_int_equal(px_replies_move(&owed, named("a")), cases[i].moves);
        assert_int_equal(px_replies_move_before(&owed, named("a")), cases[i].moves);
        px_replies_pop(&owed);
        assert_int_equal(text.references, 1);
        assert_int_equal(owed.text_bytes, 0);
        assert_false(px_replies_move(&owed, named("a")));
    }
}

/* A COPY that takes data eats each Sync that came before the data's end, and all that came with it.
 */
static void a_copy_eats_what_was_sent_before_its_end(void **state)
{
    (void)state;
    bool tail;
    px_replies_end_copy(&owed); /* of no COPY */
    push(PX_REPLY_EXECUTE)->at = 7;
    assert_false(px_replies_begin_copy(&owed, &tail)); /* its data are not here yet */
    assert_false(tail);
    assert_owed("E");
    push(PX_REPLY_SYNC);
    push(PX_REPLY_PARSE);
    px_replies_end_copy(&owed);
    push(PX_REPLY_SYNC);
    assert_true(px_replies_begin_copy(&owed, &tail));
    assert_false(tail);
    assert_owed("ES");
    assert_int_equal(px_replies_head(&owed)->at, 7);
    assert_int_equal(px_replies_head(&owed)->copies_ended, 0);
    push(PX_REPLY_SYNC);
    assert_false(px_replies_begin_copy(&owed, &tail)); /* all of it, and what comes */
    assert_true(tail);
    assert_owed("E");
    assert_int_equal(px_replies_head(&owed)->at, 7);
}

/* In the simple protocol nothing is eaten; each COPY of the text has an end of its own. */
static void a_text_of_copies_eats_nothing(void **state)
{
    (void)state;
    bool tail;
    push(PX_REPLY_QUERY);
    px_replies_end_copy(&owed);
    px_replies_end_copy(&owed);
    push(PX_REPLY_SYNC);
    assert_true(px_replies_begin_copy(&owed, &tail));
    assert_false(tail);
    assert_true(px_replies_begin_copy(&owed, &tail));
    assert_false(px_replies_begin_copy(&owed, &tail));
    assert_true(tail);
    assert_owed("QS");
}

static void what_is_eaten_is_let_go(void **state)
{
    (void)state;
    bool tail;
    px_text text = {.references = 1, .text = PGW_LITERAL("x")};
    for (size_t i = 0; i < 6; i++) { /* where the ring turns */
        push(PX_REPLY_SYNC);
        px_replies_pop(&owed);
    }
    push(PX_REPLY_EXECUTE)->at = 7;
    push(PX_REPLY_SYNC);
    px_reply_is_about(&owed, push(PX_REPLY_QUERY), &text);
    px_reply_renames(&owed, push(PX_REPLY_PARSE), &statements, named("a"));
    px_replies_end_copy(&owed);
    push(PX_REPLY_CLOSE);
    assert_true(px_replies_begin_copy(&owed, &tail));
    assert_owed("EC");
    assert_int_equal(px_replies_head(&owed)->at, 7);
    assert_int_equal(text.references, 1);
    assert_int_equal(owed.text_bytes, 0);
    assert_false(px_replies_move(&owed, named("a")));
}

static void a_begin_stands_before_the_next_one(void **state)
{
    (void)state;
    owed.begins = 5;
    push(PX_REPLY_QUERY);
    assert_owed("PBECCQ");
    for (size_t i = 0; i < owed.count; i++) {
        bool begins = i < 5;
        assert_true(px_replies_at(&owed, i)->begins == begins);
        assert_true(px_replies_at(&owed, i)->swallow == begins);
    }
    push(PX_REPLY_SYNC);
    assert_owed("PBECCQS");
    px_replies_begin(&owed);
    assert_owed("PBECCQS");
    owed.begins = 3;
    px_replies_begin(&owed);
    assert_owed("PBECCQSPBE");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(they_come_in_order),
        TEST(what_runs_and_what_is_silent),
        TEST(a_name_moves_until_all_is_answered),
        TEST(names_that_moved_before_the_group),
        TEST(texts_move_all_names),
        TEST(a_copy_eats_what_was_sent_before_its_end),
        TEST(a_text_of_copies_eats_nothing),
        TEST(what_is_eaten_is_let_go),
        TEST(a_begin_stands_before_the_next_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
