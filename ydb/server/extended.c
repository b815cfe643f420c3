#include "ydb/server/extended.h"

#include "protocol/backend.h"
#include "ydb/server/orders.h"
#include "ydb/server/running.h"
#include "ydb/server/statements.h"
#include "ydb/server/transaction.h"
#include "protocol/value_parts.h"

/* ---- Parse ---- */

static void on_parsed(pgw_server *server)
{
    server->parsed->piece.order = NULL; /* the order's memory ends with the message */
    if (!pgw_enter_parsed(server))
        return;
    pgw_write_parse_complete(&server->out);
    pgw_finish(server);
}

/* Keeps what the text is, except its order, which is read again when it is carried out. */
static void take_down(pgw_server *server, const pgw_piece *piece)
{
    pgw_statement *statement = server->parsed;
    statement->piece = *piece;
    statement->declares = piece->command == PGW_COMMAND_DECLARE;
    if (statement->declares && piece->order->refusal != NULL) {
        pgw_refuse(server, piece->order->refusal);
        return;
    }
    if (statement->declares) {
        statement->piece.text = piece->order->text;
        statement->piece.command = piece->order->command;
    }
    pgw_analyze(server, on_parsed);
}

void pgw_extended_parse(pgw_server *server)
{
    pgw_parse parse;
    pgw_error error;
    bool whole = pgw_parse_decode(server->body, &parse);
    if (!pgw_is_text(server, parse.name) || !pgw_is_text(server, parse.query))
        return;
    if (!whole) {
        pgw_refuse_malformed(server);
        return;
    }
    if (parse.name.len == 0)
        pgw_prepared_close(&server->prepared, parse.name);
    server->parsed = pgw_statement_make(&server->prepared, &parse, &error);
    if (server->parsed == NULL) {
        pgw_refuse(server, &error);
        return;
    }
    pgw_piece piece;
    if (!pgw_cut_one(server, server->parsed->source, &piece))
        return;
    if (server->block == PGW_BLOCK_FAILED && piece.command != PGW_COMMAND_EMPTY &&
        !pgw_command_exits(piece.command))
        pgw_refuse_failed(server);
    else
        take_down(server, &piece);
}

/* The portal of this name; NULL: there is none, which was refused. */
static pgw_portal *portal_of(pgw_server *server, pgw_slice name)
{
    pgw_portal *portal = pgw_prepared_portal(&server->prepared, name);
    pgw_error error;
    if (portal != NULL)
        return portal;
    pgw_fail(&error, "34000", "portal \"%.*s\" does not exist", PGW_SHOWN(name));
    pgw_refuse(server, &error);
    return NULL;
}

/* ---- Bind ---- */

static bool check_counts(const pgw_bind *bind, const pgw_statement *statement, pgw_error *error)
{
    if (bind->format_count > 1 && bind->format_count != bind->value_count)
        return pgw_fail(error, "08P01", "bind message has %zu parameter formats but %zu parameters",
                        bind->format_count, bind->value_count);
    if (bind->value_count == statement->type_count)
        return true;
    return pgw_fail(error, "08P01",
                    "bind message supplies %zu parameters, but prepared statement \"%.*s\" "
                    "requires %zu",
                    bind->value_count, PGW_SHOWN(bind->statement), statement->type_count);
}

static bool check_formats(const pgw_bind *bind, pgw_error *error)
{
    pgw_reader reader = pgw_reader_of(bind->formats);
    size_t count = bind->value_count > 0 ? bind->format_count : 0;
    for (size_t i = 0; i < count; i++) {
        int16_t format = (int16_t)pgw_read_u16(&reader);
        if (format != 0 && format != 1)
            return pgw_fail(error, "22023", "unsupported format code: %d", format);
    }
    return true;
}

static bool check_results(const pgw_portal *portal, pgw_error *error)
{
    pgw_reader results = pgw_reader_of(portal->bind.results);
    pgw_reader columns = pgw_reader_of(portal->statement->columns);
    unsigned formats = pgw_read_u16(&results), count = pgw_read_u16(&columns);
    if (!portal->returns_rows || formats <= 1 || formats == count)
        return true;
    return pgw_fail(error, "08P01", "bind message has %u result formats but query has %u columns",
                    formats, count);
}

