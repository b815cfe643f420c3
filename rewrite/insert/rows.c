#include "rewrite/insert/rows.h"

#include "rewrite/insert/expression.h"
#include "rewrite/insert/lift.h"
#include "rewrite/insert/query.h"
#include "rewrite/insert/query_read.h"
#include "rewrite/insert/type_name.h"
#include "rewrite/insert/wanted.h"
#include "rewrite/lex/quote.h"

#include <string.h>

/* Makes the list that PostgreSQL would take: the visible columns, as many as there are values. */
static void list_columns(rw_parser *parser, size_t count)
{
    const rw_table *table = parser->table;
    pgw_buf list = {0};
    parser->insert->list_made = true;
    pgw_buf_add_str(&list, " (");
    for (size_t i = 0; i < table->column_count && parser->target_count < count; i++) {
        if (i == table->hash_column)
            continue;
        rw_add_target(parser, i, 0);
        rw_add_identifier(&list, table->columns[i].name);
        pgw_buf_add_str(&list, ", ");
    }
    rw_add_identifier(&list, table->columns[table->hash_column].name);
    pgw_buf_add_byte(&list, ')');
    rw_splice *splice = &parser->insert->splices[parser->insert->splice_count - 1];
    splice->text = pgw_arena_copy(parser->arena, pgw_slice_buf(&list));
    pgw_buf_free(&list);
}

static rw_outcome wrong_count(rw_parser *parser, const char *message, size_t offset)
{
    if (parser->unknown_column)
        return RW_PASS; /* PostgreSQL complains of the unknown column first */
    pgw_fail(parser->error, "42601", "%s", message);
    rw_set_position(parser, offset);
    return RW_REFUSED;
}

/* Keeps a few rows in the arena, and many in memory of their own: arrays that they outgrow would
 * fill the arena. */
static void grow_rows(rw_parser *parser)
{
    enum { FEW = 64 };
    rw_insert *insert = parser->insert;
    size_t count = insert->row_count, cap = parser->row_cap > 0 ? parser->row_cap * 2 : 1;
    const rw_row *few = parser->many == NULL ? insert->rows : NULL;
    if (cap <= FEW)
        insert->rows = pgw_arena_alloc(parser->arena, cap * sizeof *insert->rows);
    else
        insert->rows = parser->many = pgw_realloc(parser->many, cap * sizeof *insert->rows);
    if (few != NULL)
        memcpy(insert->rows, few, count * sizeof *few);
    memset(insert->rows + count, 0, (cap - count) * sizeof *insert->rows);
    parser->row_cap = cap;
}

static rw_row *add_row(rw_parser *parser)
{
    static const rw_cell absent = {.kind = RW_CELL_ABSENT};
    rw_insert *insert = parser->insert;
    if (insert->row_count == parser->row_cap)
        grow_rows(parser);
    rw_row *row = &insert->rows[insert->row_count++];
    size_t cells = parser->table->primary_key_count + insert->hash_listed;
    row->key = pgw_arena_alloc(parser->arena, cells * sizeof *row->key);
    row->hash_cell = insert->hash_listed ? &row->key[cells - 1] : &absent;
    return row;
}

static bool is_constant(const rw_cell *cell)
{
    return cell->kind != RW_CELL_ABSENT && cell->kind != RW_CELL_DEFAULT &&
           cell->kind != RW_CELL_EXPRESSION;
}

/* Whether the value is made of another type's text, which settings may decide. */
static bool is_shown(const rw_cell *cell, const rw_column *column)
{
    if (cell->cast_count == 0 || cell->kind == RW_CELL_NULL)
        return false;
    if (column == NULL)
        return true;
    if (cell->cast_count == 1 && cell->casts[0].type == column->type)
        return false;
    bool one_text = pgw_type_has_one_text(column->type);
    for (size_t i = 0; i < cell->cast_count; i++)
        one_text = one_text && pgw_type_has_one_text(cell->casts[i].type);
    return !one_text;
}

/* Whether the text has a form in which 9 is any digit, and + a sign. */
static bool has_form(pgw_slice text, const char *form)
{
    for (size_t i = 0; i < text.len; i++, form++) {
        char c = text.ptr[i];
        bool fits = *form == '9'   ? c >= '0' && c <= '9'
                    : *form == '+' ? c == '+' || c == '-'
                                   : c == *form;
        if (!fits || *form == '\0')
            return false;
    }
    return *form == '\0';
}

