#include "rewrite/insert/wanted.h"

#include "rewrite/insert/expression.h"

#include <string.h>

enum {
    MOST_EXPRESSIONS = 256, /* expressions in one statement: each is a SELECT in the question */
    MOST_WANTED = 1 << 20
};

/* Whether the default can be asked for: its text is written for standard_conforming_strings. */
static bool has_default(const rw_parser *parser, size_t column)
{
    const rw_column *of = &parser->table->columns[column];
    return of->default_text != NULL && !of->generated &&
           (parser->env->conforming || strchr(of->default_text, '\\') == NULL);
}

/* The offset behind the cell that begins at `at`. */
static size_t end_of_cell(rw_parser *parser, size_t at)
{
    rw_mark here = rw_mark_here(parser);
    rw_go_back(parser, (rw_mark){.at = at});
    rw_advance(parser);
    rw_cell again = {0};
    bool parsed = rw_parse_cell(parser, false, &again) == RW_PARSED;
    size_t end = parsed ? parser->last_end : at;
    rw_go_back(parser, here);
    return end;
}

/* Whether the backend can be asked for what is written, which must be more than a constant, unless
 * `any`: one that could not be read is an error, which comes before anything is asked.
 * `*parameters`: a Bind tells some of it. */
static bool can_be_asked(const rw_parser *parser, size_t from, size_t to, bool any,
                         bool *parameters)
{
    rw_lexer lexer;
    rw_lexer_init(&lexer, parser->text, parser->env->conforming);
    lexer.at = from;
    bool more = any;
    for (rw_token token = rw_lexer_next(&lexer); token.start < to; token = rw_lexer_next(&lexer)) {
        if (token.kind == RW_TOKEN_BAD || token.kind == RW_TOKEN_END)
            return false;
        *parameters = *parameters || token.kind == RW_TOKEN_PARAM;
        more = more || (token.kind != RW_TOKEN_STRING && token.kind != RW_TOKEN_BITS &&
                        !rw_token_is(parser->text, token, "uescape"));
    }
    return more;
}

/* Whether the constant has a type of its own, of which it is cast into the column's, perhaps by
 * somebody's own cast. */
static bool has_own_type(const rw_cell *cell)
{
    return cell->kind == RW_CELL_INTEGER || cell->kind == RW_CELL_DECIMAL ||
           cell->kind == RW_CELL_BOOL;
}

/* Whether all casts are to types that keyspread knows, which run no code of the database's own. */
static bool runs_no_code(const rw_cell *cell)
{
    for (size_t i = 0; i < cell->cast_count && i < RW_MAX_CASTS; i++)
        if (pgw_type_name(cell->casts[i].type) == NULL)
            return false;
    return true;
}

/* Whether the cell is nextval('…') alone, which has no effect that a transaction could undo. */
static bool only_draws(const rw_parser *parser, size_t from, size_t to)
{
    pgw_slice text = parser->text;
    rw_lexer lexer;
    rw_lexer_init(&lexer, text, parser->env->conforming);
    lexer.at = from;
    rw_token token = rw_lexer_next(&lexer);
    if (rw_token_is(text, token, "pg_catalog") &&
        pgw_slice_eq_str(rw_token_text(text, rw_lexer_next(&lexer)), "."))
        token = rw_lexer_next(&lexer);
    if (!rw_token_is(text, token, "nextval") ||
        !pgw_slice_eq_str(rw_token_text(text, rw_lexer_next(&lexer)), "(") ||
        rw_lexer_next(&lexer).kind != RW_TOKEN_STRING)
        return false;
    token = rw_lexer_next(&lexer);
    if (token.kind == RW_TOKEN_CAST && rw_token_is(text, rw_lexer_next(&lexer), "regclass"))
        token = rw_lexer_next(&lexer);
    return pgw_slice_eq_str(rw_token_text(text, token), ")") && token.end == to;
}

static void *grown(pgw_arena *arena, const void *list, size_t count, size_t size)
{
    if (count > 0 && (count & (count - 1)) != 0)
        return (void *)list; /* the list has room for the next power of two */
    void *more = pgw_arena_alloc(arena, (count == 0 ? 1 : count * 2) * size);
    if (count > 0)
        memcpy(more, list, count * size);
    return more;
}

static void append(rw_parser *parser, size_t column)
{
    rw_insert *insert = parser->insert;
    insert->appended =
        grown(parser->arena, insert->appended, insert->appended_count, sizeof *insert->appended);
    insert->appended[insert->appended_count++] = column;
}

static bool is_appended(const rw_insert *insert, size_t column)
{
    for (size_t i = 0; i < insert->appended_count; i++)
        if (insert->appended[i] == column)
            return true;
    return false;
}

/* Gives the column a cell at the end of each row. Where the client lists no columns, those in
 * between get theirs, too, because values go by their order. */
