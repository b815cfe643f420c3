#include "rewrite/insert/tail.h"

#include "rewrite/insert/returning.h"
#include "rewrite/insert/tail_expression.h"
#include "rewrite/insert/type_name.h"
#include "rewrite/lex/quote.h"

#include <string.h>

enum { MOST_TAIL = 4096 }; /* bytes that are looked through for a type */

static pgw_slice keep(rw_parser *parser, pgw_buf *buf)
{
    pgw_slice text = pgw_arena_copy(parser->arena, pgw_slice_buf(buf));
    pgw_buf_free(buf);
    return text;
}

static bool is_hash_key(const rw_table *table, size_t column)
{
    bool found = column == table->hash_column;
    for (size_t i = 0; i < table->hash_key_count; i++)
        found = found || table->hash_key[i] == column;
    return found;
}

static bool is_key(const rw_table *table, size_t column)
{
    for (size_t i = 0; i < table->primary_key_count; i++)
        if (table->primary_key[i] == column)
            return true;
    return false;
}

/* --- ON CONFLICT --- */

/* An element of a conflict target that is more than a name: up to its ',' or ')'. */
static bool skip_element(rw_parser *parser)
{
    while (!rw_at(parser, ',') && !rw_at(parser, ')')) {
        if (rw_at_end(parser) || parser->token.kind == RW_TOKEN_BAD)
            return false;
        if (!rw_at(parser, '('))
            rw_skip_token(parser);
        else if (!rw_skip_brackets(parser))
            return false;
    }
    return true;
}

/* Takes `name` or `((name))`; column_count if there is none, or it is only the beginning of an
 * expression. */
static size_t take_target_column(rw_parser *parser)
{
    const rw_table *table = parser->table;
    size_t open = 0;
    while (rw_take(parser, '('))
        open++;
    if (!rw_at_name(parser))
        return table->column_count;
    size_t column = rw_table_column(table, rw_take_name(parser));
    bool call = open == 0 && rw_at(parser, '(');
    while (open > 0 && rw_take(parser, ')'))
        open--;
    return call || open > 0 ? table->column_count : column;
}

/* The columns of a conflict target up to its ')', with COLLATE and operator classes, which the
 * backend judges. `*whole` says whether they are the columns of the key, and `*hashed` whether the
 * hash column is among them. */
static rw_outcome parse_target(rw_parser *parser, bool *whole, bool *hashed)
{
    const rw_table *table = parser->table;
    bool *seen = pgw_arena_alloc(parser->arena, (table->column_count + 1) * sizeof *seen);
    do {
        rw_mark mark = rw_mark_here(parser);
        size_t column = take_target_column(parser);
        seen[column] = true;
        if (column == table->column_count)
            rw_go_back(parser, mark);
        if (!skip_element(parser))
            return rw_syntax_error(parser);
    } while (rw_take(parser, ','));
    *hashed = seen[table->hash_column];
    *whole = !seen[table->column_count];
    for (size_t i = 0; i < table->column_count; i++)
        if (i != table->hash_column && seen[i] != is_key(table, i))
            *whole = false;
    return RW_PARSED;
}

/* PostgreSQL says it of the parenthesis at `position`. */
static rw_outcome deny_target(rw_parser *parser, size_t position)
{
    pgw_fail(parser->error, "42703", "column \"%s\" does not exist",
             parser->table->columns[parser->table->hash_column].name);
    rw_set_position(parser, position);
    return RW_REFUSED;
}

/* Behind the '(' of a conflict target. */
static rw_outcome parse_conflict_columns(rw_parser *parser)
{
    bool whole = false, hashed = false;
    size_t position = parser->last_end - 1;
    rw_outcome outcome = parse_target(parser, &whole, &hashed);
    if (outcome != RW_PARSED)
        return outcome;
    if (hashed && rw_denies(parser, parser->table->hash_column))
        return deny_target(parser, position);
    parser->conflict_on_key = whole;
    if (whole && !hashed) {
        pgw_buf text = {0};
        pgw_buf_add_str(&text, ", ");
        rw_add_identifier(&text, parser->table->columns[parser->table->hash_column].name);
        rw_add_splice(parser, parser->token.start, 0, keep(parser, &text));
    }
    rw_advance(parser);
    return RW_PARSED;
}

