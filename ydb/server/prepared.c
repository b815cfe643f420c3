#include "ydb/server/prepared.h"

#include <stdlib.h>
#include <string.h>

static bool admit(pgw_prepared *prepared, size_t bytes, pgw_error *error)
{
    if (bytes <= prepared->limit && prepared->bytes <= prepared->limit - bytes) {
        prepared->bytes += bytes;
        return true;
    }
    pgw_fail(error, "53200", "out of memory");
    pgw_error_detail(error,
                     "Prepared statements and portals of one session may take %zu bytes together.",
                     prepared->limit);
    return false;
}

/* Copies `from` to *at, which moves on, with a NUL behind it. */
static pgw_slice pack(char **at, pgw_slice from)
{
    char *to = *at;
    if (from.len > 0)
        memcpy(to, from.ptr, from.len);
    to[from.len] = '\0';
    *at += from.len + 1;
    return (pgw_slice){to, from.len};
}

pgw_statement *pgw_statement_make(pgw_prepared *prepared, const pgw_parse *parse, pgw_error *error)
{
    size_t size = sizeof(pgw_statement) + parse->name.len + parse->query.len + 2;
    size_t bytes = size + parse->type_count * sizeof(uint32_t);
    if (!admit(prepared, bytes, error))
        return NULL;
    pgw_statement *statement = pgw_alloc(size);
    *statement = (pgw_statement){.users = 1, .bytes = bytes, .type_count = parse->type_count};
    char *at = (char *)(statement + 1);
    statement->named.name = pack(&at, parse->name);
    statement->source = statement->piece.text = pack(&at, parse->query);
    statement->types = pgw_calloc(parse->type_count, sizeof(uint32_t));
    for (size_t i = 0; i < parse->type_count; i++)
        statement->types[i] = pgw_parse_type(parse, i);
    return statement;
}

bool pgw_statement_describe(pgw_prepared *prepared, pgw_statement *statement, const uint32_t *types,
                            size_t count, pgw_slice columns, pgw_error *error)
{
    size_t more = (count - statement->type_count) * sizeof *types + columns.len + 1;
    if (!admit(prepared, more, error))
        return false;
    statement->bytes += more;
    uint32_t *copy = pgw_calloc(count, sizeof *copy);
    if (count > 0)
        memcpy(copy, types, count * sizeof *copy);
    free(statement->types);
    statement->types = copy;
    statement->type_count = count;
    if (columns.len > 0)
        statement->columns = (pgw_slice){pgw_strndup(columns.ptr, columns.len), columns.len};
    return true;
}

void pgw_statement_release(pgw_prepared *prepared, pgw_statement *statement)
{
    if (--statement->users > 0)
        return;
    prepared->bytes -= statement->bytes;
    free(statement->types);
    free((char *)statement->columns.ptr);
    free(statement);
}

void pgw_prepared_enter(pgw_prepared *prepared, pgw_statement *statement)
{
    pgw_names_enter(&prepared->statements, &statement->named);
}

pgw_statement *pgw_prepared_statement(const pgw_prepared *prepared, pgw_slice name)
{
    return (pgw_statement *)pgw_names_find(&prepared->statements, name);
}

void pgw_prepared_close(pgw_prepared *prepared, pgw_slice name)
{
    pgw_statement *statement = pgw_prepared_statement(prepared, name);
    if (statement == NULL)
        return;
    pgw_names_remove(&prepared->statements, &statement->named);
    pgw_statement_release(prepared, statement);
}

pgw_portal *pgw_portal_make(pgw_prepared *prepared, pgw_statement *statement, const pgw_bind *bind,
                            pgw_error *error)
{
    size_t bytes = sizeof(pgw_portal) + bind->portal.len + bind->formats.len + bind->values.len +
                   bind->results.len + 4;
    if (!admit(prepared, bytes, error))
        return NULL;
    pgw_portal *portal = pgw_alloc(bytes);
    *portal = (pgw_portal){.statement = statement, .bind = *bind, .entered = true, .bytes = bytes};
    char *at = (char *)(portal + 1);
    portal->returns_rows = statement->columns.len > 0 && !statement->declares;
    portal->named.name = portal->bind.portal = pack(&at, bind->portal);
    portal->bind.statement = statement->named.name;
    portal->bind.formats = pack(&at, bind->formats);
    portal->bind.values = pack(&at, bind->values);
    portal->bind.results = pack(&at, bind->results);
    statement->users++;
    pgw_names_enter(&prepared->portals, &portal->named);
    return portal;
}

