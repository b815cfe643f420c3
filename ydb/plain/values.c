#include "ydb/plain/values.h"

#include "protocol/utf8.h"
#include "rewrite/lex/lexer_text.h"
#include "rewrite/lex/quote.h"
#include "ydb/plain/doubt.h"
#include "rewrite/statement/script/types.h"

#include <string.h>

enum { BIT = 1560, VARBIT = 1562 };

bool rw_refuse(const rw_subject *subject, size_t at, const char *what, const char *hint)
{
    const pgw_reading *reading = subject->reading;
    pgw_fail(reading->error, "0A000", "%s", what);
    pgw_error_hint(reading->error, "%s", hint);
    reading->error->position = pgw_characters(subject->text, at, reading->env->utf8) + 1;
    return false;
}

bool rw_check_with(rw_subject subject)
{
    return !subject.clauses->with_writes || rw_refuse(&subject, subject.clauses->with.from,
                                                      "WITH queries that write are not supported",
                                                      "YDB takes none: send them on their own.");
}

/* --- fields --- */

static bool has_length(uint32_t type)
{
    return type == PGW_VARCHAR || type == PGW_BPCHAR || type == BIT || type == VARBIT;
}

/* The column's type as a cast names it; `bare`: without its typmod. */
static const char *cast_type(const rw_column *column, bool bare, pgw_arena *arena)
{
    pgw_buf name = {0};
    if (column->type == PGW_UNSPECIFIED || column->type == PGW_UNKNOWN)
        return NULL;
    if (!bare || !rw_add_type(column->type, &name))
        pgw_buf_add_str(&name, column->type_name != NULL ? column->type_name : "");
    if (name.len == 0 && !rw_add_type(column->type, &name))
        return NULL;
    const char *copy = pgw_arena_copy(arena, pgw_slice_buf(&name)).ptr;
    pgw_buf_free(&name);
    return copy;
}

static int32_t limit_of(const rw_column *column)
{
    if (!has_length(column->type) || column->typmod < 0)
        return -1;
    return column->type == BIT || column->type == VARBIT ? column->typmod : column->typmod - 4;
}

static const char *default_text(const rw_column *column, pgw_arena *arena)
{
    return column->default_text == NULL || column->generated
               ? NULL
               : pgw_arena_copy(arena, pgw_slice_str(column->default_text)).ptr;
}

static const char *if_certain(const char *default_text)
{
    static const unsigned doubts =
        RW_DOUBT_VOLATILE | RW_DOUBT_SETS | RW_DOUBT_CHOICE | RW_DOUBT_MOMENT;
    if (default_text == NULL)
        return NULL;
    pgw_slice text = pgw_slice_str(default_text);
    rw_part all = {0, text.len};
    return rw_part_is_empty(rw_find_doubt(text, all, doubts, true)) ? text.ptr : NULL;
}

/* Whether the length or the precision of a column may be unknown, because the column was only
 * learned of. */
static bool is_vague(const rw_subject *subject, const rw_column *column)
{
    static const uint32_t exact[] = {PGW_BOOL, PGW_INT2,   PGW_INT4,   PGW_INT8, PGW_TEXT,
                                     PGW_NAME, PGW_BYTEA,  PGW_UUID,   PGW_DATE, RW_CHAR,
                                     RW_OID,   PGW_FLOAT4, PGW_FLOAT8, RW_JSON,  RW_JSONB};
    if (subject->table != NULL || subject->options->drops_typmods)
        return false;
    for (size_t i = 0; i < sizeof exact / sizeof *exact; i++)
        if (column->type == exact[i])
            return false;
    return true;
}

static rw_field field_of(const rw_subject *subject, const rw_table *table, size_t at)
{
    const rw_column *column = &table->columns[at];
    pgw_arena *arena = subject->reading->arena;
    const bool drops = subject->options->drops_typmods;
    rw_field field = {.name = pgw_arena_copy(arena, pgw_slice_str(column->name)).ptr,
                      .limit = drops ? -1 : limit_of(column),
                      .defaults_to_null =
                          rw_table_defaults_to_null(table, at) && !column->generated,
                      .default_text = default_text(column, arena),
                      .cell = RW_NO_CELL};
    field.by_default = if_certain(field.default_text);
    if (!is_vague(subject, column)) {
        field.type = cast_type(column, drops, arena);
        field.loose = cast_type(column, drops || has_length(column->type), arena);
    }
    return field;
}