/* Whether the next token gives a cell of the only row once more, so that both are one value. */
static bool repeats(rw_parser *parser, const rw_cell *cell)
{
    pgw_slice text = rw_token_text(parser->text, parser->token);
    if (cell->cast_count > 0 || cell->minus_after >= 0)
        return false;
    if (parser->token.kind == RW_TOKEN_PARAM)
        return cell->kind == RW_CELL_PARAM &&
               cell->parameter == rw_param_number(parser, parser->token);
    if (parser->token.kind == RW_TOKEN_STRING && cell->kind == RW_CELL_STRING) {
        pgw_slice inside = {text.ptr + 1, text.len - 2};
        return text.len >= 2 && text.ptr[0] == '\'' && pgw_slice_eq(inside, cell->text) &&
               memchr(inside.ptr, '\\', inside.len) == NULL &&
               memchr(inside.ptr, '\'', inside.len) == NULL;
    }
    return cell->kind == RW_CELL_INTEGER && pgw_slice_eq(text, cell->text);
}

/* Behind its qualifier: the column itself. */
static bool take_itself(rw_parser *parser, size_t column)
{
    return rw_take(parser, '.') && rw_at_name(parser) &&
           rw_table_column(parser->table, rw_take_name(parser)) == column;
}

/* A value of a column of the key in SET, if it is what the column has: as it is, or, where rows
 * meet in the whole key, the new row's. */
static bool take_same(rw_parser *parser, size_t column)
{
    if (rw_take_word(parser, "excluded"))
        return parser->conflict_on_key && take_itself(parser, column);
    if (rw_at_name(parser))
        return pgw_slice_eq_str(rw_take_name(parser), parser->known_as) &&
               take_itself(parser, column);
    int slot = rw_slot_of(parser->table, column);
    bool same = parser->conflict_on_key && parser->insert->row_count == 1 && slot >= 0 &&
                repeats(parser, &parser->insert->rows[0].key[slot]);
    rw_advance(parser);
    return same;
}

/* … in brackets, perhaps. */
static bool take_same_value(rw_parser *parser, size_t column)
{
    size_t open = 0;
    while (rw_take(parser, '('))
        open++;
    bool same = take_same(parser, column);
    while (same && open > 0 && rw_take(parser, ')'))
        open--;
    return same && open == 0;
}

static bool at_end_of_item(const rw_parser *parser)
{
    return rw_at(parser, ',') || rw_at_word(parser, "where") || rw_at_word(parser, "returning") ||
           rw_at_end(parser);
}

static bool take_equals(rw_parser *parser)
{
    bool equals = pgw_slice_eq_str(rw_token_text(parser->text, parser->token), "=");
    rw_advance(parser);
    return equals;
}

/* `= value`, which the column has already, and nothing more. */
static bool at_same_value(rw_parser *parser, size_t column)
{
    rw_mark mark = rw_mark_here(parser);
    bool same = take_equals(parser) && take_same_value(parser, column) && at_end_of_item(parser);
    rw_go_back(parser, mark);
    return same;
}

/* A column on the left of `=` in DO UPDATE SET. */
typedef struct set_column {
    size_t column, position;
} set_column;

static rw_outcome parse_set_column(rw_parser *parser, set_column *out)
{
    if (!rw_at_name(parser))
        return rw_syntax_error(parser);
    out->position = parser->token.start;
    out->column = rw_table_column(parser->table, rw_take_name(parser));
    return rw_denies(parser, out->column) ? rw_deny_column(parser, out->position) : RW_PARSED;
}

/* One that the hash is made of may be set to what it is. */
static rw_outcome check_set(rw_parser *parser, const set_column *set, bool same)
{
    bool hashed = is_hash_key(parser->table, set->column);
    parser->sets_key = parser->sets_key || hashed;
    if (!hashed || (same && set->column != parser->table->hash_column))
        return RW_PARSED;
    const char *name = parser->table->columns[set->column].name;
    pgw_fail(
        parser->error, "0A000",
        "ON CONFLICT DO UPDATE cannot set column \"%s\" of table \"%s\": its hash depends on it",
        name, parser->table->name);
    pgw_error_hint(parser->error,
                   "Leave \"%s\" out of SET: on a conflict it has the same value already.", name);
    rw_set_position(parser, set->position);
    return RW_REFUSED;
}

/* What is set may be of a type that is read by names. */
static bool may_read_names(const rw_parser *parser)
{
    for (size_t i = 0; i < parser->table->column_count; i++)
        if (rw_type_is_of_names(parser->table->columns[i].type))
            return true;
    size_t left = parser->text.len - parser->last_end;
    const char *tail = parser->text.ptr + parser->last_end;
    for (size_t at = 0; at + 3 < left && at < MOST_TAIL; at++)
        if (strncasecmp(tail + at, "reg", 3) == 0)
            return true;
    return left > MOST_TAIL;
}

/* Rows that exist are changed, by which the table may fire triggers. */
static void note_update(rw_parser *parser)
{
    if (parser->table->heeds_updates || parser->table->defers_updates)
        rw_note_obstacle(parser, RW_OBSTACLE_TRIGGER);
    parser->insert->reads_names |= may_read_names(parser);
}

