#include "proxy/backend/postgres/texts.h"

#include "protocol/frontend.h"
#include "proxy/backend/postgres/check.h"
#include "rewrite/insert/guard.h"

void px_write_statements(const px_write_group *write_group, const char *separator, pgw_buf *out)
{
    for (size_t i = 0; i < write_group->statement_count; i++) {
        if (i > 0)
            pgw_buf_add_str(out, separator);
        px_write_group_write_statement(write_group, i, out);
    }
}

static uint64_t count_rows(const px_attempt *attempt)
{
    uint64_t rows = 0;
    for (size_t i = 0; i < attempt->count; i++)
        for (size_t s = 0; s < attempt->write_groups[i]->statement_count; s++)
            rows += attempt->write_groups[i]->statements[s].rows;
    return rows;
}

void px_write_merged(const px_attempt *attempt, pgw_buf *out)
{
    const px_write_group *key = attempt->write_groups[0];
    size_t begun = pgw_begin(out, 'Q');
    rw_guard_before(out);
    pgw_buf_add_slice(out, key->head);
    for (size_t i = 0; i < attempt->count; i++) {
        if (i > 0)
            pgw_buf_add_str(out, ",\n");
        px_write_statements(attempt->write_groups[i], ",\n", out);
    }
    pgw_buf_add_slice(out, key->tail);
    rw_guard_behind(count_rows(attempt), key->conditions, out);
    pgw_buf_add_byte(out, '\0');
    pgw_end_small(out, begun);
}

/* Writes the write group's statements without checks of the table's columns: a statement before
 * them in the transaction has checked these, and holds a lock on the table. */
static void write_behind(const px_write_group *write_group, pgw_buf *out)
{
    for (size_t i = 0; i < write_group->statement_count; i++) {
        if (i > 0)
            pgw_buf_add_byte(out, ';');
        pgw_buf_add_slice(out, write_group->head);
        px_write_group_write_statement(write_group, i, out);
        pgw_buf_add_slice(out, write_group->tail);
    }
}

void px_write_texts(px_write_group *const *write_groups, size_t count, pgw_buf *out)
{
    size_t begun = pgw_begin(out, 'Q');
    for (size_t i = 0; i < count; i++) {
        const px_write_group *write_group = write_groups[i];
        if (i > 0)
            pgw_buf_add_str(out, "\n;\n");
        if (i > 0 && write_group->kind == PX_WRITE_GROUP_ROWS && !write_group->guarded)
            write_behind(write_group, out);
        else
            px_write_group_write_alone(write_group, out);
    }
    if (px_check_wanted(write_groups, count)) {
        pgw_buf_add_str(out, "\n;\n");
        px_check_write_text(write_groups, count, out);
    }
    pgw_buf_add_byte(out, '\0');
    pgw_end_small(out, begun);
}
