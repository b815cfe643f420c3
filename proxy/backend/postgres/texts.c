#include "proxy/backend/postgres/texts.h"

#include "protocol/frontend.h"
#include "proxy/backend/postgres/check.h"
#include "rewrite/insert/guard.h"

void px_write_statements(const px_unit *unit, const char *separator, pgw_buf *out)
{
    for (size_t i = 0; i < unit->statement_count; i++) {
        if (i > 0)
            pgw_buf_add_str(out, separator);
        px_unit_write_statement(unit, i, out);
    }
}

static uint64_t count_rows(const px_attempt *attempt)
{
    uint64_t rows = 0;
    for (size_t i = 0; i < attempt->count; i++)
        for (size_t s = 0; s < attempt->units[i]->statement_count; s++)
            rows += attempt->units[i]->statements[s].rows;
    return rows;
}

void px_write_merged(const px_attempt *attempt, pgw_buf *out)
{
    const px_unit *key = attempt->units[0];
    size_t begun = pgw_begin(out, 'Q');
    rw_guard_before(out);
    pgw_buf_add_slice(out, key->head);
    for (size_t i = 0; i < attempt->count; i++) {
        if (i > 0)
            pgw_buf_add_str(out, ",\n");
        px_write_statements(attempt->units[i], ",\n", out);
    }
    pgw_buf_add_slice(out, key->tail);
    rw_guard_behind(count_rows(attempt), key->conditions, out);
    pgw_buf_add_byte(out, '\0');
    pgw_end_small(out, begun);
}

/* Writes the unit's statements without checks of the table's columns: a statement before them in
 * the transaction has checked these, and holds a lock on the table. */
static void write_behind(const px_unit *unit, pgw_buf *out)
{
    for (size_t i = 0; i < unit->statement_count; i++) {
        if (i > 0)
            pgw_buf_add_byte(out, ';');
        pgw_buf_add_slice(out, unit->head);
        px_unit_write_statement(unit, i, out);
        pgw_buf_add_slice(out, unit->tail);
    }
}

void px_write_texts(px_unit *const *units, size_t count, pgw_buf *out)
{
    size_t begun = pgw_begin(out, 'Q');
    for (size_t i = 0; i < count; i++) {
        const px_unit *unit = units[i];
        if (i > 0)
            pgw_buf_add_str(out, "\n;\n");
        if (i > 0 && unit->kind == PX_UNIT_ROWS && !unit->guarded)
            write_behind(unit, out);
        else
            px_unit_write_alone(unit, out);
    }
    if (px_check_wanted(units, count)) {
        pgw_buf_add_str(out, "\n;\n");
        px_check_write_text(units, count, out);
    }
    pgw_buf_add_byte(out, '\0');
    pgw_end_small(out, begun);
}
