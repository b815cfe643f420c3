/*
 * fuzz_server: any messages at the server's half of the protocol, with any answers to what it asks
 * for. The first byte of a step chooses a message of a few that make sense, or bytes as they are;
 * another how an action ends. Whatever comes: replies are whole messages, each Query and Sync that
 * is not skipped has its ReadyForQuery, actions come in an order that a backend can follow, and
 * when all is over nothing is left.
 */
#include "protocol/frame.h"
#include "protocol/frontend.h"
#include "ydb/server/machine.h"
#include "ydb/server/server.h"
#include "tests/ydb/server/words.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LIMIT = 4096, NAMES = 4, TEXTS = 40, MOST_ACTIONS = 10000 };

typedef struct backend {
    pgw_server *server;
    pgw_reader input;
    bool open;   /* a transaction is */
    size_t live; /* runs that have not ended */
    size_t acts;
    unsigned ready, errors;
} backend;

static void require(bool holds)
{
    if (!holds)
        abort();
}

/* ---- replies ---- */

static void hear(backend *b)
{
    pgw_buf *out = pgw_server_output(b->server);
    pgw_slice rest = pgw_slice_buf(out);
    while (rest.len > 0) {
        pgw_frame frame;
        require(pgw_frame_next(rest, &frame) == PGW_FRAME_OK && frame.size <= rest.len);
        require(strchr("123CDEINTZnst", frame.type) != NULL);
        pgw_slice body = pgw_frame_body(rest, frame);
        b->errors += frame.type == 'E';
        b->ready += frame.type == 'Z';
        if (frame.type == 'Z')
            require(body.len == 1 && body.ptr[0] == pgw_server_status(b->server));
        rest = (pgw_slice){rest.ptr + frame.size, rest.len - frame.size};
    }
    pgw_buf_clear(out);
}

/* ---- actions ---- */

static void answer_failed(backend *b)
{
    pgw_error error;
    pgw_fail(&error, "XX000", "no");
    error.position = pgw_read_u8(&b->input) % 4;
    pgw_server_failed(b->server, &error);
}

static void answer_analyze(backend *b, const pgw_statement *statement)
{
    static const char column[] = "\0\1c\0\0\0\0\0\0\0\0\0\0\x19\xff\xff\xff\xff\xff\xff\0\0";
    uint32_t types[8] = {25, 25, 25, 25, 25, 25, 25, 25};
    unsigned how = pgw_read_u8(&b->input);
    size_t count = statement->type_count + how % 3;
    if (how > 200 || count > 8) {
        answer_failed(b);
        return;
    }
    if (how > 180)
        types[0] = 0;
    pgw_slice columns = {column, how & 4 ? sizeof column - 1 : 0};
    pgw_server_analyzed(b->server, types, count, columns);
}

/* Rows, as many as are wanted and the input says, and an end. */
static void answer_run(backend *b, const pgw_action *action)
{
    static const pgw_slice cells[] = {{"cell", 4}, {NULL, 0}};
    unsigned how = pgw_read_u8(&b->input);
    bool rows = action->portal->bind.statement.ptr == NULL ? how & 1 : action->portal->returns_rows;
    if (action->ask == PGW_ASK_RUN)
        require(++b->live > 0);
    if (action->portal->arguments != NULL)
        for (size_t i = 0; i < action->portal->statement->type_count; i++)
            require(action->portal->arguments[i].len > 0);
    if (action->portal->bind.statement.ptr == NULL && rows &&
        !pgw_server_columns(b->server, PGW_LITERAL("\0\0"))) {
        require(action->portal->arguments != NULL);
        return;
    }
    for (unsigned i = 0, count = rows ? how / 16 : 0; i < count; i++)
        if (!pgw_server_row(b->server, cells, 2)) {
            require(action->limit == i + 1 || i == 0); /* 0: its format is none */
            return;
        }
    b->live--;
    if (how & 2)
        answer_failed(b);
    else
        pgw_server_completed(b->server, how & 4 ? "SELECT 3" : "THAT");
}

static void answer_end(backend *b, const pgw_action *action)
{
    require(action->portal->live && b->live > 0);
    b->live--;
    pgw_server_done(b->server);
}

static void answer_control(backend *b, const pgw_action *action)
{
    bool fails = pgw_read_u8(&b->input) > 200;
    if (action->ask == PGW_ASK_SETTLE || action->ask == PGW_ASK_MODES) {
        require(b->open == (action->ask == PGW_ASK_MODES));
        pgw_server_done(b->server);
        return;
    }
    require(b->open == (action->ask != PGW_ASK_BEGIN));
    b->open = action->ask == PGW_ASK_BEGIN && !fails;
    if (fails)
        answer_failed(b);
    else
        pgw_server_done(b->server);
}

static void answer(backend *b, const pgw_action *action)
{
    require(b->acts++ < MOST_ACTIONS);
    if (action->ask == PGW_ASK_ANALYZE)
        answer_analyze(b, action->statement);
    else if (action->ask == PGW_ASK_RUN || action->ask == PGW_ASK_RESUME)
        answer_run(b, action);
    else if (action->ask == PGW_ASK_END)
        answer_end(b, action);
    else if (action->ask != PGW_ASK_BIND)
        answer_control(b, action);
    else if (pgw_read_u8(&b->input) > 200)
        answer_failed(b);
    else
        pgw_server_done(b->server);
}

