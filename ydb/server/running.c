#include "ydb/server/running.h"

#include "protocol/backend.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool is_of_session(const pgw_portal *portal)
{
    pgw_command command = portal->statement->piece.command;
    return command == PGW_COMMAND_SESSION || command == PGW_COMMAND_DISCARD;
}

void pgw_run(pgw_server *server, pgw_portal *portal, uint32_t limit, pgw_then *then)
{
    pgw_ask(server, portal->live ? PGW_ASK_RESUME : PGW_ASK_RUN, then);
    server->action.portal = portal;
    server->action.limit = limit;
    server->running = portal;
    server->rows = 0;
    if (portal->live)
        portal->arguments = NULL;
    else if (server->block == PGW_BLOCK_NONE && is_of_session(portal))
        server->unsettled = true;
    portal->live = true;
}

/* A tag with a count of rows counts this Execute's only: 0 if all were given before. */
void pgw_run_write_tag(pgw_server *server, const pgw_portal *portal)
{
    char tag[PGW_TAG_MAX + 24];
    size_t at = strlen(portal->tag), end = at;
    while (at > 0 && portal->tag[at - 1] >= '0' && portal->tag[at - 1] <= '9')
        at--;
    bool counts = at > 0 && at < end && portal->returns_rows;
    if (counts)
        snprintf(tag, sizeof tag, "%.*s%" PRIu64, (int)at, portal->tag, server->rows);
    pgw_write_tag(counts ? tag : portal->tag, &server->out);
}

void pgw_run_columns(pgw_server *server, pgw_slice columns)
{
    static const pgw_slice text = {NULL, 0};
    pgw_portal *portal = server->running;
    pgw_error error;
    if (portal->statement != &server->lone_statement &&
        !pgw_row_descriptions_agree(columns, portal->statement->columns)) {
        pgw_fail(&error, "0A000", "cached plan must not change result type");
        pgw_refuse(server, &error);
        return;
    }
    if (portal != &server->lone)
        return;
    portal->returns_rows = columns.len > 0;
    if (portal->returns_rows)
        pgw_write_row_description(columns, text, &server->out);
}

/* The first result format code that is neither 0 nor 1; 0: all are good. As PostgreSQL does, they
 * are checked only when there is a row to send. */
static unsigned bad_format(const pgw_portal *portal)
{
    pgw_reader reader = pgw_reader_of(portal->bind.results);
    for (unsigned left = pgw_read_u16(&reader); left > 0; left--) {
        unsigned format = pgw_read_u16(&reader);
        if (format > 1)
            return format;
    }
    return 0;
}

bool pgw_run_takes_all(const pgw_portal *portal, uint32_t limit)
{
    return !portal->returns_rows || (limit == 0 && bad_format(portal) == 0);
}

static bool can_be_sent(pgw_server *server, const pgw_slice *cells, size_t count)
{
    pgw_error error;
    unsigned format = server->rows == 0 && count > 0 ? bad_format(server->running) : 0;
    if (format != 0)
        pgw_fail(&error, "22023", "unsupported format code: %d", (int16_t)format);
    else if (!pgw_write_data_row(cells, count, &server->out))
        pgw_fail(&error, "54000", "a row is longer than a message can be");
    else
        return true;
    pgw_refuse(server, &error);
    return false;
}

bool pgw_run_row(pgw_server *server, const pgw_slice *cells, size_t count)
{
    if (!server->moving && !can_be_sent(server, cells, count))
        return false;
    server->rows++;
    if (server->rows != server->action.limit)
        return true;
    server->running = NULL;
    if (server->fetched != NULL) {
        server->then(server);
        return false;
    }
    server->piped = true;
    pgw_write_portal_suspended(&server->out);
    pgw_finish(server);
    return false;
}

void pgw_run_completed(pgw_server *server, const char *tag)
{
    pgw_portal *portal = server->running;
    server->running = NULL;
    portal->live = false;
    portal->ended = true;
    snprintf(portal->tag, sizeof portal->tag, "%s", tag);
    server->then(server);
}
