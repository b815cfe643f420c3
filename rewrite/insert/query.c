#include "rewrite/insert/query.h"

#include "rewrite/hash/hash_sql.h"
#include "rewrite/insert/default_text.h"
#include "rewrite/insert/guard.h"
#include "rewrite/insert/lift.h"
#include "rewrite/insert/query_read.h"
#include "rewrite/lex/quote.h"

#include <string.h>

/* Names in the text that keyspread puts around the client's query, which sees none of them. */
#define ROWS "\"keyspread\""
#define GIVEN "\"keyspread %zu\""
#define MADE "\"keyspread default %zu\""

/* ---- the query's columns ---- */

/* How many columns the query gives; 0: not known. */
static size_t width_of(const rw_query *q, size_t values)
{
    return q->star ? 0 : q->count > 0 ? q->count : values;
}

/* Whether the query's columns are written one by one: an error in one is told where it stands. */
static bool named_each(const rw_query *q)
{
    return q->count > 0 && !q->star;
}

/* Lists the columns that PostgreSQL would take: as many as the query gives; all, if unknown. */
static rw_outcome list_columns(rw_query *q, size_t width)
{
    rw_parser *parser = q->parser;
    const rw_table *table = parser->table;
    if (width >= table->column_count) {
        pgw_fail(parser->error, "42601", "INSERT has more expressions than target columns");
        rw_set_position(parser, q->count > 0 ? q->items[table->column_count - 1].start : q->start);
        return RW_REFUSED;
    }
    parser->target_count = 0;
    parser->insert->list_made = true;
    for (size_t i = 0; i < table->column_count; i++)
        if (i != table->hash_column && (width == 0 || parser->target_count < width))
            rw_add_target(parser, i, 0);
    return RW_PARSED;
}

/* Which of the query's columns is for this one of the table; target_count: none. */
static size_t place_of(const rw_parser *parser, size_t column)
{
    size_t i = 0;
    while (i < parser->target_count && parser->targets[i].column != column)
        i++;
    return i;
}

static bool writes_identity(const rw_parser *parser)
{
    for (size_t i = 0; i < parser->target_count; i++)
        if (parser->targets[i].column < parser->table->column_count &&
            parser->table->columns[parser->targets[i].column].always)
            return !parser->overriding_user && !parser->overriding_system;
    return false;
}

/* Whether the query can have the default, whose text is for standard_conforming_strings. */
static bool can_make(const rw_parser *parser, size_t column)
{
    const rw_column *of = &parser->table->columns[column];
    return of->default_text != NULL && !of->generated && !parser->table->defaults_unknown &&
           (parser->env->conforming || strchr(of->default_text, '\\') == NULL);
}

static rw_outcome refuse(const rw_query *q, size_t column, const char *why, const char *hint)
{
    rw_outcome outcome = rw_uncomputable(q->parser, column, q->start, why);
    if (outcome == RW_REFUSED)
        pgw_error_hint(q->parser->error, "%s", hint);
    return outcome;
}

/* Finds where a column of the hash_key comes from: the query, its default, or NULL. */
static rw_outcome find_column(rw_query *q, size_t column)
{
    rw_parser *parser = q->parser;
    size_t place = place_of(parser, column);
    bool listed = place < parser->target_count;
    if (listed && parser->targets[place].indirect)
        return refuse(q, column, "is set in part", "Write the whole column.");
    bool overridden = listed && rw_overridden(parser, column);
    if (overridden && !(named_each(q) && can_make(parser, column)))
        return refuse(q, column, "is drawn from its sequence (OVERRIDING USER VALUE)",
                      "Leave the column out.");
    if (!listed && rw_table_defaults_to_null(parser->table, column))
        parser->insert->leaves_null = true;
    if ((listed && !overridden) || rw_table_defaults_to_null(parser->table, column))
        return RW_PARSED;
    if (!can_make(parser, column))
        return refuse(q, column, "is not listed", "Write the column, and a value in the query.");
    q->made[q->made_count++] = column;
    return RW_PARSED;
}

static rw_outcome find_columns(rw_query *q)
{
    rw_parser *parser = q->parser;
    const rw_table *table = parser->table;
    bool moves = false;
    if (!rw_hash_has_sql(table))
        return refuse(q, table->hash_key[0], "comes from a query",
                      "Read the rows first, then send them with INSERT … VALUES, of constants or "
                      "parameters; or take another hash_function than cityhash64.");
    if (parser->insert->hash_listed)
        return refuse(q, table->hash_column, "comes from a query", "Leave the column out.");
    if (writes_identity(parser))
        return RW_PASS;
    for (size_t i = 0; i < q->count; i++)
        moves = moves || (q->items[i].constant.kind != RW_TOKEN_END && !q->items[i].typed);
    if (moves && q->star && q->plain)
        return refuse(q, table->hash_key[0], "comes from a query with a constant beside of *",
                      "Write the columns instead of *, or the constant's type, as in 'x'::text.");
    q->made = pgw_arena_alloc(parser->arena, table->hash_key_count * sizeof *q->made);
    rw_outcome outcome = RW_PARSED;
    for (size_t h = 0; h < table->hash_key_count && outcome == RW_PARSED; h++)
        outcome = find_column(q, table->hash_key[h]);
    return outcome;
}

