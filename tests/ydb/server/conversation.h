/*
 * conversation: a conversation with the server's half, what it asks for and what it replies. The
 * backend here is a few rules: what a text says is what it does.
 */
#ifndef TEST_CONVERSATION_H
#define TEST_CONVERSATION_H

#include "protocol/backend.h"
#include "protocol/frame.h"
#include "protocol/frontend.h"
#include "ydb/server/machine.h"
#include "ydb/server/server.h"
#include "tests/ydb/server/words.h"
#include "tests/protocol/wire_vectors.h"

enum { LIMIT = 4096, PARTS = 8 };

typedef struct conversation {
    pgw_server *server;
    pgw_buf trace;
    const char *fails; /* the next "begin", "modes" or "commit"; NULL: none */
    bool noted;        /* a setting is to be reported */
    pgw_slice body;    /* of the message */
} conversation;

/* ---- what was replied ---- */

static void trace_formats(pgw_slice body, pgw_buf *trace)
{
    pgw_reader reader = pgw_reader_of(body);
    for (unsigned left = pgw_read_u16(&reader); left > 0; left--) {
        pgw_read_string(&reader);
        pgw_read_bytes(&reader, 16);
        pgw_buf_addf(trace, "%u", pgw_read_u16(&reader));
    }
    assert_true(pgw_reader_done(&reader));
}

static void trace_types(pgw_slice body, pgw_buf *trace)
{
    size_t count;
    pgw_slice types;
    assert_true(pgw_parameter_description_decode(body, &count, &types));
    for (size_t i = 0; i < count; i++)
        pgw_buf_addf(trace, "%s%u", i > 0 ? "," : "", pgw_type_at(types, i));
}

static void trace_row(pgw_slice body, pgw_buf *trace)
{
    pgw_slice cells[PARTS];
    bool nulls[PARTS];
    int count = pgw_data_row_decode(body, cells, nulls, PARTS);
    assert_in_range(count, 0, PARTS);
    for (int i = 0; i < count; i++) {
        pgw_buf_add_str(trace, i > 0 ? "," : "");
        pgw_buf_add_slice(trace, nulls[i] ? PGW_LITERAL("null") : cells[i]);
    }
}

static void trace_error(pgw_slice body, pgw_buf *trace)
{
    pgw_error error;
    pgw_error_read(body, &error);
    pgw_buf_add_str(trace, error.sqlstate);
    if (error.position > 0)
        pgw_buf_addf(trace, "@%zu", error.position);
    if (pgw_slice_eq_str(pgw_error_field(body, 'S'), "FATAL"))
        pgw_buf_add_str(trace, "!");
    pgw_buf_addf(trace, "\"%s\"", error.message);
}

static void trace_reply(char type, pgw_slice body, pgw_buf *trace)
{
    pgw_buf_addf(trace, "%s%c", trace->len > 0 ? " " : "", type);
    pgw_buf_add_str(trace, body.len > 0 ? ":" : "");
    if (type == 'E' || type == 'N')
        trace_error(body, trace);
    else if (type == 'T')
        trace_formats(body, trace);
    else if (type == 't')
        trace_types(body, trace);
    else if (type == 'D')
        trace_row(body, trace);
    else if (type == 'C')
        pgw_buf_add(trace, body.ptr, body.len - 1);
    else if (type == 'S')
        pgw_buf_addf(trace, "%s=%s", body.ptr, body.ptr + strlen(body.ptr) + 1);
    else
        pgw_buf_add_slice(trace, body);
}

static void trace_replies(conversation *c)
{
    pgw_slice rest = pgw_slice_buf(pgw_server_output(c->server));
    pgw_frame frame;
    while (rest.len > 0) {
        assert_int_equal(pgw_frame_next(rest, &frame), PGW_FRAME_OK);
        assert_in_range(frame.size, PGW_HEADER, rest.len);
        trace_reply(frame.type, pgw_frame_body(rest, frame), &c->trace);
        rest = (pgw_slice){rest.ptr + frame.size, rest.len - frame.size};
    }
    pgw_buf_clear(pgw_server_output(c->server));
}

/* ---- the backend ---- */

