#include "rewrite/plain/returning.h"

#include "rewrite/hash/table.h"
#include "rewrite/plain/values.h"

static void add_part(pgw_slice text, rw_part part, const char *before, pgw_buf *out)
{
    if (rw_part_is_empty(part))
        return;
    pgw_buf_add_str(out, before);
    pgw_buf_add_slice(out, rw_part_text(text, part));
}

bool rw_returning_query(pgw_slice text, const pgw_reading *reading, pgw_slice *out)
{
    rw_clauses clauses;
    pgw_buf query = {0};
    *out = (pgw_slice){NULL, 0};
    if (!rw_text_mentions(text, "returning") && !rw_text_mentions(text, "with"))
        return true;
    if (!rw_clauses_read(text, reading, &clauses) ||
        !rw_check_with((rw_subject){.text = text, .clauses = &clauses, .reading = reading}))
        return false;
    if (clauses.verb == RW_DML_NONE || rw_part_is_empty(clauses.returning))
        return true;
    add_part(text, clauses.with, "", &query);
    add_part(text, clauses.returning, " SELECT ", &query);
    add_part(text, clauses.target, " FROM ", &query);
    add_part(text, clauses.alias, " ", &query);
    add_part(text, clauses.from, ", ", &query);
    *out = pgw_arena_keep(reading->arena, &query);
    pgw_buf_free(&query);
    return true;
}
