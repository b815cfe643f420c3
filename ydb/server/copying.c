#include "ydb/server/copying.h"

#include "protocol/frontend.h"
#include "protocol/value_parts.h"

#include <string.h>

/* Writes CopyInResponse or CopyOutResponse; all columns are in one format. */
static void write_response(pgw_server *server, char type, bool binary, size_t columns)
{
    pgw_buf *out = &server->out;
    size_t begun = pgw_begin(out, type);
    pgw_buf_add_byte(out, binary);
    pgw_buf_add_i16(out, (int16_t)columns);
    for (size_t i = 0; i < columns; i++)
        pgw_buf_add_i16(out, binary);
    pgw_certainly(pgw_end(out, begun));
}

/* --- from the client --- */

static void await(pgw_server *server)
{
    pgw_ask(server, PGW_ASK_MESSAGE, NULL);
}

/* Whether the COPY is alone in its text: a statement behind it would be read while data comes. */
static bool is_last(const pgw_server *server)
{
    return server->running != &server->lone || server->script.count == 1;
}

bool pgw_copying_begin(pgw_server *server, bool binary, size_t columns)
{
    pgw_error error;
    if (!is_last(server)) {
        pgw_fail(&error, "0A000", "COPY FROM STDIN cannot stand before other statements");
        pgw_error_hint(&error, "Send COPY by itself.");
        pgw_refuse(server, &error);
        return false;
    }
    server->copying = true;
    server->copied = server->then;
    write_response(server, 'G', binary, columns);
    await(server);
    return true;
}

static void store(pgw_server *server)
{
    pgw_portal *portal = server->running;
    server->copying = false;
    pgw_ask(server, PGW_ASK_STORE, server->copied);
    server->action.portal = portal;
}

static void refuse_fail(pgw_server *server)
{
    pgw_error error;
    pgw_slice reason = {server->body.ptr, strnlen(server->body.ptr, server->body.len)};
    pgw_fail(&error, "57014", "COPY from stdin failed: %.*s", PGW_SHOWN(reason));
    pgw_refuse(server, &error);
}

static void refuse_type(pgw_server *server)
{
    pgw_error error;
    pgw_fail(&error, "08P01", "unexpected message type 0x%02X during COPY from stdin",
             (unsigned char)server->type);
    pgw_refuse(server, &error);
}

void pgw_copying_take(pgw_server *server)
{
    switch (server->type) {
    case 'd':
        pgw_ask(server, PGW_ASK_PUT, await);
        server->action.text = server->body;
        return;
    case 'c':
        store(server);
        return;
    case 'f':
        refuse_fail(server);
        return;
    case 'H':
    case 'S':
        return;
    case 'X':
        pgw_ask(server, PGW_ASK_CLOSE, NULL);
        return;
    default:
        refuse_type(server);
    }
}

/* --- to the client --- */

void pgw_copying_out(pgw_server *server, bool binary, size_t columns)
{
    server->gives_data = true;
    write_response(server, 'H', binary, columns);
}

void pgw_copying_give(pgw_server *server, pgw_slice bytes)
{
    size_t begun = pgw_begin(&server->out, 'd');
    pgw_buf_add_slice(&server->out, bytes);
    pgw_certainly(pgw_end(&server->out, begun));
}

void pgw_copying_out_end(pgw_server *server)
{
    if (!server->gives_data)
        return;
    server->gives_data = false;
    pgw_certainly(pgw_end(&server->out, pgw_begin(&server->out, 'c')));
}
