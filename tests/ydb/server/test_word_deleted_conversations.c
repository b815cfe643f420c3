/* Conversations with the server's half with a message left out, said twice, or with another one
 * before it: whatever the client says, each Sync and each Query is answered by one ReadyForQuery,
 * after an error nothing is done before Sync, and nothing runs in a failed transaction. */
#define _GNU_SOURCE
#include "tests/ydb/server/conversation.h"

#include "tests/protocol/word_deleted.h"

enum { MOST_LINES = 4096 };

static char *messages[MOST_LINES];
static size_t message_count;

static void add_message(const vector *v, void *data)
{
    (void)data;
    assert_in_range(message_count, 0, MOST_LINES - 1);
    messages[message_count++] = strdup(v->field[0]);
}

/* How many of the parts of a trace begin so. */
static size_t parts_of(const char *trace, const char *begin)
{
    size_t count = 0;
    for (const char *at = trace; (at = strstr(at, begin)) != NULL; at++)
        count += at == trace || at[-1] == ' ';
    return count;
}

static bool ends_with(const char *trace, const char *end)
{
    size_t len = strlen(trace), most = strlen(end);
    return len >= most && strcmp(trace + len - most, end) == 0;
}

/* Whether a message of this type is answered whole, without a Sync. */
static bool asks_alone(char type)
{
    return type == 'Q' || type == 'F';
}

/* Whether an Execute that waited for what comes behind it has failed: Sync is the next to be
 * answered. */
static bool fails_before(const char *trace)
{
    return parts_of(trace, "E:") > 0 && parts_of(trace, "Z:") == 0;
}

/* Of a message of this type and what came of it. */
static void holds_of_message(const conversation *c, char type, char before, bool skipping,
                             const char *trace)
{
    size_t ready = parts_of(trace, "Z:");
    char status[] = {'Z', ':', pgw_server_status(c->server), '\0'};
    bool closes = ends_with(trace, "close");
    word_deleted_holds(!skipping || type == 'S' || *trace == '\0' || closes,
                       "after an error nothing is done or said before Sync");
    word_deleted_holds(type != 'S' || ready == 1 || closes, "a Sync has one ReadyForQuery");
    word_deleted_holds(!asks_alone(type) || closes ||
                           ready == (skipping || fails_before(trace) ? 0 : 1),
                       "a Query or a FunctionCall has one ReadyForQuery");
    word_deleted_holds(type == 'S' || asks_alone(type) || ready == 0,
                       "no other message has a ReadyForQuery");
    word_deleted_holds(ready == 0 || parts_of(trace, status) == 1,
                       "ReadyForQuery tells the transaction's status");
    word_deleted_holds(before != 'E' || parts_of(trace, "run[") == 0 ||
                           parts_of(trace, "C:ROLLBACK") > 0,
                       "nothing is run in a failed transaction");
    word_deleted_holds(c->server->arena.bytes == 0 || closes,
                       "nothing is kept of a message that is answered");
}

/* Until the half has closed it. */
static bool say_line(conversation *c, const char *line, bool *skipping, pgw_buf *out)
{
    if (is_failure(c, line))
        return true;
    char before = pgw_server_status(c->server);
    char type = strncmp(line, "overlong ", 9) == 0 ? line[9] : line[0];
    say(c, line);
    pgw_buf_add_slice(out, pgw_slice_buf(&c->trace));
    pgw_buf_add_byte(out, '\n');
    pgw_buf_add_byte(&c->trace, '\0');
    const char *trace = c->trace.ptr;
    if (type != 'n') /* no message, but a note for later */
        holds_of_message(c, type, before, *skipping, trace);
    *skipping = type != 'S' && (*skipping || fails_before(trace));
    forget_body(c);
    return !ends_with(trace, "close");
}

/* A text is a conversation, a message a line. */
static void judge(pgw_slice text, pgw_buf *out)
{
    conversation c = {0};
    bool open = true, skipping = false;
    char *lines = pgw_strndup(text.ptr, text.len), *rest;
    begin_conversation(&c);
    for (char *line = strtok_r(lines, "\n", &rest); line != NULL && open;
         line = strtok_r(NULL, "\n", &rest))
        open = say_line(&c, line, &skipping, out);
    pgw_server_free(c.server);
    pgw_buf_free(&c.trace);
    free(lines);
}

/* From `first` to before `end`, but the one at `other` so many times, and `more`, if that is any,
 * before it. */
static void judge_changed(size_t first, size_t end, size_t other, int times, const char *more)
{
    pgw_buf text = {0};
    for (size_t i = first; i < end; i++) {
        if (i == other && more != NULL)
            pgw_buf_addf(&text, "%s\n", more);
        for (int k = 0; k < (i == other ? times : 1); k++)
            pgw_buf_addf(&text, "%s\n", messages[i]);
    }
    word_deleted_text(&text, judge);
    pgw_buf_free(&text);
}

/* With the message at `at` left out, twice, and with each of some others before it. */
static void judge_changes(size_t first, size_t end, size_t at)
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
    judge_changed(first, end, at, 0, NULL);
    judge_changed(first, end, at, 2, NULL);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        judge_changed(first, end, at, 1, others[i]);
}

static void every_text_holds(void **state)
{
    (void)state;
    size_t first = 1;
    vectors_each("server.txt", add_message, NULL);
    for (size_t i = 1; i <= message_count; i++)
        if (i == message_count || strcmp(messages[i], "new") == 0) {
            for (size_t at = first; at < i; at++)
                judge_changes(first, i, at);
            first = i + 1;
        }
    while (message_count > 0)
        free(messages[--message_count]);
    assert_in_range(word_deleted_count, 10000, 1000000);
}

int main(int argc, char **argv)
{
    return word_deleted_main(argc, argv, every_text_holds);
}
