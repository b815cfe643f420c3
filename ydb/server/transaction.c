#include "ydb/server/transaction.h"

#include "protocol/backend.h"
#include "protocol/value_parts.h"

static bool is_client_block(const pgw_server *server)
{
    return server->block == PGW_BLOCK_EXPLICIT || server->block == PGW_BLOCK_FAILED;
}

static void refuse_outside(pgw_server *server, const char *command, const char *more)
{
    pgw_error error;
    pgw_fail(&error, "25P01", "%s%s can only be used in transaction blocks", command, more);
    pgw_refuse(server, &error);
}

/* The savepoint's name as stored, cut from the text again, for a statement keeps only its text. */
static pgw_slice savepoint_of(pgw_server *server, const pgw_piece *piece)
{
    pgw_script script;
    pgw_error error;
    bool cut = server->cut(server->cut_data, piece->text, &server->arena, &script, &error);
    return cut && script.count == 1 ? script.pieces[0].name : (pgw_slice){NULL, 0};
}

static bool takes_savepoint(pgw_server *server, const pgw_piece *piece)
{
    pgw_error error;
    pgw_savepoints *savepoints = &server->savepoints;
    pgw_slice name = savepoint_of(server, piece);
    bool sets = piece->command == PGW_COMMAND_SAVEPOINT;
    bool there = sets || pgw_savepoints_have(savepoints, name);
    if (!there)
        pgw_fail(&error, "3B001", "savepoint \"%.*s\" does not exist", PGW_SHOWN(name));
    else if (piece->command == PGW_COMMAND_ROLLBACK_TO)
        pgw_fail(&error, "0A000", "ROLLBACK TO SAVEPOINT is not supported");
    else if (sets ? pgw_savepoints_add(savepoints, name) : pgw_savepoints_release(savepoints, name))
        return true;
    else
        pgw_fail(&error, "53200", "out of memory: too many savepoints");
    pgw_refuse(server, &error);
    return false;
}

bool pgw_transaction_takes(pgw_server *server, const pgw_piece *piece)
{
    const pgw_command command = piece->command;
    if (server->block == PGW_BLOCK_FAILED && !pgw_command_exits(command))
        pgw_refuse_failed(server);
    else if (pgw_command_is_savepoint(command) && !is_client_block(server))
        refuse_outside(server, pgw_command_tag(command), "");
    else
        return !pgw_command_is_savepoint(command) || takes_savepoint(server, piece);
    return false;
}

static void complete(pgw_server *server)
{
    pgw_write_tag(server->control_tag, &server->out);
    server->after(server);
}

static void on_begun(pgw_server *server)
{
    server->block = PGW_BLOCK_EXPLICIT;
    server->unsettled = false;
    complete(server);
}

void pgw_transaction_chain_failed(pgw_server *server)
{
    server->block = PGW_BLOCK_FAILED;
    server->unsettled = false;
    complete(server);
}

static void begin(pgw_server *server)
{
    if (server->block == PGW_BLOCK_EXPLICIT)
        pgw_warn(server, "25001", "there is already a transaction in progress");
    pgw_ask(server, server->block == PGW_BLOCK_NONE ? PGW_ASK_BEGIN : PGW_ASK_MODES, on_begun);
    server->action.text = server->control.text;
}

static void on_ended(pgw_server *server)
{
    if (!server->control.chain) {
        complete(server);
        return;
    }
    pgw_ask(server, PGW_ASK_BEGIN, on_begun);
    server->action.chain = true;
}

/* The transaction or group ends, even if its COMMIT fails: portals and savepoints go. */
static void forget(pgw_server *server)
{
    pgw_portals_drop(&server->prepared, NULL);
    pgw_savepoints_free(&server->savepoints);
    server->block = PGW_BLOCK_NONE;
    server->piped = false;
}

static void end(pgw_server *server)
{
    pgw_block was = server->block;
    bool commits = server->control.command == PGW_COMMAND_COMMIT;
    if (!is_client_block(server) && server->control.chain) {
        refuse_outside(server, server->control_tag, " AND CHAIN");
        return;
    }
    if (!is_client_block(server))
        pgw_warn(server, "25P01", "there is no transaction in progress");
    if (was == PGW_BLOCK_FAILED)
        server->control_tag = "ROLLBACK";
    forget(server);
    if (was == PGW_BLOCK_EXPLICIT || was == PGW_BLOCK_IMPLICIT)
        pgw_ask(server, commits ? PGW_ASK_COMMIT : PGW_ASK_ROLLBACK, on_ended);
    else
        pgw_settle(server, commits, on_ended);
}

void pgw_transaction_control(pgw_server *server, const pgw_piece *piece, pgw_then *after)
{
    server->after = after;
    server->control = *piece;
    server->control_tag = pgw_command_tag(piece->command);
    if (piece->command == PGW_COMMAND_BEGIN || piece->command == PGW_COMMAND_START)
        begin(server);
    else
        end(server);
}

bool pgw_transaction_is_due(const pgw_server *server, pgw_command command)
{
    return server->block == PGW_BLOCK_NONE && command == PGW_COMMAND_WRITE;
}

static void on_opened(pgw_server *server)
{
    server->block = PGW_BLOCK_IMPLICIT;
    server->unsettled = false;
    server->after(server);
}

void pgw_transaction_open(pgw_server *server, pgw_then *after)
{
    server->after = after;
    pgw_ask(server, PGW_ASK_BEGIN, on_opened);
}

void pgw_transaction_close(pgw_server *server, pgw_then *after)
{
    if (is_client_block(server)) {
        after(server);
        return;
    }
    pgw_block was = server->block;
    forget(server);
    if (was == PGW_BLOCK_IMPLICIT)
        pgw_ask(server, PGW_ASK_COMMIT, after);
    else
        pgw_settle(server, true, after);
}