/* The number behind the last blank of the text; 0 if there is none. */
static unsigned number_in(pgw_slice text)
{
    size_t at = text.len;
    while (at > 0 && text.ptr[at - 1] != ' ')
        at--;
    char digits[12] = "";
    memcpy(digits, text.ptr + at, text.len - at < 11 ? text.len - at : 11);
    return (unsigned)strtoul(digits, NULL, 10);
}

static bool says(pgw_slice text, const char *word)
{
    return text.len > 0 && memmem(text.ptr, text.len, word, strlen(word)) != NULL;
}

/* One column c of type text, or none. */
static pgw_slice columns_of(pgw_slice text)
{
    static const char body[] = "\0\1c\0\0\0\0\0\0\0\0\0\0\x19\xff\xff\xff\xff\xff\xff\0\0";
    if (says(text, "columnless"))
        return PGW_LITERAL("\0\0");
    bool rows = words_begin_with(text, "select") || words_begin_with(text, "get") ||
                says(text, "returning");
    return (pgw_slice){rows ? body : NULL, rows ? sizeof body - 1 : 0};
}

static pgw_error error_of(pgw_slice text, const char *sqlstate, const char *word)
{
    pgw_error error;
    pgw_fail(&error, sqlstate, "that is wrong");
    error.position =
        (size_t)((const char *)memmem(text.ptr, text.len, word, strlen(word)) - text.ptr + 1);
    return error;
}

static void answer_analyze(conversation *c, const pgw_statement *statement)
{
    pgw_slice text = statement->piece.text;
    if (says(text, "nowhere")) {
        pgw_error error = error_of(text, "42P01", "nowhere");
        pgw_server_failed(c->server, &error);
        return;
    }
    uint32_t types[PARTS] = {0};
    size_t count = statement->type_count;
    memcpy(types, statement->types, count * sizeof *types);
    for (size_t i = 0; i + 1 < text.len; i++)
        if (text.ptr[i] == '$' && (size_t)(text.ptr[i + 1] - '0') > count)
            count = (size_t)(text.ptr[i + 1] - '0');
    for (size_t i = 0; i < count && !says(text, "untyped"); i++)
        types[i] = types[i] == 0 ? 25 : types[i];
    pgw_server_analyzed(c->server, types, count, columns_of(text));
}

static void answer_rows(conversation *c, const pgw_action *action, unsigned first)
{
    pgw_slice text = action->portal->statement->piece.text;
    unsigned count = columns_of(text).len > 0 ? number_in(text) : 0;
    size_t cells = says(text, "columnless") ? 0 : 1;
    for (unsigned i = first; i < count; i++) {
        char digits[12];
        pgw_slice cell = {digits, (size_t)snprintf(digits, sizeof digits, "%u", i + 1)};
        action->portal->link = (void *)(uintptr_t)(i + 1);
        if (!pgw_server_row(c->server, i == 2 ? &(pgw_slice){NULL, 0} : &cell, cells))
            return;
        trace_replies(c);
    }
    if (says(text, "fail")) {
        pgw_error error = error_of(text, "22012", "fail");
        pgw_server_failed(c->server, &error);
        return;
    }
    char tag[32];
    bool select = words_begin_with(text, "select"), insert = words_begin_with(text, "insert");
    snprintf(tag, sizeof tag, select ? "SELECT %u" : insert ? "INSERT 0 %u" : "OTHER", count);
    pgw_server_completed(c->server, tag);
}

static void answer_run(conversation *c, const pgw_action *action)
{
    pgw_slice text = action->portal->statement->piece.text;
    bool queried = action->portal->bind.statement.ptr == NULL;
    pgw_slice other = PGW_LITERAL("\0\0");
    if (queried && !pgw_server_columns(c->server, columns_of(text)))
        return;
    if (says(text, "changed") && !pgw_server_columns(c->server, other))
        return;
    answer_rows(c, action, 0);
}

static void answer_done(conversation *c, const char *what)
{
    pgw_error error;
    pgw_fail(&error, "40001", "that is over");
    bool fails = c->fails != NULL && strcmp(what, c->fails) == 0;
    c->fails = fails ? NULL : c->fails;
    if (fails)
        pgw_server_failed(c->server, &error);
    else
        pgw_server_done(c->server);
}

