#include "ydb/server/query.h"

#include "protocol/backend.h"
#include "ydb/server/orders.h"
#include "ydb/server/running.h"
#include "ydb/server/transaction.h"

static void run_next(pgw_server *server);

static const pgw_piece *piece_of(const pgw_server *server)
{
    return &server->script.pieces[server->at];
}

static bool is_last(const pgw_server *server)
{
    return server->at + 1 == server->script.count;
}

static void go_on(pgw_server *server)
{
    if (is_last(server)) {
        pgw_ready(server);
        return;
    }
    server->at++;
    run_next(server);
}

static void write_tag(pgw_server *server)
{
    pgw_run_write_tag(server, &server->lone);
    go_on(server);
}

/* Drops the unnamed portal, for a Query's statement takes its place; not if the statement fails
 * before it is run. */
static void drop_unnamed(pgw_server *server)
{
    pgw_portal *portal = pgw_prepared_portal(&server->prepared, PGW_LITERAL(""));
    if (portal != NULL)
        pgw_portal_drop(&server->prepared, portal);
}

/* A statement has been run; the last one's tag is written when all have been committed. */
static void on_ran(pgw_server *server)
{
    drop_unnamed(server);
    if (is_last(server))
        pgw_transaction_close(server, write_tag);
    else
        write_tag(server);
}

/* Makes server->lone the portal of the Query's statement; for EXECUTE, of the statement that it
 * names, with its arguments. */
static void set_lone(pgw_server *server)
{
    const pgw_piece *piece = piece_of(server);
    pgw_slice source = server->lone_statement.source;
    server->lone_statement = (pgw_statement){.source = source, .piece = *piece};
    server->lone = (pgw_portal){.statement = &server->lone_statement, .borrowed = true};
    if (piece->command != PGW_COMMAND_EXECUTE)
        return;
    server->lone.statement = pgw_prepared_statement(&server->prepared, piece->order->name);
    server->lone.arguments = piece->order->arguments;
}

static void run(pgw_server *server)
{
    set_lone(server);
    pgw_run(server, &server->lone, 0, on_ran);
}

static void carry_out(pgw_server *server)
{
    set_lone(server);
    pgw_order_carry_out(server, &server->lone, 0, on_ran);
}

static void control(pgw_server *server, const pgw_piece *piece)
{
    drop_unnamed(server);
    pgw_transaction_control(server, piece, go_on);
}

static void run_command(pgw_server *server, pgw_command command)
{
    if (!is_last(server) && pgw_transaction_is_due(server, command))
        pgw_transaction_open(server, run);
    else
        run(server);
}

static void run_next(pgw_server *server)
{
    const pgw_piece *piece = piece_of(server);
    if (!pgw_transaction_takes(server, piece))
        return;
    if (pgw_command_controls(piece->command)) {
        control(server, piece);
    } else if (piece->command == PGW_COMMAND_EXECUTE) {
        const pgw_statement *statement = pgw_order_executed(server, piece->order);
        if (statement != NULL)
            run_command(server, statement->piece.command);
    } else if (pgw_command_has_order(piece->command)) {
        carry_out(server);
    } else {
        run_command(server, piece->command);
    }
}

static void answer_empty(pgw_server *server)
{
    pgw_write_empty_query(&server->out);
    pgw_ready(server);
}

void pgw_query(pgw_server *server)
{
    pgw_slice text;
    pgw_error error;
    bool whole = pgw_query_decode(server->body, &text);
    if (!pgw_is_text(server, text))
        return;
    if (!whole) {
        pgw_refuse_malformed(server);
        return;
    }
    pgw_prepared_close(&server->prepared, PGW_LITERAL(""));
    server->at = 0;
    server->lone_statement.source = text;
    if (!server->cut(server->cut_data, text, &server->arena, &server->script, &error))
        pgw_refuse(server, &error);
    else if (server->script.count == 0)
        pgw_transaction_close(server, answer_empty);
    else
        run_next(server);
}