pgw_portal *pgw_prepared_portal(const pgw_prepared *prepared, pgw_slice name)
{
    return (pgw_portal *)pgw_names_find(&prepared->portals, name);
}

void pgw_portal_point(pgw_prepared *prepared, pgw_portal *portal, pgw_statement *statement)
{
    statement->users++;
    if (portal->order == NULL)
        portal->order = portal->statement;
    else
        pgw_statement_release(prepared, portal->statement);
    portal->statement = statement;
    portal->returns_rows = statement->columns.len > 0;
}

pgw_command pgw_statement_command(const pgw_statement *statement)
{
    return statement->declares ? PGW_COMMAND_DECLARE : statement->piece.command;
}

pgw_command pgw_portal_command(const pgw_portal *portal)
{
    if (portal->empty)
        return PGW_COMMAND_EMPTY;
    if (portal->cursor)
        return PGW_COMMAND_READ;
    return pgw_statement_command(portal->order != NULL ? portal->order : portal->statement);
}

/* Frees a portal unless it is live, can be found by its name, or is in borrowed memory. */
static void free_portal(pgw_prepared *prepared, pgw_portal *portal)
{
    if (portal->live || portal->entered || portal->borrowed)
        return;
    prepared->bytes -= portal->bytes;
    pgw_statement_release(prepared, portal->statement);
    if (portal->order != NULL)
        pgw_statement_release(prepared, portal->order);
    free(portal);
}

void pgw_portal_end(pgw_prepared *prepared, pgw_portal *portal)
{
    if (!portal->live || portal->ending)
        return;
    portal->ending = true;
    portal->next_ending = prepared->ending;
    prepared->ending = portal;
}

void pgw_portal_has_ended(pgw_prepared *prepared)
{
    pgw_portal *portal = prepared->ending;
    prepared->ending = portal->next_ending;
    portal->live = portal->ending = false;
    free_portal(prepared, portal);
}

void pgw_portal_drop(pgw_prepared *prepared, pgw_portal *portal)
{
    pgw_names_remove(&prepared->portals, &portal->named);
    portal->entered = false;
    pgw_portal_end(prepared, portal);
    free_portal(prepared, portal);
}

void pgw_portals_drop(pgw_prepared *prepared, const pgw_portal *but)
{
    size_t slot = 0;
    pgw_named *named = pgw_names_next(&prepared->portals, &slot, NULL);
    while (named != NULL) {
        pgw_named *next = pgw_names_next(&prepared->portals, &slot, named);
        if ((pgw_portal *)named != but)
            pgw_portal_drop(prepared, (pgw_portal *)named);
        named = next;
    }
}

void pgw_portals_fail(pgw_prepared *prepared)
{
    size_t slot = 0;
    pgw_named *named = NULL;
    while ((named = pgw_names_next(&prepared->portals, &slot, named)) != NULL) {
        pgw_portal *portal = (pgw_portal *)named;
        portal->failed = true;
        pgw_portal_end(prepared, portal);
    }
}

void pgw_prepared_close_all(pgw_prepared *prepared, bool unnamed)
{
    size_t slot = 0;
    pgw_named *named = pgw_names_next(&prepared->statements, &slot, NULL);
    while (named != NULL) {
        pgw_named *next = pgw_names_next(&prepared->statements, &slot, named);
        if (unnamed || named->name.len > 0) {
            pgw_names_remove(&prepared->statements, named);
            pgw_statement_release(prepared, (pgw_statement *)named);
        }
        named = next;
    }
}

void pgw_prepared_free(pgw_prepared *prepared)
{
    pgw_portals_drop(prepared, NULL);
    while (prepared->ending != NULL)
        pgw_portal_has_ended(prepared);
    pgw_prepared_close_all(prepared, true);
    pgw_names_free(&prepared->statements);
    pgw_names_free(&prepared->portals);
}