static void on_bound(pgw_server *server)
{
    pgw_error error;
    const pgw_portal *portal = server->bound;
    server->bound = NULL;
    if (!check_results(portal, &error)) {
        pgw_refuse(server, &error);
        return;
    }
    pgw_write_bind_complete(&server->out);
    pgw_finish(server);
}

/* Whether the name is free for a portal; the unnamed portal is dropped to make it so. */
static bool is_free(pgw_server *server, pgw_slice name, pgw_error *error)
{
    pgw_portal *portal = pgw_prepared_portal(&server->prepared, name);
    if (portal == NULL)
        return true;
    if (name.len > 0)
        return pgw_fail(error, "42P03", "cursor \"%.*s\" already exists", PGW_SHOWN(name));
    pgw_portal_drop(&server->prepared, portal);
    return true;
}

static void bind_portal(pgw_server *server, const pgw_bind *bind, pgw_statement *statement)
{
    pgw_error error;
    if (is_free(server, bind->portal, &error))
        server->bound = pgw_portal_make(&server->prepared, statement, bind, &error);
    if (server->bound == NULL || !check_formats(bind, &error)) {
        pgw_refuse(server, &error);
    } else if (!pgw_order_bind(server, server->bound)) {
        return;
    } else if (bind->value_count == 0) {
        on_bound(server);
    } else {
        pgw_ask(server, PGW_ASK_BIND, on_bound);
        server->action.portal = server->bound;
    }
}

/* Whether a failed transaction refuses the Bind: it takes no parameters, whose reading may need the
 * catalog. */
static bool is_refused(const pgw_server *server, const pgw_bind *bind, pgw_command command)
{
    return server->block == PGW_BLOCK_FAILED &&
           (bind->value_count > 0 || !pgw_command_exits(command));
}

void pgw_extended_bind(pgw_server *server)
{
    pgw_bind bind = {0};
    pgw_error error;
    bool whole = pgw_bind_decode(server->body, &bind);
    if (!pgw_is_text(server, bind.portal) || !pgw_is_text(server, bind.statement))
        return;
    if (bind.statement.ptr == NULL) {
        pgw_refuse_malformed(server);
        return;
    }
    pgw_statement *statement = pgw_statement_of(server, bind.statement);
    if (statement == NULL)
        return;
    if (!check_counts(&bind, statement, &error))
        pgw_refuse(server, &error);
    else if (is_refused(server, &bind, statement->piece.command))
        pgw_refuse_failed(server);
    else if (!whole)
        pgw_refuse_malformed(server);
    else
        bind_portal(server, &bind, statement);
}

/* ---- Describe, Close ---- */

static void describe_statement(pgw_server *server, pgw_slice name)
{
    static const pgw_slice text = {NULL, 0};
    const pgw_statement *statement = pgw_statement_of(server, name);
    if (statement == NULL)
        return;
    if (server->block == PGW_BLOCK_FAILED && statement->columns.len > 0 && !statement->declares) {
        pgw_refuse_failed(server);
        return;
    }
    pgw_certainly(
        pgw_write_parameter_description(statement->types, statement->type_count, &server->out));
    pgw_write_row_description(statement->declares ? text : statement->columns, text, &server->out);
    pgw_finish(server);
}

static void describe_portal(pgw_server *server, pgw_slice name)
{
    static const pgw_slice none = {NULL, 0};
    const pgw_portal *portal = portal_of(server, name);
    if (portal == NULL)
        return;
    if (server->block == PGW_BLOCK_FAILED && portal->returns_rows) {
        pgw_refuse_failed(server);
        return;
    }
    pgw_write_row_description(portal->returns_rows ? portal->statement->columns : none,
                              portal->bind.results, &server->out);
    pgw_finish(server);
}

void pgw_extended_describe(pgw_server *server)
{
    pgw_target target;
    bool whole = pgw_target_decode(server->body, &target);
    if (!pgw_is_text(server, target.name))
        return;
    if (!whole)
        pgw_refuse_malformed(server);
    else
        (target.kind == 'S' ? describe_statement : describe_portal)(server, target.name);
}

static void close_portal(pgw_server *server, pgw_slice name)
{
    pgw_portal *portal = pgw_prepared_portal(&server->prepared, name);
    if (portal != NULL)
        pgw_portal_drop(&server->prepared, portal);
}