void rw_fields_of_table(const rw_subject *subject, rw_values *out)
{
    const rw_table *table = subject->table != NULL ? subject->table : subject->learned;
    const rw_part list = subject->clauses->columns;
    pgw_arena *arena = subject->reading->arena;
    const size_t known = table == NULL ? 0 : table->column_count;
    out->fields =
        pgw_arena_alloc(arena, (known + (list.to - list.from) / 2 + 1) * sizeof *out->fields);
    out->field_count = known;
    for (size_t i = 0; i < known; i++)
        out->fields[i] = field_of(subject, table, i);
}

static rw_field *find(const rw_values *values, pgw_slice name)
{
    for (size_t i = 0; i < values->field_count; i++)
        if (pgw_slice_eq_str(name, values->fields[i].name))
            return &values->fields[i];
    return NULL;
}

const rw_field *rw_field_named(const rw_values *values, pgw_slice name)
{
    return find(values, name);
}

/* Adds a column of the list; if the table has none of this name, the endpoint will say so. */
static bool list_field(const rw_subject *subject, const rw_cursor *cursor, rw_values *out)
{
    pgw_arena *arena = subject->reading->arena;
    pgw_slice name = rw_token_name(subject->text, cursor->token, arena);
    rw_field *field = find(out, name);
    if (field == NULL) {
        field = &out->fields[out->field_count++];
        *field =
            (rw_field){.name = pgw_arena_copy(arena, name).ptr, .limit = -1, .cell = RW_NO_CELL};
    }
    if (field->cell != RW_NO_CELL) {
        pgw_fail(subject->reading->error, "42701", "column \"%s\" specified more than once",
                 field->name);
        subject->reading->error->position =
            pgw_characters(subject->text, cursor->token.start, subject->reading->env->utf8) + 1;
        return false;
    }
    field->cell = out->width++;
    return true;
}

static bool read_list(const rw_subject *subject, rw_values *out)
{
    static const char odd[] = "only names of whole columns are supported in this list";
    rw_cursor cursor;
    const rw_part list = subject->clauses->columns;
    rw_fields_of_table(subject, out);
    out->listed = !rw_part_is_empty(list);
    if (!out->listed)
        return true;
    rw_cursor_begin(&cursor, subject->text, (rw_part){list.from + 1, list.to - 1},
                    subject->reading->env->conforming);
    do {
        if (!rw_cursor_at_name(&cursor))
            return rw_refuse(subject, cursor.token.start, odd, "Insert whole values.");
        if (!list_field(subject, &cursor, out))
            return false;
        rw_cursor_advance(&cursor);
    } while (rw_cursor_take(&cursor, ','));
    return rw_cursor_ended(&cursor) ||
           rw_refuse(subject, cursor.token.start, odd, "Insert whole values.");
}

/* --- rows --- */

static bool wrong_width(const rw_subject *subject, size_t at, size_t count, size_t width)
{
    pgw_error *error = subject->reading->error;
    if (count == 0)
        pgw_fail(error, "42601", "syntax error in VALUES");
    else
        pgw_fail(error, "42601", "INSERT has more %s than %s",
                 count > width ? "expressions" : "target columns",
                 count > width ? "target columns" : "expressions");
    error->position = pgw_characters(subject->text, at, subject->reading->env->utf8) + 1;
    return false;
}

/* Takes the cells of a row, whose '(' is next; `cells` is NULL to count them. 0: a cell is
 * empty. */
static size_t take_cells(rw_cursor *cursor, rw_part *cells, size_t most)
{
    size_t count = 0;
    rw_cursor_advance(cursor);
    do {
        rw_part cell = {cursor->token.start, cursor->token.start};
        while (!rw_cursor_ended(cursor) && !rw_cursor_at(cursor, ',') &&
               !rw_cursor_at(cursor, ')') && rw_cursor_skip(cursor))
            cell.to = cursor->before.end;
        if (rw_part_is_empty(cell))
            return 0;
        if (cells != NULL && count < most)
            cells[count] = cell;
        count++;
    } while (rw_cursor_take(cursor, ','));
    rw_cursor_advance(cursor);
    return count;
}

