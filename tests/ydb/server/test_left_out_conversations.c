/* Conversations with the server's half with a message left out, said twice, or with another
 * one before it. */
#define _GNU_SOURCE
#include "tests/ydb/server/conversation.h"

#include "tests/protocol/left_out.h"

enum { MOST_LINES = 4096 };

static char *messages[MOST_LINES];
static size_t message_count;

static void add_message(const vector *v, void *data)
{
    (void)data;
    assert_in_range(message_count, 0, MOST_LINES - 1);
    messages[message_count++] = strdup(v->field[0]);
}

/* Until the half has closed it. */
static bool say_line(conversation *c, const char *line, pgw_buf *out)
{
    if (is_failure(c, line))
        return true;
    say(c, line);
    pgw_buf_add_slice(out, pgw_slice_buf(&c->trace));
    pgw_buf_add_byte(out, '\n');
    forget_body(c);
    return c->trace.len < 5 || memcmp(c->trace.ptr + c->trace.len - 5, "close", 5) != 0;
}

/* From `first` to before `end`, but the one at `other` so many times, and `more`, if that is any,
 * before it. */
static void converse(size_t first, size_t end, size_t other, int times, const char *more,
                     pgw_buf *out)
{
    conversation c = {0};
    bool open = true;
    begin_conversation(&c);
    for (size_t i = first; i < end && open; i++) {
        if (i == other && more != NULL)
            open = say_line(&c, more, out);
        for (int k = 0; k < (i == other ? times : 1) && open; k++)
            open = say_line(&c, messages[i], out);
    }
    pgw_server_free(c.server);
    pgw_buf_free(&c.trace);
}

/* With the message at `at` left out, twice, and with each of some others before it. */
static void add_changed(size_t first, size_t end, size_t at, pgw_buf *line)
{
    static const char *const others[] = {
        "S",
        "H",
        "Q|begin",
        "Q|commit",
        "Q|rollback and chain",
        "Q|savepoint a; rollback to a",
        "Q|release a",
        "Q|select 3",
        "Q|insert; insert fail",
        "Q|declare c cursor for select 5",
        "Q|fetch 1 from c",
        "Q|close all; deallocate all",
        "Q|discard all",
        "P||select $1 3|",
        "P|s|insert|",
        "B||||5|1",
        "B|p|s|||",
        "D|S|s",
        "D|P|",
        "E||0",
        "E|p|1",
        "C|S|s",
        "C|P|p",
        "overlong P",
        "note",
        "the next commit fails",
    };
    pgw_buf told = {0};
    converse(first, end, at, 0, NULL, &told);
    converse(first, end, at, 2, NULL, &told);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        converse(first, end, at, 1, others[i], &told);
    if (left_out_all)
        printf("%zu: %s\n%.*s===\n", at, messages[at], (int)told.len, told.ptr);
    left_out_letters(&told, line);
    pgw_buf_free(&told);
}

static void add_conversation(size_t first, size_t end, pgw_buf *out)
{
    pgw_buf_addf(out, "%zu", first);
    for (size_t i = first; i < end; i++)
        add_changed(first, end, i, out);
    pgw_buf_add_byte(out, '\n');
}

static char *all(void)
{
    pgw_buf out = {0};
    size_t first = 1;
    vectors_each("server.txt", add_message, NULL);
    for (size_t i = 1; i <= message_count; i++)
        if (i == message_count || strcmp(messages[i], "new") == 0) {
            add_conversation(first, i, &out);
            first = i + 1;
        }
    while (message_count > 0)
        free(messages[--message_count]);
    pgw_buf_add_byte(&out, '\0');
    return out.ptr;
}

static void nothing_changes_unseen(void **state)
{
    (void)state;
    assert_true(left_out_same(VECTORS "/left_out_conversations.txt", all));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_changes_unseen)};
    return left_out_asked(argc, argv, all) ? 0 : cmocka_run_group_tests(tests, NULL, NULL);
}
