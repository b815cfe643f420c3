#include "ydb/server/statements.h"

#include "protocol/types.h"
#include "protocol/value_parts.h"

bool pgw_cut_one(pgw_server *server, pgw_slice source, pgw_piece *out)
{
    pgw_script script = {0};
    pgw_error error;
    if (!server->cut(server->cut_data, source, &server->arena, &script, &error)) {
        pgw_refuse(server, &error);
        return false;
    }
    if (script.count > 1) {
        pgw_fail(&error, "42601", "cannot insert multiple commands into a prepared statement");
        pgw_refuse(server, &error);
        return false;
    }
    *out = script.count == 1 ? script.pieces[0] : (pgw_piece){.text = source};
    return true;
}

static bool check_types(const uint32_t *types, size_t count, pgw_error *error)
{
    if (count > PGW_MAX_PARAMETERS)
        return pgw_fail(error, "54000", "more than %d parameters", PGW_MAX_PARAMETERS);
    for (size_t i = 0; i < count; i++)
        if (types[i] == PGW_UNSPECIFIED || types[i] == PGW_UNKNOWN)
            return pgw_fail(error, "42P18", "could not determine data type of parameter $%zu",
                            i + 1);
    return true;
}

void pgw_analyzed(pgw_server *server, const uint32_t *types, size_t count, pgw_slice columns)
{
    pgw_statement *statement = server->parsed;
    bool empty = statement->piece.command == PGW_COMMAND_EMPTY;
    pgw_error error;
    if ((empty || check_types(types, count, &error)) &&
        pgw_statement_describe(&server->prepared, statement, types, count, columns, &error))
        server->then(server);
    else
        pgw_refuse(server, &error);
}

bool pgw_statement_can_be_executed(const pgw_statement *statement)
{
    pgw_command command = pgw_statement_command(statement);
    return command == PGW_COMMAND_READ || command == PGW_COMMAND_WRITE ||
           command == PGW_COMMAND_ALONE || command == PGW_COMMAND_SESSION;
}

static pgw_statement *statement_fetched(const pgw_server *server, pgw_slice name)
{
    const pgw_portal *cursor = pgw_prepared_portal(&server->prepared, name);
    bool reads = cursor != NULL && pgw_portal_command(cursor) == PGW_COMMAND_READ;
    return reads && cursor->returns_rows ? cursor->statement : NULL;
}

pgw_statement *pgw_statement_ordered(const pgw_server *server, const pgw_order *order,
                                     pgw_command command)
{
    if (command == PGW_COMMAND_FETCH)
        return statement_fetched(server, order->name);
    pgw_statement *statement = command == PGW_COMMAND_EXECUTE
                                   ? pgw_prepared_statement(&server->prepared, order->name)
                                   : NULL;
    return statement != NULL && pgw_statement_can_be_executed(statement) ? statement : NULL;
}

static pgw_slice columns_of_order(const pgw_server *server, const pgw_piece *piece)
{
    const pgw_statement *statement =
        piece->order != NULL ? pgw_statement_ordered(server, piece->order, piece->command) : NULL;
    return statement != NULL ? statement->columns : (pgw_slice){NULL, 0};
}

void pgw_analyze(pgw_server *server, pgw_then *then)
{
    pgw_statement *statement = server->parsed;
    pgw_command command = statement->piece.command;
    if (command == PGW_COMMAND_READ || command == PGW_COMMAND_WRITE ||
        command == PGW_COMMAND_ALONE || command == PGW_COMMAND_SESSION) {
        pgw_ask(server, PGW_ASK_ANALYZE, then);
        server->action.statement = statement;
        return;
    }
    server->then = then;
    pgw_analyzed(server, statement->types, statement->type_count,
                 columns_of_order(server, &statement->piece));
}

bool pgw_enter_parsed(pgw_server *server)
{
    pgw_slice name = server->parsed->named.name;
    pgw_error error;
    if (pgw_prepared_statement(&server->prepared, name) == NULL) {
        pgw_prepared_enter(&server->prepared, server->parsed);
        server->parsed = NULL;
        return true;
    }
    pgw_fail(&error, "42P05", "prepared statement \"%.*s\" already exists", PGW_SHOWN(name));
    pgw_refuse(server, &error);
    return false;
}

pgw_statement *pgw_statement_of(pgw_server *server, pgw_slice name)
{
    pgw_statement *statement = pgw_prepared_statement(&server->prepared, name);
    pgw_error error;
    if (statement != NULL)
        return statement;
    if (name.len == 0)
        pgw_fail(&error, "26000", "unnamed prepared statement does not exist");
    else
        pgw_fail(&error, "26000", "prepared statement \"%.*s\" does not exist", PGW_SHOWN(name));
    pgw_refuse(server, &error);
    return NULL;
}
