/*
 * Whole conversations with the server's half, message by message: what it asks for and what it
 * replies, from a table (its form stands in the table).
 */
#define _GNU_SOURCE
#include "tests/ydb/server/conversation.h"

static void check_line(const vector *v, void *data)
{
    conversation *c = data;
    if (strcmp(v->field[0], "new") == 0) {
        begin_conversation(c);
        return;
    }
    if (is_failure(c, v->field[0]))
        return;
    say(c, v->field[0]);
#ifdef RECORD
    printf("%s\t%.*s\n", v->field[0], (int)c->trace.len, c->trace.ptr);
#else
    check_text(v, &c->trace, v->field[1]);
#endif
    if (pgw_server_next(c->server).ask == PGW_ASK_MESSAGE)
        assert_int_equal(c->server->arena.bytes, 0);
    forget_body(c);
    if (c->trace.len > 3 && memcmp(c->trace.ptr + c->trace.len - 3, "Z:", 2) == 0)
        assert_int_equal(pgw_server_status(c->server), c->trace.ptr[c->trace.len - 1]);
}

static void test_conversations(void **state)
{
    (void)state;
    conversation c = {0};
    assert_in_range(vectors_each("server.txt", check_line, &c), 150, 2000);
    pgw_server_free(c.server);
    pgw_buf_free(&c.trace);
}

/* As PostgreSQL does: without a word, also while skipping. */
static void test_a_message_too_long_ends_it(void **state)
{
    (void)state;
    static char body[PGW_MAX_SMALL_BODY + 1];
    pgw_server *server = pgw_server_new(words_cut, NULL, LIMIT);
    pgw_server_message(server, 'd', (pgw_slice){body, sizeof body});
    assert_int_equal(pgw_server_next(server).ask, PGW_ASK_MESSAGE);
    pgw_server_message(server, 'E', (pgw_slice){body, PGW_MAX_SMALL_BODY});
    assert_int_equal(pgw_server_next(server).ask, PGW_ASK_MESSAGE);
    assert_true(pgw_server_output(server)->len > 0);
    pgw_buf_clear(pgw_server_output(server));
    pgw_server_message(server, 'D', (pgw_slice){body, sizeof body});
    assert_int_equal(pgw_server_next(server).ask, PGW_ASK_CLOSE);
    assert_int_equal(pgw_server_output(server)->len, 0);
    pgw_server_free(server);
}

/* What PREPARE and DECLARE have made is told from what a Parse has, and where its text stands. */
static void test_what_is_ordered_is_known(void **state)
{
    (void)state;
    static const struct {
        const char *line, *name;
        bool ordered;
        size_t before;
    } cases[] = {
        {"Q|prepare p as select 1", "p", true, 13},
        {"Q|insert; prepare q 23 as insert $1", "q", true, 24},
        {"P|s|select 1|", "s", false, 0},
    };
    conversation c = {0};
    begin_conversation(&c);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        say(&c, cases[i].line);
        const pgw_statement *made =
            pgw_prepared_statement(&c.server->prepared, pgw_slice_str(cases[i].name));
        assert_non_null(made);
        assert_int_equal(made->ordered, cases[i].ordered);
        assert_int_equal(made->before, cases[i].before);
        forget_body(&c);
    }
    pgw_server_free(c.server);
    pgw_buf_free(&c.trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_conversations),
                                       cmocka_unit_test(test_what_is_ordered_is_known),
                                       cmocka_unit_test(test_a_message_too_long_ends_it)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