/* Up to the ',' or ')' behind it. */
static bool skip_in_list(rw_parser *parser)
{
    while (!rw_at(parser, ',') && !rw_at(parser, ')'))
        if (rw_at_end(parser) || parser->token.kind == RW_TOKEN_BAD)
            return false;
        else if (rw_at(parser, '(')) {
            if (!rw_skip_brackets(parser))
                return false;
        } else
            rw_skip_token(parser);
    return true;
}

/* `= (value, …)` or `= ROW (value, …)`: for each column that the hash is made of what it has
 * already. */
static rw_outcome check_set_list(rw_parser *parser, const set_column *set, size_t count)
{
    rw_mark mark = rw_mark_here(parser);
    bool values = take_equals(parser);
    (void)rw_take_word(parser, "row");
    values = values && rw_take(parser, '(') && !rw_at_word(parser, "select");
    rw_outcome outcome = RW_PARSED;
    for (size_t i = 0; i < count && outcome == RW_PARSED; i++) {
        bool hashed = is_hash_key(parser->table, set[i].column);
        bool same = values && hashed && take_same_value(parser, set[i].column) &&
                    (rw_at(parser, ',') || rw_at(parser, ')'));
        values = values && skip_in_list(parser) && rw_take(parser, i + 1 < count ? ',' : ')');
        outcome = check_set(parser, &set[i], same && values);
    }
    if (outcome == RW_PARSED)
        rw_go_back(parser, mark);
    return outcome;
}

/* Behind '('. */
static rw_outcome parse_set_list(rw_parser *parser)
{
    pgw_buf list = {0};
    rw_outcome outcome;
    do {
        set_column set;
        outcome = parse_set_column(parser, &set);
        if (outcome == RW_PARSED && !skip_in_list(parser)) /* a part of it: column[1] */
            outcome = rw_syntax_error(parser);
        pgw_buf_add(&list, &set, sizeof set);
    } while (outcome == RW_PARSED && rw_take(parser, ','));
    rw_take(parser, ')');
    if (outcome == RW_PARSED)
        outcome = check_set_list(parser, (const set_column *)(void *)list.ptr,
                                 list.len / sizeof(set_column));
    pgw_buf_free(&list);
    return outcome;
}

/* column = …, or (column, …) = … */
static rw_outcome parse_set_item(rw_parser *parser)
{
    set_column set;
    rw_outcome outcome;
    if (rw_take(parser, '(')) {
        outcome = parse_set_list(parser);
    } else {
        outcome = parse_set_column(parser, &set);
        if (outcome == RW_PARSED)
            outcome = check_set(parser, &set, at_same_value(parser, set.column));
    }
    if (outcome != RW_PARSED)
        return outcome;
    return rw_skip_tail_expression(parser, true) ? RW_PARSED : rw_syntax_error(parser);
}

/* Behind DO UPDATE. */
static rw_outcome parse_set(rw_parser *parser)
{
    if (!rw_take_word(parser, "set"))
        return rw_syntax_error(parser);
    note_update(parser);
    do {
        rw_outcome outcome = parse_set_item(parser);
        if (outcome != RW_PARSED)
            return outcome;
    } while (rw_take(parser, ','));
    parser->insert->values_merge = !rw_at_word(parser, "where");
    if (rw_take_word(parser, "where") && !rw_skip_tail_expression(parser, false))
        return rw_syntax_error(parser);
    return RW_PARSED;
}

/* The whole key in the place of its constraint's name, which may mean another by now. */
static void name_key(rw_parser *parser, size_t from, size_t to)
{
    const rw_table *table = parser->table;
    pgw_buf text = {0};
    pgw_buf_add_byte(&text, '(');
    rw_add_identifier(&text, table->columns[table->hash_column].name);
    for (size_t i = 0; i < table->primary_key_count; i++) {
        pgw_buf_add_str(&text, ", ");
        rw_add_identifier(&text, table->columns[table->primary_key[i]].name);
    }
    pgw_buf_add_byte(&text, ')');
    rw_add_splice(parser, from, to - from, keep(parser, &text));
}

/* Behind ON CONFLICT ON. */
static rw_outcome parse_constraint(rw_parser *parser)
{
    if (!rw_take_word(parser, "constraint") || !rw_at_name(parser))
        return rw_syntax_error(parser);
    pgw_slice name = rw_take_name(parser);
    const char *key = parser->table->key_name;
    parser->conflict_on_key = key != NULL && pgw_slice_eq_str(name, key);
    return RW_PARSED;
}

/* ON CONSTRAINT name, or (column, …) WHERE …, or nothing. */
static rw_outcome parse_conflict_target(rw_parser *parser)
{
    if (rw_take_word(parser, "on"))
        return parse_constraint(parser);
    if (!rw_take(parser, '('))
        return RW_PARSED;
    rw_outcome outcome = parse_conflict_columns(parser);
    if (outcome == RW_PARSED && rw_take_word(parser, "where") &&
        !rw_skip_tail_expression(parser, false))
        return rw_syntax_error(parser);
    return outcome;
}

