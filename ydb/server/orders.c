#include "ydb/server/orders.h"

#include "protocol/backend.h"
#include "ydb/server/running.h"
#include "ydb/server/statements.h"
#include "protocol/utf8.h"
#include "protocol/value_parts.h"

#include <inttypes.h>
#include <stdio.h>

enum { ALL = UINT32_MAX };

static const pgw_slice nothing = {NULL, 0};

/* Refuses with the message: `what`, the name in quotes, `why`. */
static void refuse(pgw_server *server, const char *sqlstate, const char *what, pgw_slice name,
                   const char *why)
{
    pgw_error error;
    pgw_fail(&error, sqlstate, "%s \"%.*s\"%s", what, PGW_SHOWN(name), why);
    pgw_refuse(server, &error);
}

static void refuse_change(pgw_server *server)
{
    pgw_error error;
    pgw_fail(&error, "0A000", "cached plan must not change result type");
    pgw_refuse(server, &error);
}

static bool is_queried(const pgw_server *server, const pgw_portal *portal)
{
    return portal == &server->lone;
}

/* The text that the order stands in. */
static pgw_slice source_of(const pgw_portal *portal)
{
    return (portal->order != NULL ? portal->order : portal->statement)->source;
}

/* The order that is the portal's statement, cut again from its text; NULL: refused. */
static const pgw_order *order_of(pgw_server *server, const pgw_portal *portal)
{
    pgw_piece piece;
    if (is_queried(server, portal))
        return server->script.pieces[server->at].order;
    if (!pgw_cut_one(server, source_of(portal), &piece))
        return NULL;
    return piece.order;
}

static void complete(pgw_server *server, const char *more)
{
    pgw_portal *portal = server->orderer;
    snprintf(portal->tag, sizeof portal->tag, "%s%s", pgw_command_tag(pgw_portal_command(portal)),
             more);
    portal->ended = true;
    server->ordered(server);
}

/* ---- PREPARE, DEALLOCATE ---- */

/* Makes the inner statement of PREPARE or DECLARE the one under analysis. False: refused. */
static bool parse_inner(pgw_server *server, pgw_slice name)
{
    const pgw_order *order = server->order;
    pgw_slice source = source_of(server->orderer);
    pgw_error error;
    pgw_buf types = {0};
    for (size_t i = 0; i < order->count; i++)
        pgw_buf_add_i32(&types, (int32_t)order->types[i]);
    pgw_parse parse = {.name = name,
                       .query = order->text,
                       .types = pgw_arena_keep(&server->arena, &types),
                       .type_count = order->count};
    server->parsed = pgw_statement_make(&server->prepared, &parse, &error);
    if (server->parsed == NULL) {
        pgw_refuse(server, &error);
        return false;
    }
    server->parsed->piece.command = order->command;
    server->parsed->ordered = true;
    server->parsed->before = pgw_characters(source, (size_t)(order->text.ptr - source.ptr), true);
    return true;
}

static void on_prepared(pgw_server *server)
{
    if (pgw_enter_parsed(server))
        complete(server, "");
}

static void prepare(pgw_server *server)
{
    if (parse_inner(server, server->order->name))
        pgw_analyze(server, on_prepared);
}

static void deallocate(pgw_server *server)
{
    pgw_slice name = server->order->name;
    if (name.len == 0) {
        pgw_prepared_close_all(&server->prepared, false);
        complete(server, " ALL");
    } else if (pgw_statement_of(server, name) != NULL) {
        pgw_prepared_close(&server->prepared, name);
        complete(server, "");
    }
}

/* ---- EXECUTE ---- */

/* Whether an EXECUTE's arguments fit; a statement without parameters takes any, unread. */
static bool takes_arguments(const pgw_statement *statement, const pgw_order *order,
                            pgw_error *error)
{
    if (statement->type_count == 0)
        return true;
    if (order->count != statement->type_count) {
        pgw_fail(error, "42601", "wrong number of parameters for prepared statement \"%.*s\"",
                 PGW_SHOWN(order->name));
        pgw_error_detail(error, "Expected %zu parameters but got %zu.", statement->type_count,
                         order->count);
        return false;
    }
    if (order->refusal != NULL)
        *error = *order->refusal;
    return order->refusal == NULL;
}

pgw_statement *pgw_order_executed(pgw_server *server, const pgw_order *order)
{
    pgw_statement *statement = pgw_statement_of(server, order->name);
    pgw_error error;
    if (statement == NULL)
        return NULL;
    if (!pgw_statement_can_be_executed(statement))
        refuse(server, "0A000", "EXECUTE cannot run prepared statement", order->name, "");
    else if (!takes_arguments(statement, order, &error))
        pgw_refuse(server, &error);
    else
        return statement;
    return NULL;
}