static void append_up_to(rw_parser *parser, size_t column)
{
    const rw_table *table = parser->table;
    if (is_appended(parser->insert, column))
        return;
    if (parser->columns_listed || parser->default_values) {
        append(parser, column);
        return;
    }
    size_t first = parser->target_count + parser->insert->appended_count, place = 0;
    for (size_t i = 0; i <= column; i++)
        if (i != table->hash_column && place++ >= first)
            append(parser, i);
}

static void add(rw_parser *parser, rw_wanted wanted)
{
    rw_insert *insert = parser->insert;
    insert->wanted =
        grown(parser->arena, insert->wanted, insert->wanted_count, sizeof *insert->wanted);
    insert->wanted[insert->wanted_count++] = wanted;
    bool always = parser->table->columns[wanted.column].always && !wanted.expression;
    if ((always && !parser->overriding_system) || rw_overridden(parser, wanted.column)) {
        insert->overriding = parser->source;
        insert->overriding_end = parser->overriding_user ? parser->overriding_end : parser->source;
    }
}

/* Whether values may be asked for. UPSERT and REPLACE must name their key. */
static bool may_want(const rw_parser *parser)
{
    return !parser->unknown_column && !parser->table->forward_uncomputable &&
           parser->insert->verb == RW_VERB_INSERT;
}

/* Whether only a part of the column is set: column[1] or column.field. */
static bool is_indirect(const rw_parser *parser, size_t column)
{
    for (size_t i = 0; i < parser->target_count; i++)
        if (parser->targets[i].column == column && parser->targets[i].indirect)
            return true;
    return false;
}

bool rw_want(rw_parser *parser, size_t row, size_t column)
{
    const rw_insert *insert = parser->insert;
    const rw_cell *cell = &insert->rows[row].key[rw_slot_of(parser->table, column)];
    rw_wanted wanted = {.row = row, .column = column};
    if (!may_want(parser) || is_indirect(parser, column) || insert->wanted_count >= MOST_WANTED)
        return false;
    wanted.overridden = rw_overridden(parser, column) && cell->kind != RW_CELL_ABSENT &&
                        cell->kind != RW_CELL_DEFAULT;
    bool simple = !wanted.overridden && cell->kind != RW_CELL_ABSENT &&
                  cell->kind != RW_CELL_DEFAULT && cell->kind != RW_CELL_EXPRESSION;
    wanted.constant = simple && cell->kind != RW_CELL_PARAM;
    wanted.expression = cell->kind == RW_CELL_EXPRESSION || wanted.overridden || simple;
    wanted.runs_code = wanted.expression && (!simple || !runs_no_code(cell));
    wanted.untyped = simple && cell->cast_count == 0 && !has_own_type(cell);
    if ((!wanted.expression || wanted.overridden) && !has_default(parser, column))
        return false;
    if (parser->table->defaults_unknown && insert->wanted_count >= MOST_EXPRESSIONS)
        return false; /* each default is a SELECT of its own, if the database tells no types */
    if (cell->kind == RW_CELL_ABSENT) {
        append_up_to(parser, column);
    } else {
        wanted.from = cell->position;
        wanted.to = end_of_cell(parser, cell->position);
    }
    if (wanted.expression &&
        (insert->wanted_count >= MOST_EXPRESSIONS || wanted.to == wanted.from ||
         !can_be_asked(parser, wanted.from, wanted.to, wanted.overridden || simple,
                       &wanted.parameters)))
        return false;
    wanted.draws = wanted.expression && only_draws(parser, wanted.from, wanted.to);
    add(parser, wanted);
    return true;
}

rw_outcome rw_check_last(rw_parser *parser)
{
    const rw_insert *insert = parser->insert;
    for (size_t i = 0; i < insert->wanted_count && insert->row_count > 1; i++) {
        const rw_wanted *wanted = &insert->wanted[i];
        bool draws = wanted->draws ||
                     (!wanted->expression && parser->table->columns[wanted->column].sequence);
        if (draws && parser->asks_last > 0)
            return rw_uncomputable(parser, wanted->column, parser->asks_last,
                                   "is drawn for all rows, before lastval() is called for one");
    }
    return RW_PARSED;
}

rw_outcome rw_want_defaults(rw_parser *parser)
{
    const rw_table *table = parser->table;
    rw_insert *insert = parser->insert;
    for (size_t i = 0; i < table->hash_key_count; i++)
        if (!may_want(parser) || !(has_default(parser, table->hash_key[i]) ||
                                   rw_table_defaults_to_null(table, table->hash_key[i])))
            return rw_uncomputable(parser, table->hash_key[i], parser->token.start,
                                   "is left to its default");
    insert->default_values = parser->token.start;
    rw_advance(parser);
    if (!rw_take_word(parser, "values"))
        return rw_syntax_error(parser);
    insert->default_values_end = insert->tail = parser->last_end;
    for (size_t i = 0; i < table->hash_key_count; i++) {
        append_up_to(parser, table->hash_key[i]);
        add(parser, (rw_wanted){.row = 0, .column = table->hash_key[i]});
    }
    return RW_PARSED;
}