/* ---- what is put in ---- */

/* Whether a constant moves out of the client's query, which has NULL in its place: outside it gets
 * its type of the column, as it would without keyspread. */
static bool moves(const rw_query *q, size_t i)
{
    return q->plain && !q->star && i < q->count && q->items[i].constant.kind != RW_TOKEN_END &&
           !q->items[i].stays;
}

static pgw_slice kept(const rw_query *q, pgw_buf *buf)
{
    pgw_slice text = pgw_arena_copy(q->parser->arena, pgw_slice_buf(buf));
    pgw_buf_free(buf);
    return text;
}

/* Puts `text` in; errors in it are about what the client wrote at `from`. */
static void put(rw_query *q, size_t at, size_t remove, pgw_slice text, size_t from)
{
    rw_add_splice(q->parser, at, remove, text)->from = from;
}

static const char *written(const rw_query *q, size_t i)
{
    pgw_arena *arena = q->parser->arena;
    if (moves(q, i))
        return pgw_arena_copy(arena, rw_token_text(q->parser->text, q->items[i].constant)).ptr;
    return pgw_arena_printf(arena, ROWS "." GIVEN, i + 1);
}

/* The index in q->made of a column of the table; made_count: it is not there. */
static size_t made_for(const rw_query *q, size_t column)
{
    size_t i = 0;
    while (i < q->made_count && q->made[i] != column)
        i++;
    return i;
}

/* The expression for a column that the query gives. OVERRIDING USER VALUE takes only the type of
 * it, for a default is never NULL. */
static const char *given(const rw_query *q, size_t i)
{
    const rw_parser *parser = q->parser;
    size_t column = i < parser->target_count ? parser->targets[i].column : 0;
    size_t made = i < parser->target_count ? made_for(q, column) : q->made_count;
    if (made == q->made_count)
        return written(q, i);
    const char *type = parser->table->columns[column].type_name;
    return pgw_arena_printf(parser->arena, "coalesce(" ROWS "." MADE "::%s, %s)::%s", made + 1,
                            type, written(q, i), type);
}

/* Whether a made column is not listed by the client, so that it stands behind the list. */
static bool is_behind(const rw_query *q, size_t made)
{
    return place_of(q->parser, q->made[made]) == q->parser->target_count;
}

/* Where PostgreSQL tells of an error in all columns of the query: at a lone star. */
static size_t told_at(const rw_query *q)
{
    return q->count == 0 ? RW_NOWHERE : q->count == 1 ? q->items[0].start : q->start;
}

static size_t start_of(const rw_query *q, size_t i)
{
    return i < q->count ? q->items[i].start : told_at(q);
}

/* Whether a made column is an identity that cannot be written as the statement stands. */
static bool writes_made(const rw_query *q)
{
    const rw_parser *parser = q->parser;
    for (size_t i = 0; i < q->made_count; i++) {
        const rw_column *column = &parser->table->columns[q->made[i]];
        if (parser->overriding_user ? column->identity
                                    : column->always && !parser->overriding_system)
            return true;
    }
    return false;
}

static void add_list(rw_query *q)
{
    rw_parser *parser = q->parser;
    const rw_table *table = parser->table;
    pgw_buf list = {0};
    for (size_t i = 0; i < parser->target_count && !parser->columns_listed; i++) {
        pgw_buf_add_str(&list, i == 0 ? " (" : ", ");
        rw_add_identifier(&list, table->columns[parser->targets[i].column].name);
    }
    for (size_t i = 0; i < q->made_count; i++) {
        if (!is_behind(q, i))
            continue;
        pgw_buf_add_str(&list, ", ");
        rw_add_identifier(&list, table->columns[q->made[i]].name);
    }
    pgw_buf_add_str(&list, ", ");
    rw_add_identifier(&list, table->columns[table->hash_column].name);
    pgw_buf_add_str(&list, parser->columns_listed ? "" : ")");
    size_t at = parser->columns_listed ? parser->insert->list_end : parser->name_end;
    for (size_t i = 0; i < parser->insert->splice_count; i++)
        if (parser->insert->splices[i].at == at)
            parser->insert->splices[i].text = kept(q, &list);
    if (writes_made(q))
        rw_add_splice(parser, parser->source,
                      parser->overriding_user ? parser->overriding_end - parser->source : 0,
                      PGW_LITERAL(" OVERRIDING SYSTEM VALUE"));
}

