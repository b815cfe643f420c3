#include "rewrite/insert/tail.h"

#include "rewrite/insert/do_update.h"
#include "rewrite/insert/returning.h"
#include "rewrite/insert/tail_expression.h"
#include "rewrite/lex/quote.h"

static pgw_slice keep(rw_parser *parser, pgw_buf *buf)
{
    pgw_slice text = pgw_arena_copy(parser->arena, pgw_slice_buf(buf));
    pgw_buf_free(buf);
    return text;
}

static bool is_key(const rw_table *table, size_t column)
{
    for (size_t i = 0; i < table->primary_key_count; i++)
        if (table->primary_key[i] == column)
            return true;
    return false;
}

/* --- ON CONFLICT --- */

/* Skips an element of a conflict target that is more than a name, up to its ',' or ')'. */
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

/* Takes `name` or `((name))`; column_count: there is no such column, or it is only the beginning of
 * an expression. */
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

/* Parses the columns of a conflict target up to its ')', with COLLATE and operator classes, which
 * the backend judges. `*whole`: they are the columns of the key; `*hashed`: the hash column is
 * among them. */
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

/* Denies the hash column in a conflict target, with PostgreSQL's error at the parenthesis. */
static rw_outcome deny_target(rw_parser *parser, size_t position)
{
    pgw_fail(parser->error, "42703", "column \"%s\" does not exist",
             parser->table->columns[parser->table->hash_column].name);
    rw_set_position(parser, position);
    return RW_REFUSED;
}

/* Parses a conflict target behind its '('. */
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

/* Puts the whole key in the place of its constraint's name, which may mean another by now. */
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

/* Parses CONSTRAINT name, behind ON CONFLICT ON. */
static rw_outcome parse_constraint(rw_parser *parser)
{
    if (!rw_take_word(parser, "constraint") || !rw_at_name(parser))
        return rw_syntax_error(parser);
    pgw_slice name = rw_take_name(parser);
    const char *key = parser->table->key_name;
    parser->conflict_on_key = key != NULL && pgw_slice_eq_str(name, key);
    return RW_PARSED;
}

/* Parses ON CONSTRAINT name, or a list of columns with its WHERE, or nothing. */
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

/* Parses CONFLICT … behind ON. */
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
    outcome = rw_parse_do_update(parser);
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
            rw_note_blocker(parser, RW_BLOCKER_EXPRESSION);
        add_assignment(out, first, table->columns[i].name, listed);
        first = false;
    }
    if (first) /* the first key column is set to itself, so that the row is counted */
        add_assignment(out, true, table->columns[table->primary_key[0]].name, true);
}

/* Makes UPSERT and REPLACE an INSERT … ON CONFLICT on the whole key. */
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
    rw_note_update(parser);
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
