#include "ydb/server/machine.h"

#include "protocol/backend.h"
#include "protocol/frontend.h"
#include "protocol/value_text.h"

void pgw_ask(pgw_server *server, pgw_asked ask, pgw_then *then)
{
    server->action = (pgw_action){.ask = ask};
    server->then = then;
}

static void ask_message(pgw_server *server)
{
    pgw_ask(server, PGW_ASK_MESSAGE, NULL);
}

void pgw_finish(pgw_server *server)
{
    pgw_then *finish = server->finish != NULL ? server->finish : ask_message;
    server->finish = NULL;
    server->script = (pgw_script){0};
    pgw_arena_free(&server->arena);
    finish(server);
}

void pgw_ready(pgw_server *server)
{
    static const char states[] = {[PGW_BLOCK_NONE] = 'I',
                                  [PGW_BLOCK_IMPLICIT] = 'I',
                                  [PGW_BLOCK_EXPLICIT] = 'T',
                                  [PGW_BLOCK_FAILED] = 'E'};
    if (server->report != NULL)
        server->report(server->report_data, &server->out);
    pgw_write_ready(states[server->block], &server->out);
    pgw_finish(server);
}

static void leave(pgw_server *server)
{
    if (!server->extended) {
        pgw_ready(server);
        return;
    }
    server->skipping = true;
    pgw_finish(server);
}

void pgw_lend(pgw_server *server, pgw_portal *cursor, pgw_slice results, bool moving)
{
    server->fetched = cursor;
    server->lent_results = cursor->bind.results;
    server->moving = moving;
    cursor->bind.results = results;
}

void pgw_take_back(pgw_server *server)
{
    if (server->fetched != NULL)
        server->fetched->bind.results = server->lent_results;
    server->fetched = NULL;
    server->moving = false;
}

static void let_go(pgw_server *server)
{
    if (server->parsed != NULL)
        pgw_statement_release(&server->prepared, server->parsed);
    server->parsed = NULL;
    pgw_take_back(server);
    if (server->bound != NULL) {
        server->bound->empty = true;
        server->bound->returns_rows = false;
    }
    server->bound = server->running = server->held = NULL;
    server->copying = server->gives_data = false;
    pgw_portal_end(&server->prepared, &server->lone);
}

void pgw_settle(pgw_server *server, bool keep, pgw_then *then)
{
    if (!server->unsettled) {
        then(server);
        return;
    }
    server->unsettled = false;
    pgw_ask(server, PGW_ASK_SETTLE, then);
    server->action.keep = keep;
}

/* Adds server->details to the ErrorResponse that was written last, at `at`. */
static void add_details(pgw_server *server, size_t at)
{
    pgw_buf *out = &server->out;
    if (server->details.len == 0)
        return;
    out->len--;
    pgw_buf_add_slice(out, server->details);
    pgw_buf_add_byte(out, '\0');
    server->details = (pgw_slice){NULL, 0};
    pgw_certainly(pgw_end(out, at));
}

void pgw_refuse(pgw_server *server, const pgw_error *error)
{
    pgw_block was = server->block;
    bool block = was == PGW_BLOCK_EXPLICIT || was == PGW_BLOCK_FAILED;
    size_t begun = server->out.len + 1;
    pgw_error_write(error, "ERROR", &server->out);
    add_details(server, begun);
    let_go(server);
    if (block)
        pgw_portals_fail(&server->prepared);
    else
        pgw_portals_drop(&server->prepared, NULL);
    server->block = block ? PGW_BLOCK_FAILED : PGW_BLOCK_NONE;
    server->piped = false;
    if (was == PGW_BLOCK_EXPLICIT || was == PGW_BLOCK_IMPLICIT)
        pgw_ask(server, PGW_ASK_ROLLBACK, leave);
    else
        pgw_settle(server, false, leave);
}

void pgw_refuse_malformed(pgw_server *server)
{
    pgw_error error;
    pgw_fail(&error, "08P01", "invalid message format");
    pgw_refuse(server, &error);
}

void pgw_refuse_failed(pgw_server *server)
{
    pgw_error error;
    pgw_fail(&error, "25P02",
             "current transaction is aborted, commands ignored until end of transaction block");
    pgw_refuse(server, &error);
}

void pgw_warn(pgw_server *server, const char *sqlstate, const char *message)
{
    pgw_error warning;
    pgw_fail(&warning, sqlstate, "%s", message);
    pgw_notice_write(&warning, "WARNING", &server->out);
}

bool pgw_is_text(pgw_server *server, pgw_slice text)
{
    static const pgw_env utf8 = {.utf8 = true};
    pgw_error error;
    if (pgw_text_check(text, &utf8, &error) == PGW_KNOWN)
        return true;
    pgw_refuse(server, &error);
    return false;
}