/* Whether all sessions read the text as the same value. */
static bool is_read_alike(uint32_t type, pgw_slice text)
{
    switch (type) {
    case PGW_DATE:
        return has_form(text, "9999-99-99");
    case PGW_TIMESTAMP:
        return has_form(text, "9999-99-99 99:99:99");
    case PGW_TIMESTAMPTZ:
        return has_form(text, "9999-99-99 99:99:99+99");
    default:
        return pgw_type_has_one_text(type);
    }
}

/* Whether another session, or this one later, may read another value of the cell. */
static bool heeds_settings(const rw_cell *cell, const rw_column *column)
{
    if (column == NULL || cell->cast_count > 0 || cell->kind == RW_CELL_EXPRESSION)
        return true;
    return cell->kind == RW_CELL_STRING && !is_read_alike(column->type, cell->text);
}

/* Whether DateStyle, IntervalStyle or TimeZone may decide how a type's text is read: a date, a
 * time, an interval, ranges and arrays of them, and any type that is not PostgreSQL's own. */
static bool is_of_time(uint32_t type)
{
    static const uint32_t types[] = {PGW_UNSPECIFIED,
                                     PGW_DATE,
                                     PGW_TIMESTAMP,
                                     PGW_TIMESTAMPTZ,
                                     1083,
                                     1186,
                                     1266,
                                     1182,
                                     1115,
                                     1185,
                                     1183,
                                     1187,
                                     1270,
                                     3908,
                                     3910,
                                     3912,
                                     3909,
                                     3911,
                                     3913,
                                     4533,
                                     4534,
                                     4535,
                                     6152,
                                     6153,
                                     6155};
    bool is = type >= 16384;
    for (size_t i = 0; i < sizeof types / sizeof *types && !is; i++)
        is = type == types[i];
    return is;
}

/* Whether DateStyle, IntervalStyle or TimeZone decide the cell's constant, which is read once, when
 * its statement is prepared. */
static bool reads_constant(const rw_cell *cell, const rw_column *column)
{
    if (cell->kind != RW_CELL_STRING)
        return false;
    uint32_t type = cell->cast_count > 0 ? cell->casts[0].type
                    : column != NULL     ? column->type
                                         : PGW_UNSPECIFIED;
    return is_of_time(type) && !is_read_alike(type, cell->text);
}

/* Whether the value depends on what names mean: its column's type reads names, or it is cast to a
 * type that is not known here or that the database may have of its own, too. */
static bool reads_names(const rw_cell *cell, const rw_column *column)
{
    bool reads =
        column != NULL && (rw_type_is_of_names(column->type) ||
                           ((column->own_names || column->own_rows) && cell->cast_count > 0));
    for (size_t i = 0; i < cell->cast_count && !reads; i++)
        reads = cell->casts[i].type == PGW_UNSPECIFIED;
    return reads;
}

/* Notes what a cell says about its column: a parameter's type, a draw from a sequence, a default, a
 * text that was made of something else. */
static void note_cell(rw_parser *parser, const rw_target *target, const rw_cell *cell)
{
    const rw_table *table = parser->table;
    bool known = target->column < table->column_count && !target->indirect;
    const rw_column *column = known ? &table->columns[target->column] : NULL;
    parser->insert->shows |= is_shown(cell, column);
    parser->insert->heeds_settings |= heeds_settings(cell, column);
    parser->insert->reads_constants |= reads_constant(cell, column);
    parser->insert->reads_names |= reads_names(cell, column);
    parser->writes_identity |= known && column->always && cell->kind != RW_CELL_DEFAULT;
    if (cell->kind == RW_CELL_DEFAULT && known && column->computed)
        rw_note_blocker(parser, RW_BLOCKER_EXPRESSION);
    if (cell->kind == RW_CELL_PARAM) {
        uint32_t type = cell->cast_count > 0 ? cell->casts[0].type
                        : known              ? table->columns[target->column].type
                                             : PGW_UNSPECIFIED;
        rw_note_param(parser, cell->parameter, type);
        if (known && cell->cast_count == 0)
            rw_note_inference(parser, target->column);
    } else if (cell->kind == RW_CELL_DEFAULT && known && table->columns[target->column].sequence) {
        rw_note_blocker(parser, RW_BLOCKER_SEQUENCE);
    }
}