static bool read_rows(const rw_subject *subject, rw_values *out)
{
    const rw_clauses *clauses = subject->clauses;
    pgw_arena *arena = subject->reading->arena;
    rw_cursor cursor;
    rw_cursor_begin(&cursor, subject->text, (rw_part){clauses->rows, clauses->source.to},
                    subject->reading->env->conforming);
    if (!out->listed) {
        rw_cursor ahead = cursor;
        out->width = take_cells(&ahead, NULL, 0);
    }
    out->row_count = clauses->row_count;
    out->rows = pgw_arena_alloc(arena, out->row_count * sizeof *out->rows);
    out->cells = pgw_arena_alloc(arena, (out->row_count * out->width + 1) * sizeof *out->cells);
    for (size_t i = 0; i < out->row_count; i++) {
        const size_t open = cursor.token.start;
        size_t count = take_cells(&cursor, &out->cells[i * out->width], out->width);
        if (count == 0 || count != out->width)
            return wrong_width(subject, open, count, out->width);
        out->rows[i] = (rw_part){open, cursor.before.end};
        rw_cursor_take(&cursor, ',');
    }
    return true;
}

bool rw_values_read(const rw_subject *subject, rw_values *out)
{
    *out = (rw_values){0};
    if (!read_list(subject, out))
        return false;
    if (subject->clauses->source_kind == RW_SOURCE_VALUES)
        return read_rows(subject, out);
    out->row_count = subject->clauses->row_count; /* DEFAULT VALUES are one row */
    out->rows = pgw_arena_alloc(subject->reading->arena, sizeof *out->rows);
    return true;
}

/* --- cells --- */

rw_part rw_values_cell(const rw_values *values, size_t row, const rw_field *field)
{
    if (field->cell == RW_NO_CELL)
        return (rw_part){0, 0};
    return values->cells[row * values->width + field->cell];
}

bool rw_is_default(pgw_slice text, rw_part cell)
{
    return cell.to == cell.from || pgw_slice_ieq_str(rw_part_text(text, cell), "default");
}

/* Whether it is NULL, or a string without quotes and backslashes in it that is no longer than the
 * field. */
static bool fits(pgw_slice it, int32_t limit)
{
    if (limit < 0 || pgw_slice_ieq_str(it, "null"))
        return true;
    if (it.len < 2 || it.ptr[0] != '\'' || it.len > (size_t)limit + 2)
        return false;
    return memchr(it.ptr + 1, '\'', it.len - 1) == it.ptr + it.len - 1 &&
           memchr(it.ptr, '\\', it.len) == NULL;
}

bool rw_cell_is_certain(pgw_slice text, const rw_field *field, rw_part cell)
{
    if (field->type == NULL)
        return false;
    if (!rw_is_default(text, cell))
        return fits(rw_part_text(text, cell), field->limit);
    return field->defaults_to_null ||
           (field->by_default != NULL && fits(pgw_slice_str(field->by_default), field->limit));
}

void rw_weave_name(rw_weave *weave, const char *name)
{
    rw_add_identifier(&weave->text, name);
}

void rw_weave_given(rw_weave *weave, const rw_field *field, rw_part cell)
{
    if (!rw_is_default(weave->client, cell))
        rw_weave_client(weave, cell);
    else if (field != NULL && field->by_default != NULL)
        pgw_buf_addf(&weave->text, "(%s)", field->by_default);
    else
        rw_weave_own(weave, "NULL");
}

bool rw_default_is_known(const rw_field *field)
{
    return field->defaults_to_null || field->default_text != NULL;
}

void rw_weave_assigned(rw_weave *weave, const rw_field *field, rw_part cell)
{
    if (rw_is_default(weave->client, cell) && field->default_text != NULL)
        pgw_buf_addf(&weave->text, "(%s)", field->default_text);
    else
        rw_weave_given(weave, field, cell);
}

static void weave_cast(rw_weave *weave, const rw_field *field, rw_part cell, const char *type)
{
    rw_weave_own(weave, "CAST(");
    rw_weave_given(weave, field, cell);
    rw_weave_own(weave, " AS ");
    rw_weave_own(weave, type);
    rw_weave_own(weave, ")");
}

void rw_weave_cell(rw_weave *weave, const rw_field *field, rw_part cell)
{
    const bool fitting = rw_cell_is_certain(weave->client, field, cell);
    weave_cast(weave, field, cell, fitting ? field->type : field->loose);
}

void rw_weave_stored(rw_weave *weave, const rw_field *field, rw_part cell)
{
    weave_cast(weave, field, cell, field->type);
}
