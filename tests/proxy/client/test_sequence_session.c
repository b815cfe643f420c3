/* What a session is told of the numbers that it drew: by the texts that ask for them, as they go on
 * to its link. */
#include "proxy/client/numbers/sequence_session.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "proxy/client/core/session.h"

static px_session *session;

static int setup(void **state)
{
    (void)state;
    const px_identity from = {.user = (char *)"u",
                              .database = (char *)"d",
                              .options = (char *)"",
                              .env = {.utf8 = true, .conforming = true}};
    session = calloc(1, sizeof *session);
    assert_non_null(session);
    session->who.identity = px_identity_of(&from);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    px_identity_drop(session->who.identity);
    px_statements_free(&session->names.statements);
    pgw_buf_free(&session->hand.rewritten);
    free(session->known.drawn);
    free(session);
    return 0;
}

/* Which numbers the session has, of the sequences that it got them of, the last one last. */
static void assert_has(const int64_t *numbers, size_t count)
{
    assert_int_equal(session->known.drawn->count, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(session->known.drawn->of[i].number, numbers[i]);
}

static void the_one_asked_for_last_stands_last(void **state)
{
    (void)state;
    px_sequence_session_ahead(session, 1, 10);
    px_sequence_session_ahead(session, 2, 20);
    px_sequence_session_ahead(session, 3, 30);
    assert_has((int64_t[]){10, 20, 30}, 3);
    px_sequence_session_ahead(session, 1, 11);
    assert_has((int64_t[]){20, 30, 11}, 3);
    px_sequence_session_ahead(session, 1, 12);
    assert_has((int64_t[]){20, 30, 12}, 3);
}

/* A further sequence takes the place of the one that was asked for longest ago, and knows nothing
 * of what the link drew of that. */
static void no_more_than_a_few_are_known(void **state)
{
    (void)state;
    px_sequence_session_here(session, 1, 100);
    for (uint32_t i = 2; i <= RW_DRAWN_MOST; i++)
        px_sequence_session_ahead(session, i, 100 * i);
    assert_true(px_sequence_session_is_here(session, 1));
    px_sequence_session_ahead(session, 77, 7);
    assert_has((int64_t[]){200, 300, 400, 500, 600, 700, 800, 7}, RW_DRAWN_MOST);
    assert_false(px_sequence_session_is_here(session, 1));
    assert_false(px_sequence_session_is_here(session, 77));
    px_sequence_session_ahead(session, 1, 101);
    assert_has((int64_t[]){300, 400, 500, 600, 700, 800, 7, 101}, RW_DRAWN_MOST);
}

static void the_link_knows_its_own(void **state)
{
    (void)state;
    assert_false(px_sequence_session_is_here(session, 1));
    px_sequence_session_for_others(session, 1, 5); /* The session has no such sequence. */
    assert_null(session->known.drawn);
    px_sequence_session_ahead(session, 1, 10);
    px_sequence_session_ahead(session, 2, 20);
    px_sequence_session_for_others(session, 3, 5);
    assert_false(session->known.drawn->linked);
    px_sequence_session_for_others(session, 1, 5);
    assert_true(px_sequence_session_is_here(session, 1));
    assert_false(px_sequence_session_is_here(session, 2));
    assert_int_equal(session->known.drawn->of[0].link, 5);
    assert_int_equal(session->known.drawn->link, 5);
    assert_has((int64_t[]){10, 20}, 2);
    px_sequence_session_here(session, 2, 21);
    assert_true(px_sequence_session_is_here(session, 2));
    assert_int_equal(session->known.drawn->link, 21);
    assert_has((int64_t[]){10, 21}, 2);
}

/* The next link knows of nothing; what the session has stays its own. */
static void another_link_knows_nothing(void **state)
{
    (void)state;
    px_sequence_session_lose_link(session); /* without any */
    px_sequence_session_here(session, 1, 10);
    px_sequence_session_here(session, 2, 20);
    px_sequence_session_lose_link(session);
    assert_false(px_sequence_session_is_here(session, 1));
    assert_false(px_sequence_session_is_here(session, 2));
    assert_false(session->known.drawn->linked);
    assert_has((int64_t[]){10, 20}, 2);
}

/* The message as it goes on; false: as it came. */
static bool tells(char type, const char *text, const char *expected)
{
    pgw_buf out = {0};
    size_t begun = pgw_begin(&out, type);
    if (type == 'P')
        pgw_buf_add_byte(&out, '\0');
    pgw_buf_add(&out, text, strlen(text) + 1);
    if (type == 'P')
        pgw_buf_add_i16(&out, 0);
    assert_true(pgw_end(&out, begun));
    pgw_slice message = pgw_slice_buf(&out);
    bool told = px_sequence_session_rewrite(session, type, &message);
    if (told) {
        size_t at = PGW_HEADER + (type == 'P');
        assert_int_equal(message.ptr[0], type);
        assert_string_equal(message.ptr + at, expected);
        assert_int_equal(message.len, at + strlen(expected) + 1 + (type == 'P' ? 2 : 0));
    } else {
        assert_ptr_equal(message.ptr, out.ptr);
        assert_int_equal(message.len, out.len);
    }
    pgw_buf_free(&out);
    return told;
}

/* Until the link has drawn any, by the session's number alone; behind that, by the younger. */
static void what_asks_is_told(void **state)
{
    (void)state;
    static const char asks[] = "select lastval()",
                      told[] = "select (select (10)::pg_catalog.int8 as lastval)";
    assert_false(tells('Q', asks, NULL));
    px_sequence_session_ahead(session, 1, 10);
    assert_false(tells('Q', "select lastva(), currva()", NULL));
    assert_false(tells('Q', "select 'lastval()'", NULL));
    assert_int_equal(session->known.touched, 0);
    assert_true(tells('Q', asks, told));
    assert_int_equal(session->known.touched, 0);
    pgw_buf_clear(&session->hand.rewritten); /* another message is at hand */
    assert_true(tells('P', asks, told));
    assert_int_equal(session->known.touched, RW_EFFECT_DRAWS);
    assert_true(tells('P', "what is at hand was told before", told));
}

static px_statement *prepare(const char *name, bool kept, bool told)
{
    px_statement *statement =
        px_statements_put(&session->names.statements, pgw_slice_str(name), NULL, false);
    if (kept)
        px_statements_keep(&session->names.statements, statement, PGW_LITERAL("P...."));
    px_statements_move(&session->names.statements, statement, true);
    if (told)
        px_sequence_session_keep(session, pgw_slice_str(name));
    return statement;
}

/* When the link can tell itself, or the numbers are forgotten, what was told others is prepared
 * anew as its client wrote it; what cannot be, and what was told nothing, stays. */
static void what_was_told_is_prepared_anew(void **state)
{
    (void)state;
    px_statements *all = &session->names.statements;
    for (int forgotten = 0; forgotten < 2; forgotten++) {
        px_statement *told = prepare("told", true, true), *plain = prepare("plain", true, false);
        px_statement *unkept = prepare("unkept", false, true);
        px_sequence_session_keep(session, PGW_LITERAL("nobody"));
        px_sequence_session_ahead(session, 1, 10);
        assert_true(px_statements_on_link(all, told));
        if (forgotten)
            px_sequence_session_forget(session);
        else
            px_sequence_session_here(session, 1, 11);
        assert_false(px_statements_on_link(all, told));
        assert_true(px_statements_on_link(all, plain));
        assert_true(px_statements_on_link(all, unkept));
        assert_false(told->has_drawn);
        assert_false(session->known.has_drawn);
        px_statements_move(all, told, true); /* as its client wrote it */
        px_sequence_session_here(session, 1, 12);
        assert_true(px_statements_on_link(all, told));
    }
    px_sequence_session_forget(session);
    assert_int_equal(session->known.drawn->count, 0);
    assert_false(tells('Q', "select lastval()", NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_one_asked_for_last_stands_last, setup, teardown),
        cmocka_unit_test_setup_teardown(no_more_than_a_few_are_known, setup, teardown),
        cmocka_unit_test_setup_teardown(the_link_knows_its_own, setup, teardown),
        cmocka_unit_test_setup_teardown(another_link_knows_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(what_asks_is_told, setup, teardown),
        cmocka_unit_test_setup_teardown(what_was_told_is_prepared_anew, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