static void answer_bind(conversation *c, const pgw_action *action)
{
    pgw_error error;
    pgw_fail(&error, "22P02", "no such value");
    if (says(action->portal->bind.values, "wrong"))
        pgw_server_failed(c->server, &error);
    else
        pgw_server_done(c->server);
}

static void trace_action(conversation *c, const char *name, pgw_slice text, uint32_t limit)
{
    pgw_buf_addf(&c->trace, "%s%s", c->trace.len > 0 ? " " : "", name);
    if (text.len > 0)
        pgw_buf_addf(&c->trace, "[%.*s]", (int)text.len, text.ptr);
    if (limit > 0)
        pgw_buf_addf(&c->trace, "/%u", limit);
}

static void trace_arguments(conversation *c, const pgw_portal *portal)
{
    pgw_buf_add_str(&c->trace, "(");
    for (size_t i = 0; i < portal->statement->type_count; i++)
        pgw_buf_addf(&c->trace, "%s%.*s", i > 0 ? "," : "", (int)portal->arguments[i].len,
                     portal->arguments[i].ptr);
    pgw_buf_add_str(&c->trace, ")");
}

static void act(conversation *c, const pgw_action *action)
{
    static const char *const names[] = {
        [PGW_ASK_ANALYZE] = "analyze", [PGW_ASK_BIND] = "bind",     [PGW_ASK_RUN] = "run",
        [PGW_ASK_RESUME] = "resume",   [PGW_ASK_END] = "end",       [PGW_ASK_BEGIN] = "begin",
        [PGW_ASK_MODES] = "modes",     [PGW_ASK_COMMIT] = "commit", [PGW_ASK_ROLLBACK] = "rollback",
        [PGW_ASK_SETTLE] = "undo"};
    pgw_slice text = action->ask <= PGW_ASK_MODES && action->ask >= PGW_ASK_BEGIN ? action->text
                     : action->ask == PGW_ASK_ANALYZE ? action->statement->piece.text
                     : action->portal != NULL         ? action->portal->statement->piece.text
                                                      : (pgw_slice){NULL, 0};
    trace_action(c,
                 action->keep    ? "keep"
                 : action->chain ? "chain"
                                 : names[action->ask],
                 text, action->limit);
    if (action->ask == PGW_ASK_RUN && action->portal->arguments != NULL)
        trace_arguments(c, action->portal);
    if (c->server->fetched != NULL && action->portal->bind.results.len >= 4)
        pgw_buf_addf(&c->trace, "=%u", action->portal->bind.results.ptr[3]);
    if (action->ask == PGW_ASK_ANALYZE)
        answer_analyze(c, action->statement);
    else if (action->ask == PGW_ASK_RUN)
        answer_run(c, action);
    else if (action->ask == PGW_ASK_RESUME)
        answer_rows(c, action, (unsigned)(uintptr_t)action->portal->link);
    else if (action->ask == PGW_ASK_BIND)
        answer_bind(c, action);
    else
        answer_done(c, names[action->ask]);
}

static void settle(conversation *c)
{
    trace_replies(c);
    for (pgw_action action; (action = pgw_server_next(c->server)).ask != PGW_ASK_MESSAGE;) {
        if (action.ask == PGW_ASK_CLOSE) {
            trace_action(c, "close", (pgw_slice){NULL, 0}, 0);
            return;
        }
        act(c, &action);
        trace_replies(c);
    }
}

/* ---- the client ---- */

/* Numbers between commas, each of `width` bytes, behind their count. */
static void add_numbers(const char *list, unsigned width, pgw_buf *out)
{
    pgw_buf numbers = {0};
    int16_t count = 0;
    for (char *end; *list != '\0'; list = *end == ',' ? end + 1 : end) {
        long number = strtol(list, &end, 10);
        if (width == 2)
            pgw_buf_add_i16(&numbers, (int16_t)number);
        else
            pgw_buf_add_i32(&numbers, (int32_t)number);
        count++;
    }
    pgw_buf_add_i16(out, count);
    pgw_buf_add_slice(out, pgw_slice_buf(&numbers));
    pgw_buf_free(&numbers);
}