static void add_given(rw_query *q)
{
    pgw_arena *arena = q->parser->arena;
    bool each = named_each(q);
    if (!each)
        put(q, q->start, 0, PGW_LITERAL("SELECT " ROWS ".*"), told_at(q));
    for (size_t i = 0; each && i < q->count; i++) {
        const char *text = pgw_arena_printf(arena, i == 0 ? "SELECT %s" : ", %s", given(q, i));
        put(q, q->start, 0, pgw_slice_str(text), start_of(q, i));
    }
    for (size_t i = 0; each && i < q->made_count; i++)
        if (is_behind(q, i))
            put(q, q->start, 0, pgw_slice_str(pgw_arena_printf(arena, ", " ROWS "." MADE, i + 1)),
                q->start);
}

static const char *value_of(const rw_query *q, size_t column)
{
    size_t place = place_of(q->parser, column), made = made_for(q, column);
    if (place < q->parser->target_count)
        return given(q, place);
    return made < q->made_count ? pgw_arena_printf(q->parser->arena, ROWS "." MADE, made + 1)
                                : "null";
}

static void add_hash(rw_query *q)
{
    rw_parser *parser = q->parser;
    const rw_table *table = parser->table;
    const char **values = pgw_arena_alloc(parser->arena, table->hash_key_count * sizeof *values);
    for (size_t h = 0; h < table->hash_key_count; h++)
        values[h] = value_of(q, table->hash_key[h]);
    pgw_buf text = {0};
    pgw_buf_add_str(&text, ", ");
    if (rw_guard_wanted(parser->insert))
        rw_guard_hash_before(parser->insert, &text);
    pgw_buf_add_str(&text, rw_hash_sql(table, values, parser->arena));
    if (rw_guard_wanted(parser->insert))
        rw_guard_hash_behind(parser->insert, &text);
    put(q, q->start, 0, kept(q, &text), start_of(q, place_of(parser, table->hash_key[0])));
}

/* Puts text around the query: OFFSET 0 has each value made once, however often it is used. */
static void add_around(rw_query *q)
{
    const rw_parser *parser = q->parser;
    pgw_buf before = {0}, behind = {0};
    pgw_buf_add_str(&before, " FROM (SELECT " ROWS ".*");
    for (size_t i = 0; i < q->made_count; i++) {
        pgw_buf_add_str(&before, ", (");
        rw_add_default(parser->table->columns[q->made[i]].default_text, &before);
        pgw_buf_addf(&before, ") AS " MADE, i + 1);
    }
    pgw_buf_add_str(&before, " FROM (");
    put(q, q->start, 0, kept(q, &before), q->start);
    for (size_t i = 0; i < q->count; i++)
        if (moves(q, i))
            put(q, q->items[i].constant.start,
                q->items[i].constant.end - q->items[i].constant.start, PGW_LITERAL("NULL"),
                q->items[i].start);
    size_t named = named_each(q) ? q->count : 0;
    for (size_t h = 0; h < parser->table->hash_key_count; h++) {
        size_t place = place_of(parser, parser->table->hash_key[h]);
        if (place < parser->target_count && place >= named)
            named = place + 1;
    }
    pgw_buf_add_str(&behind, ") " ROWS " OFFSET 0) " ROWS);
    for (size_t i = 0; i < named; i++)
        pgw_buf_addf(&behind, "%s" GIVEN, i == 0 ? "(" : ", ", i + 1);
    pgw_buf_add_str(&behind, named > 0 ? ")" : "");
    put(q, q->end, 0, kept(q, &behind), q->end);
}

/* ---- the whole ---- */

/* Whether the query gives another number of columns than are listed: PostgreSQL complains of that
 * or, if it does not, of the missing hash, which is NULL. */
static bool is_miscounted(const rw_query *q, size_t width)
{
    const rw_table *table = q->parser->table;
    return q->parser->columns_listed && width > 0 && width != q->parser->target_count &&
           table->columns[table->hash_column].not_null;
}

rw_outcome rw_from_a_query(rw_parser *parser)
{
    rw_query q = {.parser = parser};
    rw_insert *insert = parser->insert;
    size_t values = insert->row_count > 0 ? parser->target_count : 0; /* columns of VALUES */
    insert->rows = NULL;
    insert->row_count = 0;
    rw_lift_give_up(parser);
    rw_outcome outcome = rw_query_read(&q);
    size_t width = width_of(&q, values);
    if (outcome == RW_PARSED && !parser->columns_listed)
        outcome = list_columns(&q, width);
    if (outcome == RW_PARSED && is_miscounted(&q, width))
        return RW_PASS;
    if (outcome == RW_PARSED)
        outcome = find_columns(&q);
    if (outcome != RW_PARSED)
        return outcome;
    if (writes_made(&q) && parser->overriding_user)
        outcome = rw_check_overridden(parser);
    if (outcome != RW_PARSED)
        return outcome;
    rw_note_blocker(parser, RW_BLOCKER_FORM);
    insert->query = true;
    insert->key_constant = false;
    insert->values = insert->tail = insert->text.len;
    add_list(&q);
    add_given(&q);
    add_hash(&q);
    add_around(&q);
    return RW_PARSED;
}
