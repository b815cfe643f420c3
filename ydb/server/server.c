#include "ydb/server/server.h"

#include "protocol/frame.h"
#include "ydb/server/copying.h"
#include "ydb/server/extended.h"
#include "ydb/server/machine.h"
#include "ydb/server/query.h"
#include "ydb/server/transaction.h"
#include "ydb/server/running.h"
#include "ydb/server/statements.h"
#include "protocol/utf8.h"

#include <stdlib.h>
#include <string.h>

pgw_server *pgw_server_new(pgw_cut *cut, void *cut_data, size_t limit)
{
    pgw_server *server = pgw_calloc(1, sizeof *server);
    server->cut = cut;
    server->cut_data = cut_data;
    server->prepared.limit = limit;
    return server;
}

void pgw_server_free(pgw_server *server)
{
    if (server->parsed != NULL)
        pgw_statement_release(&server->prepared, server->parsed);
    pgw_prepared_free(&server->prepared);
    pgw_arena_free(&server->arena);
    pgw_savepoints_free(&server->savepoints);
    pgw_buf_free(&server->out);
    free(server);
}

pgw_action pgw_server_next(const pgw_server *server)
{
    pgw_portal *ending = server->prepared.ending;
    return ending != NULL ? (pgw_action){.ask = PGW_ASK_END, .portal = ending} : server->action;
}

/* ---- messages ---- */

static void refuse_function_call(pgw_server *server)
{
    pgw_error error;
    if (server->block == PGW_BLOCK_FAILED) {
        pgw_refuse_failed(server);
        return;
    }
    pgw_fail(&error, "0A000", "function calls are not supported");
    pgw_refuse(server, &error);
}

static void flush(pgw_server *server)
{
    if (server->body.len > 0)
        pgw_refuse_malformed(server);
    else
        pgw_finish(server);
}

static void close_connection(pgw_server *server)
{
    server->held = NULL;
    pgw_ask(server, PGW_ASK_CLOSE, NULL);
}

static void refuse_type(pgw_server *server)
{
    pgw_error error;
    pgw_fail(&error, "08P01", "invalid frontend message type %d", (unsigned char)server->type);
    pgw_error_write(&error, "FATAL", &server->out);
    close_connection(server);
}

/* The function for a type of message; NULL: no such type. COPY's messages are ignored outside of
 * COPY, for the client may not have heard yet that it has failed. */
static pgw_then *handler_of(char type)
{
    static pgw_then *const handlers[128] = {
        ['Q'] = pgw_query,
        ['P'] = pgw_extended_parse,
        ['B'] = pgw_extended_bind,
        ['E'] = pgw_extended_execute,
        ['D'] = pgw_extended_describe,
        ['C'] = pgw_extended_close,
        ['S'] = pgw_extended_sync,
        ['F'] = refuse_function_call,
        ['H'] = flush,
        ['X'] = close_connection,
        ['d'] = pgw_finish,
        ['c'] = pgw_finish,
        ['f'] = pgw_finish,
    };
    return (unsigned char)type < 128 ? handlers[(unsigned char)type] : NULL;
}

static void dispatch(pgw_server *server)
{
    char type = server->type;
    if (type == 'S')
        server->skipping = false;
    if (server->skipping && type != 'X') {
        pgw_finish(server);
        return;
    }
    server->extended = strchr("PBDECH", type) != NULL;
    handler_of(type)(server);
}

/* Runs the Execute that waited, if the message tells what follows it. */
static void run_held(pgw_server *server)
{
    bool alone = server->type == 'S' && server->body.len == 0;
    if (server->type == 'X' || handler_of(server->type) == pgw_finish)
        dispatch(server);
    else
        pgw_extended_run_held(server, alone, dispatch);
}

void pgw_server_message(pgw_server *server, char type, pgw_slice body)
{
    server->type = type;
    server->body = body;
    if (handler_of(type) == NULL)
        refuse_type(server);
    else if (body.len > pgw_frame_limit(type))
        close_connection(server); /* without an error, as PostgreSQL does */
    else if (server->copying)
        pgw_copying_take(server);
    else if (server->held != NULL)
        run_held(server);
    else
        dispatch(server);
}