static void add_values(const char *list, pgw_buf *out)
{
    pgw_buf values = {0};
    int16_t count = 0;
    while (*list != '\0') {
        size_t len = strcspn(list, ",");
        bool null = len == 4 && memcmp(list, "null", 4) == 0;
        pgw_buf_add_i32(&values, null ? -1 : (int32_t)len);
        pgw_buf_add(&values, list, null ? 0 : len);
        list += len + (list[len] == ',');
        count++;
    }
    pgw_buf_add_i16(out, count);
    pgw_buf_add_slice(out, pgw_slice_buf(&values));
    pgw_buf_free(&values);
}

static void add_string(const char *text, pgw_buf *out)
{
    pgw_slice bytes = vector_bytes(text);
    pgw_buf_add_slice(out, bytes);
    pgw_buf_add_byte(out, '\0');
    exact_free(bytes);
}

static void add_body(char *const *part, pgw_buf *out)
{
    switch (part[0][0]) {
    case 'P':
        add_string(part[1], out);
        add_string(part[2], out);
        add_numbers(part[3], 4, out);
        break;
    case 'B':
        add_string(part[1], out);
        add_string(part[2], out);
        add_numbers(part[4], 2, out);
        add_values(part[3], out);
        add_numbers(part[5], 2, out);
        break;
    case 'D':
    case 'C':
        pgw_buf_add_byte(out, part[1][0]);
        add_string(part[2], out);
        break;
    case 'E':
        add_string(part[1], out);
        pgw_buf_add_i32(out, atoi(part[2]));
        break;
    case 'Q':
        add_string(part[1], out);
    }
}

static pgw_slice read_message(const char *line, char *type)
{
    char text[1024], *part[PARTS];
    snprintf(text, sizeof text, "%s", line);
    char *at = text;
    for (size_t i = 0; i < PARTS; i++) {
        part[i] = at;
        at += strcspn(at, "|");
        if (*at != '\0')
            *at++ = '\0';
    }
    *type = part[0][0];
    if (part[0][1] == '!') /* a body as it is */
        return vector_bytes(part[1]);
    pgw_buf out = {0};
    add_body(part, &out);
    pgw_slice body = exact(pgw_slice_buf(&out));
    pgw_buf_free(&out);
    return body;
}

static void report(void *data, pgw_buf *out)
{
    conversation *c = data;
    if (c->noted)
        pgw_write_parameter_status(PGW_LITERAL("a"), PGW_LITERAL("b"), out);
    c->noted = false;
}

static void begin_conversation(conversation *c)
{
    if (c->server != NULL)
        pgw_server_free(c->server);
    c->server = pgw_server_new(words_cut, NULL, LIMIT);
    pgw_server_on_ready(c->server, report, c);
}

static void say_message(conversation *c, const char *text)
{
    char type;
    c->body = read_message(text, &type);
    pgw_server_message(c->server, type, c->body);
}

static void say_overlong(conversation *c, char type)
{
    pgw_error error;
    pgw_fail(&error, "54000", "it is too long");
    pgw_server_overlong(c->server, type, &error);
}

/* Whether a line says which action fails next. */
static bool is_failure(conversation *c, const char *line)
{
    if (strncmp(line, "the next ", 9) != 0)
        return false;
    c->fails = strstr(line, "begin") != NULL   ? "begin"
               : strstr(line, "modes") != NULL ? "modes"
                                               : "commit";
    return true;
}

/* What is sent, or told to the server's half, and all that comes of it, up to what it wants next.
 */
static void say(conversation *c, const char *line)
{
    pgw_buf_clear(&c->trace);
    if (strcmp(line, "note") == 0)
        c->noted = true;
    else if (strncmp(line, "overlong ", 9) == 0)
        say_overlong(c, line[9]);
    else
        say_message(c, line);
    settle(c);
}

static void forget_body(conversation *c)
{
    exact_free(c->body);
    c->body = (pgw_slice){NULL, 0};
}

#endif
