#include "rewrite/insert/do_update.h"

#include "rewrite/insert/new_key.h"
#include "rewrite/insert/repeat.h"
#include "rewrite/insert/tail_expression.h"
#include "rewrite/insert/type_name.h"

#include <string.h>

enum { MOST_TAIL = 4096 }; /* bytes of the tail that are searched for names of reg types */

static bool is_hash_key(const rw_table *table, size_t column)
{
    bool found = column == table->hash_column;
    for (size_t i = 0; i < table->hash_key_count; i++)
        found = found || table->hash_key[i] == column;
    return found;
}

/* A column on the left of `=` in DO UPDATE SET. */
typedef struct set_column {
    size_t column, position;
    bool part;      /* only a part of the column is set: column[1] */
    bool repeats;   /* the value is the only row's cell once more */
    rw_token again; /* the token that repeats the cell */
} set_column;

/* Takes `.column` behind a qualifier, if it is this column. */
static bool take_itself(rw_parser *parser, size_t column)
{
    return rw_take(parser, '.') && rw_at_name(parser) &&
           rw_table_column(parser->table, rw_take_name(parser)) == column;
}

/* Takes a value in SET that a column of the key has already: the row's own or, where rows conflict
 * in the whole key, the new row's. */
static bool take_same(rw_parser *parser, set_column *set)
{
    if (rw_take_word(parser, "excluded"))
        return parser->conflict_on_key && take_itself(parser, set->column);
    if (rw_at_name(parser))
        return pgw_slice_eq_str(rw_take_name(parser), parser->known_as) &&
               take_itself(parser, set->column);
    set->repeats = parser->conflict_on_key && parser->insert->row_count == 1 &&
                   rw_repeats_cell(parser, set->column);
    set->again = parser->token;
    rw_advance(parser);
    return set->repeats;
}