/* The cell of a row in which a value is kept: the hash column's stands behind those of the key;
 * `scratch` is for other columns. */
static rw_cell *cell_of(const rw_table *table, rw_row *row, const rw_target *target,
                        rw_cell *scratch)
{
    if (target == NULL || target->slot == RW_NO_SLOT)
        return scratch;
    return &row->key[target->slot == RW_HASH_SLOT ? table->primary_key_count
                                                  : (size_t)target->slot];
}

/* Parses the values between '(' and ')'. A first row without a column list is parsed twice: its
 * values are counted before its targets are known. */
static rw_outcome parse_cells(rw_parser *parser, rw_row *row, size_t *count)
{
    *count = 0;
    do {
        const rw_target *target = *count < parser->target_count ? &parser->targets[*count] : NULL;
        rw_cast casts[RW_MAX_CASTS];
        rw_cell scratch = {.casts = casts};
        rw_cell *cell = cell_of(parser->table, row, target, &scratch);
        bool wanted = cell != &scratch || parser->insert->lifts != NULL;
        parser->keyless = cell == &scratch;
        rw_outcome outcome = rw_parse_cell(parser, wanted, cell);
        parser->keyless = false;
        if (outcome != RW_PARSED)
            return outcome;
        if (cell == row->hash_cell)
            row->hash_end = parser->last_end;
        rw_lift_cell(parser, target, cell);
        if (target != NULL) {
            note_cell(parser, target, cell);
            if (target->indirect)
                cell->kind = RW_CELL_EXPRESSION;
        }
        if (parser->columns_listed && *count == parser->target_count &&
            parser->insert->row_count == 1)
            return wrong_count(parser, "INSERT has more expressions than target columns",
                               cell->position);
        ++*count;
    } while (rw_take(parser, ','));
    return rw_at(parser, ')') ? RW_PARSED : rw_syntax_error(parser);
}

static rw_outcome null_key(rw_parser *parser, size_t column)
{
    pgw_fail(parser->error, "23502",
             "null value in column \"%s\" of relation \"%s\" violates not-null constraint",
             parser->table->columns[column].name, parser->table->name);
    return RW_REFUSED;
}

static const char *why_uncomputable(const rw_cell *cell)
{
    switch (cell->kind) {
    case RW_CELL_ABSENT:
        return "is not listed";
    case RW_CELL_DEFAULT:
        return "is DEFAULT";
    case RW_CELL_EXPRESSION:
        return "is an expression";
    default:
        return "is drawn from its sequence (OVERRIDING USER VALUE)";
    }
}

/* Whether the cell leaves its column NULL. A NULL with a cast does not count: PostgreSQL looks at
 * its type first. */
static bool is_null(const rw_parser *parser, const rw_cell *cell, size_t column)
{
    if (cell->kind == RW_CELL_ABSENT || cell->kind == RW_CELL_DEFAULT)
        return rw_table_defaults_to_null(parser->table, column);
    return cell->kind == RW_CELL_NULL && cell->cast_count == 0 && !rw_overridden(parser, column);
}

/* Has the backend asked for a constant whose value only it can tell. False: the value is known
 * here, or it cannot be asked for. */
static bool want_constant(rw_parser *parser, size_t index, size_t column)
{
    const rw_row *row = &parser->insert->rows[index];
    const rw_cell *cell = &row->key[rw_slot_of(parser->table, column)];
    pgw_error ignored;
    pgw_reading reading = {parser->env, parser->arena, &ignored};
    return rw_cell_is_unknowable(cell, &parser->table->columns[column], &reading) &&
           rw_want(parser, index, column);
}