/* False: the connection is closed. */
static bool settle(backend *b)
{
    for (;;) {
        hear(b);
        require(b->server->prepared.bytes <= LIMIT);
        pgw_action action = pgw_server_next(b->server);
        if (action.ask == PGW_ASK_MESSAGE || action.ask == PGW_ASK_CLOSE)
            return action.ask == PGW_ASK_MESSAGE;
        answer(b, &action);
    }
}

/* ---- messages ---- */

static pgw_slice name_of(backend *b)
{
    static const char *const names[NAMES] = {"", "a", "b", ""};
    return pgw_slice_str(names[pgw_read_u8(&b->input) % NAMES]);
}

static pgw_slice text_of(backend *b)
{
    static const char *const texts[TEXTS] = {"select 1",
                                             "insert 1",
                                             "insert 1; insert 2",
                                             "begin",
                                             "commit",
                                             "rollback",
                                             "commit and chain",
                                             "",
                                             "insert; commit; x",
                                             "savepoint a",
                                             "rollback to a",
                                             " vacuum ; ",
                                             "insert; select; insert",
                                             "start transaction",
                                             "rollback and chain",
                                             "begin; insert; select",
                                             "set a",
                                             "set a; insert; set b",
                                             "prepare a 25 as insert $1",
                                             "prepare b as select",
                                             "execute a x",
                                             "execute a x; execute b; execute a y",
                                             "execute b",
                                             "deallocate a",
                                             "deallocate all",
                                             "declare a cursor for select",
                                             "declare b binary cursor for select",
                                             "begin; declare a cursor for select; fetch 1 a",
                                             "fetch 1 a",
                                             "fetch 3 b",
                                             "fetch all a",
                                             "move 2 a",
                                             "move all b",
                                             "fetch all a; close a; fetch 1 b",
                                             "close a",
                                             "close all",
                                             "discard all",
                                             "discard plans",
                                             "declare a scroll",
                                             "set a; begin; execute a x; set b"};
    return pgw_slice_str(texts[pgw_read_u8(&b->input) % TEXTS]);
}

static void write_bind(backend *b, pgw_buf *out)
{
    static const char *const values[] = {"\0\0\0\0\0\0", "\0\0\0\1\0\0\0\1x\0\0",
                                         "\0\1\0\1\0\1\xff\xff\xff\xff\0\1\0\1",
                                         "\0\0\0\1\0\0\0\1x\0\1\0\7"};
    static const size_t sizes[] = {6, 11, 14, 13};
    unsigned which = pgw_read_u8(&b->input) % 4;
    size_t begun = pgw_begin(out, 'B');
    pgw_slice names[] = {name_of(b), name_of(b)};
    for (size_t i = 0; i < 2; i++) {
        pgw_buf_add_slice(out, names[i]);
        pgw_buf_add_byte(out, '\0');
    }
    pgw_buf_add(out, values[which], sizes[which]);
    pgw_end_small(out, begun);
}

static void write_noise(backend *b, unsigned how, pgw_buf *out)
{
    static const char types[] = "QPBEDCHSXFdcfp";
    size_t len = pgw_read_u8(&b->input), left = (size_t)(b->input.end - b->input.at);
    size_t begun = pgw_begin(out, types[how % (sizeof types - 1)]);
    pgw_buf_add_slice(out, pgw_read_bytes(&b->input, len < left ? len : left));
    pgw_end_small(out, begun);
}

static void write_message(backend *b, pgw_buf *out)
{
    unsigned what = pgw_read_u8(&b->input), how = what / 16;
    uint32_t type = how & 1 ? 23 : 0;
    switch (what % 9) {
    case 0:
        pgw_certainly(pgw_write_query(text_of(b), out));
        return;
    case 1:
        pgw_certainly(pgw_write_parse(name_of(b), text_of(b), &type, how / 2 % 2, out));
        return;
    case 2:
        write_bind(b, out);
        return;
    case 3:
        pgw_write_execute(name_of(b), how % 4, out);
        return;
    case 4:
        pgw_write_describe(how & 1 ? 'S' : 'P', name_of(b), out);
        return;
    case 5:
        pgw_write_close(how & 1 ? 'S' : 'P', name_of(b), out);
        return;
    case 6:
        pgw_write_flush(out);
        return;
    case 7:
        pgw_write_sync(out);
        return;
    default:
        write_noise(b, how, out);
    }
}

/* One message, in memory of its own size. */
static bool step(backend *b)
{
    pgw_buf out = {0};
    write_message(b, &out);
    char *body = pgw_strndup(out.ptr + PGW_HEADER, out.len - PGW_HEADER);
    bool skipping = b->server->skipping, sync = out.ptr[0] == 'S';
    unsigned ready = b->ready, errors = b->errors;
    pgw_server_message(b->server, out.ptr[0], (pgw_slice){body, out.len - PGW_HEADER});
    bool goes_on = settle(b);
    if (goes_on && (sync || (out.ptr[0] == 'Q' && !b->server->skipping)))
        require(b->ready == ready + 1);
    else
        require(b->ready <= ready + (out.ptr[0] == 'F'));
    require(!skipping || sync || !goes_on || b->errors == errors);
    if (goes_on && sync && b->server->block == PGW_BLOCK_NONE)
        require(!b->open && b->live == 0);
    pgw_buf_free(&out);
    free(body);
    return goes_on;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    backend b = {.server = pgw_server_new(words_cut, NULL, LIMIT),
                 .input = pgw_reader_of((pgw_slice){(const char *)data, size})};
    while (!pgw_reader_done(&b.input) && !b.input.failed && step(&b))
        ;
    pgw_server_free(b.server);
    return 0;
}