/* Takes a value that the column has already, in brackets or not. */
static bool take_same_value(rw_parser *parser, set_column *set)
{
    size_t open = 0;
    while (rw_take(parser, '('))
        open++;
    bool same = take_same(parser, set);
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

/* Whether `= value` comes next, with the value that the column has already, and nothing more. */
static bool at_same_value(rw_parser *parser, set_column *set)
{
    rw_mark mark = rw_mark_here(parser);
    bool same = take_equals(parser) && take_same_value(parser, set) && at_end_of_item(parser);
    rw_go_back(parser, mark);
    return same;
}

static rw_outcome parse_set_column(rw_parser *parser, set_column *out)
{
    if (!rw_at_name(parser))
        return rw_syntax_error(parser);
    out->position = parser->token.start;
    out->column = rw_table_column(parser->table, rw_take_name(parser));
    out->part = rw_at(parser, '[') || rw_at(parser, '.');
    return rw_denies(parser, out->column) ? rw_deny_column(parser, out->position) : RW_PARSED;
}

static rw_outcome refuse_set(rw_parser *parser, const set_column *set)
{
    const char *name = parser->table->columns[set->column].name;
    pgw_fail(
        parser->error, "0A000",
        "ON CONFLICT DO UPDATE cannot set column \"%s\" of table \"%s\": its hash depends on it",
        name, parser->table->name);
    if (set->column == parser->table->hash_column)
        pgw_error_hint(parser->error, "keyspread computes the hash column; leave it out.");
    else
        pgw_error_hint(parser->error,
                       "Leave \"%s\" out of SET if it is to stay what it is; to change it, use ON "
                       "CONFLICT DO NOTHING, and UPDATE the row that is there.",
                       name);
    rw_set_position(parser, set->position);
    return RW_REFUSED;
}

/* Refuses to change a column that the hash is made of (it may be set to what it is), or to set the
 * hash column. */
static rw_outcome check_set(rw_parser *parser, const set_column *set, bool same)
{
    bool hashed = is_hash_key(parser->table, set->column);
    parser->sets_key = parser->sets_key || hashed;
    if (hashed && same && set->repeats)
        rw_send_repeated(parser, set->column, set->again);
    if (!hashed || (same && set->column != parser->table->hash_column))
        return RW_PARSED;
    return refuse_set(parser, set);
}

/* Whether a value in SET may be of a type, or cast to one, that reads names or is found by one. */
static bool may_read_names(const rw_parser *parser)
{
    const rw_column *columns = parser->table->columns;
    for (size_t i = 0; i < parser->table->column_count; i++)
        if (rw_type_is_of_names(columns[i].type) || columns[i].own_names || columns[i].own_rows)
            return true;
    size_t left = parser->text.len - parser->last_end;
    const char *tail = parser->text.ptr + parser->last_end;
    for (size_t at = 0; at + 3 < left && at < MOST_TAIL; at++)
        if (strncasecmp(tail + at, "reg", 3) == 0)
            return true;
    return left > MOST_TAIL;
}

void rw_note_update(rw_parser *parser)
{
    if (parser->table->heeds_updates || parser->table->defers_updates)
        rw_note_blocker(parser, RW_BLOCKER_TRIGGER);
    parser->insert->reads_names |= may_read_names(parser);
}

/* Skips an element of a list, up to the ',' or ')' behind it. */
static bool skip_in_list(rw_parser *parser)
{
    while (!rw_at(parser, ',') && !rw_at(parser, ')'))
        if (rw_at_end(parser) || parser->token.kind == RW_TOKEN_BAD)
            return false;
        else if (rw_at(parser, '(') || rw_at(parser, '[')) { /* ARRAY[1, 2] has commas, too */
            if (!rw_skip_brackets(parser))
                return false;
        } else
            rw_skip_token(parser);
    return true;
}

/* Checks `= (value, …)` or `= ROW (value, …)`: each column that the hash is made of must get the
 * value that it has already. */
static rw_outcome check_set_list(rw_parser *parser, set_column *set, size_t count)
{
    rw_mark mark = rw_mark_here(parser);
    bool values = take_equals(parser);
    (void)rw_take_word(parser, "row");
    values = values && rw_take(parser, '(') && !rw_at_word(parser, "select");
    rw_outcome outcome = RW_PARSED;
    for (size_t i = 0; i < count && outcome == RW_PARSED; i++) {
        bool hashed = is_hash_key(parser->table, set[i].column);
        bool same = values && hashed && !set[i].part && take_same_value(parser, &set[i]) &&
                    (rw_at(parser, ',') || rw_at(parser, ')'));
        values = values && skip_in_list(parser) && rw_take(parser, i + 1 < count ? ',' : ')');
        outcome = check_set(parser, &set[i], same && values);
    }
    if (outcome == RW_PARSED)
        rw_go_back(parser, mark);
    return outcome;
}

/* Parses `column, …) = …`, behind the '('. */
static rw_outcome parse_set_list(rw_parser *parser)
{
    pgw_buf list = {0};
    rw_outcome outcome;
    do {
        set_column set = {0};
        outcome = parse_set_column(parser, &set);
        if (outcome == RW_PARSED && !skip_in_list(parser))
            outcome = rw_syntax_error(parser);
        pgw_buf_add(&list, &set, sizeof set);
    } while (outcome == RW_PARSED && rw_take(parser, ','));
    rw_take(parser, ')');
    if (outcome == RW_PARSED)
        outcome =
            check_set_list(parser, (set_column *)(void *)list.ptr, list.len / sizeof(set_column));
    pgw_buf_free(&list);
    return outcome;
}

/* Takes the value of a hash_key column, if the server can compute the hash with it. */
static bool takes_new_key(rw_parser *parser, const set_column *set)
{
    rw_mark mark = rw_mark_here(parser);
    bool taken = is_hash_key(parser->table, set->column) &&
                 set->column != parser->table->hash_column && !set->part &&
                 rw_take_new_key(parser, set->column, set->position);
    if (!taken)
        rw_go_back(parser, mark);
    return taken;
}

/* Parses an item of SET: `column = value` or `(column, …) = (value, …)`. */
static rw_outcome parse_set_item(rw_parser *parser)
{
    set_column set = {0};
    rw_outcome outcome;
    if (rw_take(parser, '(')) {
        outcome = parse_set_list(parser);
    } else {
        outcome = parse_set_column(parser, &set);
        bool same = outcome == RW_PARSED && at_same_value(parser, &set);
        if (outcome == RW_PARSED && !same && takes_new_key(parser, &set))
            return RW_PARSED;
        if (outcome == RW_PARSED)
            outcome = check_set(parser, &set, same);
    }
    if (outcome != RW_PARSED)
        return outcome;
    if (pgw_slice_eq_str(rw_token_text(parser->text, parser->token), "="))
        rw_advance(parser);
    return rw_skip_tail_expression(parser, true) ? RW_PARSED : rw_syntax_error(parser);
}

rw_outcome rw_parse_do_update(rw_parser *parser)
{
    if (!rw_take_word(parser, "set"))
        return rw_syntax_error(parser);
    rw_note_update(parser);
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
