#include "ydb/plain/returning.h"

#include "rewrite/lex/quote.h"
#include "ydb/plain/shown.h"

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

const rw_relation *rw_returning_target(pgw_slice text, const rw_catalog *catalog,
                                       const pgw_reading *reading)
{
    rw_clauses clauses;
    if (!rw_text_mentions(text, "returning") || !rw_clauses_read(text, reading, &clauses) ||
        clauses.verb == RW_DML_DELETE || rw_part_is_empty(clauses.returning) ||
        clauses.name.len == 0 || rw_catalog_find(catalog, clauses.schema, clauses.name) != NULL)
        return NULL;
    rw_relation *target = pgw_arena_alloc(reading->arena, sizeof *target);
    *target = (rw_relation){.schema = pgw_arena_copy(reading->arena, clauses.schema).ptr,
                            .name = pgw_arena_copy(reading->arena, clauses.name).ptr};
    return target;
}

const rw_table *rw_returning_learned(const rw_clauses *clauses, const rw_catalog *catalog)
{
    if (catalog->others == NULL || rw_part_is_empty(clauses->returning))
        return NULL;
    return rw_catalog_find(catalog->others, clauses->schema, clauses->name);
}

static void add_columns(const rw_table *table, pgw_slice qualifier, pgw_buf *out)
{
    for (size_t i = 0; i < table->column_count; i++) {
        pgw_buf_add_str(out, i > 0 ? ", " : "");
        if (i > 0)
            pgw_buf_add_slice(out, qualifier);
        rw_add_identifier(out, table->columns[i].name);
    }
}

/* Reads `t.` before a `*`; empty: the `*` stands alone. False: it is `(t).*`, whose columns are a
 * value's. */
static bool read_qualifier(pgw_slice text, rw_part list, size_t star, pgw_slice *out)
{
    rw_cursor cursor;
    size_t from = list.from;
    bool named = true;
    rw_cursor_begin(&cursor, text, list, true);
    for (; cursor.token.start < star; rw_cursor_advance(&cursor)) {
        const rw_token_kind before = cursor.before.kind;
        if (rw_cursor_at(&cursor, '.'))
            named = before == RW_TOKEN_WORD || before == RW_TOKEN_QUOTED;
        else if (!rw_cursor_at_name(&cursor))
            from = cursor.token.end;
    }
    *out = rw_part_text(text, (rw_part){from, star});
    return named || !rw_cursor_after(&cursor, '.');
}

bool rw_returning_spell(const rw_subject *subject, pgw_slice *out)
{
    const rw_part list = subject->clauses->returning;
    pgw_slice qualifier;
    pgw_buf spelled = {0};
    size_t kept = 0;
    rw_cursor cursor;
    rw_cursor_begin(&cursor, subject->text, list, subject->reading->env->conforming);
    for (; !rw_cursor_ended(&cursor); rw_cursor_advance(&cursor)) {
        size_t star = cursor.token.start;
        if (!rw_at_star(&cursor, list) || !read_qualifier(subject->text, list, star, &qualifier))
            continue;
        pgw_buf_add_slice(&spelled, rw_part_text(subject->text, (rw_part){kept, star}));
        add_columns(subject->learned, qualifier, &spelled);
        kept = cursor.token.end;
    }
    pgw_buf_add_slice(&spelled, rw_part_text(subject->text, (rw_part){kept, subject->text.len}));
    *out = pgw_arena_keep(subject->reading->arena, &spelled);
    pgw_buf_free(&spelled);
    return kept > 0;
}
