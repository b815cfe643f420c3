#include "proxy/backend/base/unit.h"

#include "protocol/frame.h"

#include <stdlib.h>

px_unit *px_unit_new(px_worker *home)
{
    px_unit *unit = pgw_calloc(1, sizeof *unit);
    unit->home = home;
    unit->deadline = UINT64_MAX;
    return unit;
}

void px_unit_free(px_unit *unit)
{
    if (unit == NULL)
        return;
    px_identity_drop(unit->identity);
    if (unit->source.of != NULL)
        unit->source.drop(unit->source.of);
    for (size_t i = 0; i < unit->prepared_count && unit->let_go != NULL; i++)
        unit->let_go(unit->prepared[i].of);
    pgw_buf_free(&unit->error);
    pgw_buf_free(&unit->notices);
    pgw_buf_free(&unit->returned);
    pgw_arena_free(&unit->arena);
    free(unit);
}

void px_unit_write_statement(const px_unit *unit, size_t i, pgw_buf *out)
{
    if (unit->kind == PX_UNIT_ROWS)
        unit->source.write_rows(unit->source.of, i, out);
    else
        pgw_buf_add_slice(out, unit->statements[i].messages);
}

void px_unit_write_alone(const px_unit *unit, pgw_buf *out)
{
    unit->source.write_alone(unit->source.of, out);
}

void px_unknown_outcome(pgw_error *error)
{
    pgw_fail(error, "08007",
             "the connection to the server was lost after the statement was sent; it is unknown "
             "whether it was committed");
    pgw_error_hint(error, "Look whether the rows are there before you send them again.");
}

void px_unit_fail(px_unit *unit, const pgw_error *error)
{
    pgw_buf message = {0};
    pgw_error_write(error, "ERROR", &message);
    pgw_buf_clear(&unit->error);
    pgw_buf_add(&unit->error, message.ptr + PGW_HEADER, message.len - PGW_HEADER);
    pgw_buf_free(&message);
    unit->outcome = PX_UNIT_FAILED;
}

void px_unit_reset(px_unit *unit)
{
    unit->completed = 0;
    pgw_buf_clear(&unit->error);
    pgw_buf_clear(&unit->notices);
    pgw_buf_clear(&unit->returned);
    for (size_t i = 0; i < unit->statement_count; i++) {
        struct px_unit_statement *statement = &unit->statements[i];
        statement->bound = statement->suspended = false;
        statement->tag = statement->returned = statement->noticed = 0;
    }
}