/* Behind ON. */
static rw_outcome parse_conflict(rw_parser *parser)
{
    parser->insert->has_conflict = true;
    parser->insert->values_merge = false;
    if (!rw_take_word(parser, "conflict"))
        return rw_syntax_error(parser);
    bool named = rw_at_word(parser, "on");
    size_t from = parser->token.start;
    rw_outcome outcome = parse_conflict_target(parser);
    size_t to = parser->last_end;
    if (outcome != RW_PARSED)
        return outcome;
    if (!rw_take_word(parser, "do"))
        return rw_syntax_error(parser);
    if (rw_take_word(parser, "nothing"))
        return RW_PARSED;
    if (!rw_take_word(parser, "update"))
        return rw_syntax_error(parser);
    outcome = parse_set(parser);
    if (outcome == RW_PARSED && named && parser->conflict_on_key && parser->sets_key)
        name_key(parser, from, to);
    return outcome;
}

/* --- UPSERT and REPLACE --- */

static bool is_listed(const rw_parser *parser, size_t column)
{
    for (size_t i = 0; i < parser->target_count; i++)
        if (parser->targets[i].column == column)
            return true;
    return false;
}

static void add_assignment(pgw_buf *out, bool first, const char *column, bool excluded)
{
    pgw_buf_add_str(out, first ? " " : ", ");
    rw_add_identifier(out, column);
    pgw_buf_add_str(out, " = ");
    if (excluded) {
        pgw_buf_add_str(out, "EXCLUDED.");
        rw_add_identifier(out, column);
    } else {
        pgw_buf_add_str(out, "DEFAULT");
    }
}

static void add_assignments(rw_parser *parser, pgw_buf *out)
{
    const rw_table *table = parser->table;
    bool first = true;
    for (size_t i = 0; i < table->column_count; i++) {
        if (i == table->hash_column || is_key(table, i) || table->columns[i].generated)
            continue;
        bool listed = is_listed(parser, i);
        if (!listed && parser->insert->verb != RW_VERB_REPLACE)
            continue;
        if (!listed && table->columns[i].computed)
            rw_note_obstacle(parser, RW_OBSTACLE_EXPRESSION);
        add_assignment(out, first, table->columns[i].name, listed);
        first = false;
    }
    if (first) /* so that the row is counted */
        add_assignment(out, true, table->columns[table->primary_key[0]].name, true);
}

/* UPSERT and REPLACE are INSERT … ON CONFLICT on the whole key. */
static rw_outcome add_conflict(rw_parser *parser)
{
    const rw_table *table = parser->table;
    pgw_buf text = {0};
    pgw_buf_add_str(&text, " ON CONFLICT (");
    rw_add_identifier(&text, table->columns[table->hash_column].name);
    for (size_t i = 0; i < table->primary_key_count; i++) {
        const char *name = table->columns[table->primary_key[i]].name;
        if (!is_listed(parser, table->primary_key[i])) {
            pgw_buf_free(&text);
            pgw_fail(parser->error, "0A000",
                     "%s into table \"%s\" needs all columns of its key: "
                     "column \"%s\" is not listed",
                     parser->insert->verb == RW_VERB_UPSERT ? "UPSERT" : "REPLACE", table->name,
                     name);
            pgw_error_hint(parser->error, "Write a value for \"%s\".", name);
            return RW_REFUSED;
        }
        pgw_buf_add_str(&text, ", ");
        rw_add_identifier(&text, name);
    }
    pgw_buf_add_str(&text, ") DO UPDATE SET");
    add_assignments(parser, &text);
    parser->insert->has_conflict = true;
    note_update(parser);
    rw_add_splice(parser, parser->last_end, 0, keep(parser, &text));
    return RW_PARSED;
}

rw_outcome rw_parse_tail(rw_parser *parser)
{
    rw_outcome outcome = RW_PARSED;
    parser->insert->values_merge = !parser->insert->query;
    if (parser->insert->verb != RW_VERB_INSERT)
        outcome = add_conflict(parser);
    else if (rw_take_word(parser, "on"))
        outcome = parse_conflict(parser);
    if (outcome == RW_PARSED && rw_take_word(parser, "returning")) {
        parser->insert->returning = parser->last_end;
        outcome = rw_parse_returning(parser);
    }
    if (outcome != RW_PARSED)
        return outcome;
    size_t end = parser->last_end;
    while (rw_take(parser, ';'))
        ;
    if (parser->token.kind != RW_TOKEN_END)
        return rw_syntax_error(parser);
    parser->last_end = end;
    return RW_PARSED;
}