void pgw_extended_close(pgw_server *server)
{
    pgw_target target;
    bool whole = pgw_target_decode(server->body, &target);
    if (!pgw_is_text(server, target.name))
        return;
    if (!whole) {
        pgw_refuse_malformed(server);
        return;
    }
    if (target.kind == 'S')
        pgw_prepared_close(&server->prepared, target.name);
    else
        close_portal(server, target.name);
    pgw_write_close_complete(&server->out);
    pgw_finish(server);
}

/* ---- Execute, Sync ---- */

static void on_ran(pgw_server *server)
{
    server->piped = true;
    pgw_run_write_tag(server, server->action.portal);
    pgw_finish(server);
}

static void refuse_to_run(pgw_server *server, pgw_slice name)
{
    pgw_error error;
    pgw_fail(&error, "55000", "portal \"%.*s\" cannot be run", PGW_SHOWN(name));
    pgw_refuse(server, &error);
}

/* Executes a portal that was run to its end: it gives no more rows, or is refused if it never had
 * any. */
static void execute_again(pgw_server *server, pgw_portal *portal)
{
    if (!portal->returns_rows) {
        refuse_to_run(server, portal->named.name);
        return;
    }
    server->rows = 0;
    pgw_run_write_tag(server, portal);
    pgw_finish(server);
}

static void hold(pgw_server *server, pgw_portal *portal, uint32_t limit)
{
    server->held = portal;
    server->held_limit = limit;
    pgw_finish(server);
}

static void on_ordered(pgw_server *server)
{
    server->piped = true;
    pgw_run_write_tag(server, server->orderer);
    pgw_finish(server);
}

static void run_held(pgw_server *server);

static void open_and_run(pgw_server *server, pgw_portal *portal, uint32_t limit)
{
    server->held = portal;
    server->held_limit = limit;
    pgw_transaction_open(server, run_held);
}

static void run(pgw_server *server, pgw_portal *portal, uint32_t limit)
{
    if (pgw_portal_command(portal) == PGW_COMMAND_EXECUTE && !portal->live &&
        !pgw_order_resolve(server, portal))
        return;
    bool due = pgw_transaction_is_due(server, portal->statement->piece.command);
    if (due && portal->statement->piece.asks)
        open_and_run(server, portal, limit);
    else if (due)
        hold(server, portal, limit);
    else if (pgw_cursor_is_free(server, portal))
        pgw_run(server, portal, limit, on_ran);
}

static void execute(pgw_server *server, pgw_portal *portal, uint32_t limit)
{
    pgw_command command = pgw_portal_command(portal);
    if (portal->ended) {
        execute_again(server, portal);
    } else if (pgw_command_controls(command)) {
        portal->ended = true;
        pgw_transaction_control(server, &portal->statement->piece, pgw_finish);
    } else if (pgw_command_has_order(command) && command != PGW_COMMAND_EXECUTE) {
        pgw_order_carry_out(server, portal, limit, on_ordered);
    } else {
        run(server, portal, limit);
    }
}

void pgw_extended_execute(pgw_server *server)
{
    pgw_execute message;
    bool whole = pgw_execute_decode(server->body, &message);
    if (!pgw_is_text(server, message.portal))
        return;
    if (!whole) {
        pgw_refuse_malformed(server);
        return;
    }
    pgw_portal *portal = portal_of(server, message.portal);
    if (portal == NULL)
        return;
    pgw_command command = pgw_portal_command(portal);
    if (command == PGW_COMMAND_EMPTY) {
        pgw_write_empty_query(&server->out);
        pgw_finish(server);
    } else if (portal->failed) {
        pgw_refuse_failed(server);
    } else if (pgw_transaction_takes(server, &portal->statement->piece)) {
        execute(server, portal, message.max_rows > INT32_MAX ? 0 : message.max_rows);
    }
}

static void run_held(pgw_server *server)
{
    pgw_portal *portal = server->held;
    server->held = NULL;
    if (pgw_portal_command(portal) == PGW_COMMAND_EXECUTE && !pgw_order_resolve(server, portal))
        return;
    pgw_run(server, portal, server->held_limit, on_ran);
}

void pgw_extended_run_held(pgw_server *server, bool alone, pgw_then *finish)
{
    bool all = pgw_run_takes_all(server->held, server->held_limit);
    server->finish = finish;
    server->extended = true;
    if (alone && all)
        run_held(server);
    else
        pgw_transaction_open(server, run_held);
}

void pgw_extended_sync(pgw_server *server)
{
    if (server->body.len > 0)
        pgw_refuse_malformed(server);
    else
        pgw_transaction_close(server, pgw_ready);
}