/* Checks that a row's hash_key columns are constants, or can be asked for. */
static rw_outcome check_key(rw_parser *parser, size_t index)
{
    const rw_table *table = parser->table;
    const rw_row *row = &parser->insert->rows[index];
    for (size_t i = 0; i < table->primary_key_count; i++)
        if (!is_constant(&row->key[i]))
            parser->insert->key_constant = false;
    for (size_t i = 0; i < table->hash_key_count; i++) {
        size_t column = table->hash_key[i];
        const rw_cell *cell = &row->key[rw_slot_of(table, column)];
        if (is_null(parser, cell, column) && !parser->unknown_column) {
            if (!rw_table_hashes_null(table, column))
                return null_key(parser, column);
            continue;
        }
        if (is_constant(cell) && !rw_overridden(parser, column)) {
            (void)want_constant(parser, index, column);
            continue;
        }
        if (parser->unknown_column && !parser->insert->hash_listed)
            return RW_PASS; /* PostgreSQL complains of the unknown column first */
        if (rw_want(parser, index, column))
            continue;
        return rw_uncomputable(parser, column,
                               cell->kind == RW_CELL_ABSENT ? row->open : cell->position,
                               why_uncomputable(cell));
    }
    return RW_PARSED;
}

/* Counts the values of the first row, for a statement without a column list. */
static rw_outcome count_columns(rw_parser *parser)
{
    const rw_table *table = parser->table;
    rw_mark mark = rw_mark_here(parser);
    rw_row none = {.key = NULL};
    size_t count, visible = table->column_count - 1;
    rw_outcome outcome = parse_cells(parser, &none, &count);
    if (outcome != RW_PARSED)
        return outcome;
    if (count <= visible) {
        rw_go_back(parser, mark);
        list_columns(parser, count);
        return RW_PARSED;
    }
    rw_go_back(parser, mark);
    for (size_t i = 0; i <= visible; i++) {
        rw_cast casts[RW_MAX_CASTS];
        rw_cell cell = {.casts = casts, .minus_after = -1};
        if (rw_parse_cell(parser, false, &cell) == RW_PARSED && i == visible)
            return wrong_count(parser, "INSERT has more expressions than target columns",
                               cell.position);
        rw_advance(parser);
    }
    return RW_PASS;
}

static rw_outcome parse_row(rw_parser *parser, size_t *first_count)
{
    size_t open = parser->token.start;
    if (!rw_take(parser, '('))
        return rw_syntax_error(parser);
    rw_outcome outcome = RW_PARSED;
    if (!parser->columns_listed && parser->target_count == 0)
        outcome = count_columns(parser);
    if (outcome != RW_PARSED)
        return outcome;
    size_t first_cell = parser->token.start, count;
    rw_row *row = add_row(parser);
    (parser->insert->row_count == 1 ? rw_lift_begin : rw_lift_give_up)(parser);
    outcome = parse_cells(parser, row, &count);
    if (outcome != RW_PARSED)
        return outcome;
    row->open = open;
    row->close = parser->token.start;
    if (parser->insert->row_count == 1)
        *first_count = count;
    else if (count != *first_count)
        return wrong_count(parser, "VALUES lists must all be the same length", first_cell);
    rw_advance(parser);
    return RW_PARSED;
}

/* Keeps OVERRIDING SYSTEM VALUE, put in for the key, from letting other identities be written. */
static rw_outcome check_others(rw_parser *parser)
{
    if (parser->overriding_user)
        return rw_check_overridden(parser);
    return parser->writes_identity ? RW_PASS : RW_PARSED;
}

rw_outcome rw_parse_rows(rw_parser *parser, size_t depth)
{
    rw_insert *insert = parser->insert;
    size_t count = 0;
    insert->key_constant = true;
    do {
        rw_outcome outcome = parse_row(parser, &count);
        if (outcome != RW_PARSED)
            return outcome;
    } while (rw_take(parser, ','));
    insert->tail = parser->last_end;
    for (; depth > 0 && rw_take(parser, ')'); depth--)
        ;
    if (rw_at_query_tail(parser))
        return rw_from_a_query(parser);
    if (depth > 0)
        return rw_syntax_error(parser);
    if (count < parser->target_count)
        return wrong_count(parser, "INSERT has more target columns than expressions",
                           parser->targets[count].position);
    for (size_t i = 0; i < insert->row_count; i++) {
        rw_outcome outcome = check_key(parser, i);
        if (outcome != RW_PARSED)
            return outcome;
    }
    return insert->overriding > 0 ? check_others(parser) : RW_PARSED;
}