bool pgw_order_resolve(pgw_server *server, pgw_portal *portal)
{
    const pgw_order *order = order_of(server, portal);
    pgw_statement *statement = order != NULL ? pgw_order_executed(server, order) : NULL;
    if (statement == NULL)
        return false;
    pgw_slice bound = portal->order != NULL ? portal->statement->columns : nothing;
    if (!pgw_row_descriptions_agree(statement->columns, bound)) {
        refuse_change(server);
        return false;
    }
    pgw_portal_point(&server->prepared, portal, statement);
    portal->arguments = order->arguments;
    return true;
}

bool pgw_order_bind(pgw_server *server, pgw_portal *portal)
{
    pgw_command command = pgw_portal_command(portal);
    if (command != PGW_COMMAND_EXECUTE && command != PGW_COMMAND_FETCH)
        return true;
    const pgw_order *order = order_of(server, portal);
    if (order == NULL)
        return false;
    pgw_statement *statement = pgw_statement_ordered(server, order, command);
    portal->returns_rows = false;
    if (statement != NULL)
        pgw_portal_point(&server->prepared, portal, statement);
    return true;
}

/* ---- DECLARE, CLOSE ---- */

static bool is_in_block(const pgw_server *server)
{
    return server->block == PGW_BLOCK_EXPLICIT || server->script.count > 1;
}

static void open_cursor(pgw_server *server, pgw_statement *statement, const pgw_bind *from)
{
    const pgw_order *order = server->order;
    pgw_bind bind = *from;
    pgw_error error;
    bind.portal = order->name;
    bind.results = nothing;
    pgw_portal *cursor = NULL;
    if (!is_in_block(server))
        pgw_fail(&error, "25P01", "DECLARE CURSOR can only be used in transaction blocks");
    else if (pgw_prepared_portal(&server->prepared, order->name) != NULL)
        pgw_fail(&error, "42P03", "cursor \"%.*s\" already exists", PGW_SHOWN(order->name));
    else
        cursor = pgw_portal_make(&server->prepared, statement, &bind, &error);
    if (cursor == NULL) {
        pgw_refuse(server, &error);
        return;
    }
    cursor->cursor = true;
    cursor->binary = order->binary;
    cursor->returns_rows = statement->columns.len > 0;
    if (server->parsed != NULL)
        pgw_statement_release(&server->prepared, server->parsed);
    server->parsed = NULL;
    complete(server, "");
}

static void on_analyzed(pgw_server *server)
{
    static const pgw_bind none = {0};
    open_cursor(server, server->parsed, &none);
}

static void declare(pgw_server *server)
{
    pgw_portal *portal = server->orderer;
    if (!is_queried(server, portal))
        open_cursor(server, portal->statement, &portal->bind);
    else if (parse_inner(server, nothing))
        pgw_analyze(server, on_analyzed);
}

static pgw_portal *cursor_of(pgw_server *server)
{
    pgw_slice name = server->order->name;
    pgw_portal *cursor = pgw_prepared_portal(&server->prepared, name);
    if (cursor == NULL)
        refuse(server, "34000", "cursor", name, " does not exist");
    return cursor;
}

static void close_cursor(pgw_server *server)
{
    if (server->order->name.len == 0) {
        pgw_portals_drop(&server->prepared, server->orderer);
        complete(server, " ALL");
        return;
    }
    pgw_portal *cursor = cursor_of(server);
    if (cursor == NULL)
        return;
    if (cursor == server->orderer) {
        refuse(server, "24000", "cannot drop active portal", server->order->name, "");
        return;
    }
    pgw_portal_drop(&server->prepared, cursor);
    complete(server, "");
}

/* ---- FETCH, MOVE ---- */

bool pgw_cursor_is_free(pgw_server *server, const pgw_portal *cursor)
{
    pgw_error error;
    if (cursor->owed_to == NULL)
        return true;
    pgw_fail(&error, "0A000", "an earlier FETCH from cursor \"%.*s\" has rows left",
             PGW_SHOWN(cursor->named.name));
    pgw_error_hint(&error, "Execute that FETCH to its end first, or without a limit of rows.");
    pgw_refuse(server, &error);
    return false;
}