static void refuse_overlong(pgw_server *server)
{
    server->extended = server->type != 'Q';
    if (server->skipping)
        pgw_finish(server);
    else
        pgw_refuse(server, &server->overlong);
}

void pgw_server_overlong(pgw_server *server, char type, const pgw_error *error)
{
    server->type = type;
    server->overlong = *error;
    if (server->copying)
        pgw_refuse(server, error);
    else if (type == 'd')
        pgw_finish(server);
    else if (server->held != NULL)
        pgw_extended_run_held(server, false, refuse_overlong);
    else
        refuse_overlong(server);
}

/* ---- answers ---- */

void pgw_server_analyzed(pgw_server *server, const uint32_t *types, size_t count, pgw_slice columns)
{
    pgw_analyzed(server, types, count, columns);
}

bool pgw_server_columns(pgw_server *server, pgw_slice columns)
{
    pgw_run_columns(server, columns);
    return server->running != NULL;
}

bool pgw_server_copy_in(pgw_server *server, bool binary, size_t columns)
{
    return pgw_copying_begin(server, binary, columns);
}

bool pgw_server_is_copying(const pgw_server *server)
{
    return server->copying;
}

void pgw_server_copy_out(pgw_server *server, bool binary, size_t columns)
{
    pgw_copying_out(server, binary, columns);
}

void pgw_server_copy_bytes(pgw_server *server, pgw_slice bytes)
{
    pgw_copying_give(server, bytes);
}

bool pgw_server_row(pgw_server *server, const pgw_slice *cells, size_t count)
{
    return pgw_run_row(server, cells, count);
}

void pgw_server_completed(pgw_server *server, const char *tag)
{
    pgw_copying_out_end(server);
    pgw_run_completed(server, tag);
}

void pgw_server_done(pgw_server *server)
{
    if (server->prepared.ending != NULL)
        pgw_portal_has_ended(&server->prepared);
    else
        server->then(server);
}

/* The statement in whose text the position of an error is. */
static const pgw_statement *statement_under_way(const pgw_server *server)
{
    return server->running != NULL ? server->running->statement : server->parsed;
}

static void fail(pgw_server *server, pgw_error error)
{
    const pgw_statement *statement = statement_under_way(server);
    if (server->running != NULL && server->running->arguments != NULL && statement->type_count > 0)
        error.position = 0; /* a position in a text that no client wrote */
    if (statement != NULL && error.position > 0) {
        size_t before = (size_t)(statement->piece.text.ptr - statement->source.ptr);
        error.position += statement->before + pgw_characters(statement->source, before, true);
    }
    if (server->running != NULL)
        server->running->live = false;
    pgw_refuse(server, &error);
}

void pgw_server_failed(pgw_server *server, const pgw_error *error)
{
    if (server->prepared.ending != NULL || server->action.ask == PGW_ASK_ROLLBACK ||
        server->action.ask == PGW_ASK_SETTLE)
        pgw_server_done(server);
    else if (server->action.ask == PGW_ASK_BEGIN && server->action.chain)
        pgw_transaction_chain_failed(server);
    else
        fail(server, *error);
}

void pgw_server_failed_with(pgw_server *server, const pgw_error *error, pgw_slice fields)
{
    server->details = fields;
    pgw_server_failed(server, error);
    server->details = (pgw_slice){NULL, 0};
}

void pgw_server_on_ready(pgw_server *server, pgw_report *report, void *data)
{
    server->report = report;
    server->report_data = data;
}

pgw_buf *pgw_server_output(pgw_server *server)
{
    return &server->out;
}

char pgw_server_status(const pgw_server *server)
{
    return server->block == PGW_BLOCK_EXPLICIT ? 'T'
           : server->block == PGW_BLOCK_FAILED ? 'E'
                                               : 'I';
}