/* Whether the FETCH can have the cursor's next rows; else it is refused. */
static bool can_be_fetched(pgw_server *server, const pgw_portal *cursor)
{
    const pgw_portal *portal = server->orderer;
    if (pgw_portal_command(cursor) != PGW_COMMAND_READ || !cursor->returns_rows) {
        refuse(server, "0A000", "cannot fetch from portal", server->order->name,
               ", which is no query");
        return false;
    }
    if (portal->left > 0 && cursor->owed_to != portal) {
        refuse(server, "0A000", "cursor", server->order->name,
               " is not where this FETCH has left it");
        return false;
    }
    if (portal->order != NULL &&
        !pgw_row_descriptions_agree(portal->statement->columns, cursor->statement->columns)) {
        refuse_change(server);
        return false;
    }
    return cursor->owed_to == portal || pgw_cursor_is_free(server, cursor);
}

/* The cursor has given, or passed, the rows of this FETCH or MOVE, or all that there were. */
static void on_fetched(pgw_server *server)
{
    pgw_portal *portal = server->orderer, *cursor = server->fetched;
    char count[24];
    pgw_take_back(server);
    bool suspended = server->fetch_limit > 0 && server->rows == server->fetch_limit;
    if (portal->left != ALL)
        portal->left -= (uint32_t)server->rows;
    portal->begun = true;
    cursor->owed_to = suspended && portal->left > 0 ? portal : NULL;
    if (suspended) {
        pgw_write_portal_suspended(&server->out);
        pgw_finish(server);
        return;
    }
    portal->left = 0;
    snprintf(count, sizeof count, " %" PRIu64, server->rows);
    complete(server, count);
}

/* The result formats of a FETCH's rows: its Bind's, or of a Query binary if the cursor is. */
static pgw_slice results_of(const pgw_server *server, const pgw_portal *cursor)
{
    if (!is_queried(server, server->orderer))
        return server->orderer->bind.results;
    return cursor->binary ? PGW_LITERAL("\0\1\0\1") : nothing;
}

static void fetch(pgw_server *server, pgw_portal *cursor)
{
    pgw_portal *portal = server->orderer;
    bool moves = pgw_portal_command(portal) == PGW_COMMAND_MOVE;
    pgw_slice results = moves ? nothing : results_of(server, cursor);
    if (!portal->begun)
        portal->left = server->order->rows > 0 ? server->order->rows : ALL;
    if (is_queried(server, portal) && !moves) {
        pgw_write_row_description(cursor->statement->columns, results, &server->out);
        portal->returns_rows = true;
    }
    uint32_t limit = moves ? 0 : server->fetch_limit, left = portal->left;
    server->fetch_limit = limit;
    if (limit == 0 || limit > left)
        limit = left == ALL ? 0 : left;
    pgw_lend(server, cursor, results, moves);
    if (cursor->ended || left == 0) {
        server->rows = 0;
        on_fetched(server);
    } else {
        pgw_run(server, cursor, limit, on_fetched);
    }
}

static void fetch_or_move(pgw_server *server)
{
    pgw_portal *cursor = cursor_of(server);
    if (cursor != NULL && can_be_fetched(server, cursor))
        fetch(server, cursor);
}

/* ---- DISCARD ---- */

static void on_discarded(pgw_server *server)
{
    if (server->order->all) {
        pgw_portals_drop(&server->prepared, server->orderer);
        pgw_prepared_close_all(&server->prepared, false);
    }
    server->ordered(server);
}

static void refuse_to_discard(pgw_server *server, const char *why)
{
    pgw_error error;
    pgw_fail(&error, "25001", "DISCARD ALL cannot %s", why);
    pgw_refuse(server, &error);
}

static void discard(pgw_server *server)
{
    if (server->order->all && (server->block != PGW_BLOCK_NONE || server->script.count > 1))
        refuse_to_discard(server, "run inside a transaction block");
    else if (server->order->all && server->piped)
        refuse_to_discard(server, "be executed within a pipeline");
    else
        pgw_run(server, server->orderer, 0, on_discarded);
}

void pgw_order_carry_out(pgw_server *server, pgw_portal *portal, uint32_t limit, pgw_then *then)
{
    static pgw_then *const ways[] = {
        [PGW_COMMAND_PREPARE] = prepare,    [PGW_COMMAND_DEALLOCATE] = deallocate,
        [PGW_COMMAND_DECLARE] = declare,    [PGW_COMMAND_FETCH] = fetch_or_move,
        [PGW_COMMAND_MOVE] = fetch_or_move, [PGW_COMMAND_CLOSE] = close_cursor,
        [PGW_COMMAND_DISCARD] = discard,
    };
    const pgw_order *order = order_of(server, portal);
    if (order == NULL)
        return;
    server->order = order;
    server->orderer = portal;
    server->ordered = then;
    server->fetch_limit = limit;
    if (order->refusal != NULL)
        pgw_refuse(server, order->refusal);
    else
        ways[pgw_portal_command(portal)](server);
}
