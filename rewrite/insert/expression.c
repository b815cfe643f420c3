#include "rewrite/insert/expression.h"

#include "rewrite/insert/merged_call.h"
#include "rewrite/insert/type_name.h"
#include "rewrite/lex/lexer_text.h"

enum { MAX_DEPTH = 32 }; /* nested parentheses, casts and arrays that are looked into */

static bool parse_simple(rw_parser *parser, bool wanted, int depth, rw_cell *cell);
static bool parse_computed(rw_parser *parser, bool wanted, int depth, rw_cell *cell);

static void add_cast(rw_parser *parser, rw_cell *cell, rw_cast cast)
{
    if (cell->casts == NULL)
        cell->casts = pgw_arena_alloc(parser->arena, RW_MAX_CASTS * sizeof *cell->casts);
    if (cell->cast_count == RW_MAX_CASTS)
        cell->kind = RW_CELL_EXPRESSION;
    else
        cell->casts[cell->cast_count++] = cast;
}

static bool parse_string(rw_parser *parser, bool wanted, rw_cell *cell)
{
    rw_token token = parser->token;
    char first = (char)(parser->text.ptr[token.start] | 32), escape = '\\';
    rw_advance(parser);
    cell->kind = RW_CELL_STRING;
    bool unicode = first == 'u';
    if (unicode && !rw_take_uescape(parser, &escape))
        return false;
    if (first == 'n')
        add_cast(parser, cell, (rw_cast){PGW_BPCHAR, -1, true});
    if (!wanted)
        return true;
    bool valid = unicode ? rw_token_unicode(parser->text, token, escape, parser->arena, &cell->text)
                         : rw_token_string(parser->text, token, parser->env->conforming,
                                           parser->arena, &cell->text);
    if (!valid) /* the string is an error, or a character in it depends on the server's version */
        cell->kind = RW_CELL_EXPRESSION;
    return true;
}

/* Parses CAST '(' expression AS type ')' behind the word CAST. */
static bool parse_cast(rw_parser *parser, bool wanted, int depth, rw_cell *cell)
{
    rw_cast cast;
    if (!rw_take(parser, '(') || !parse_simple(parser, wanted, depth + 1, cell) ||
        !rw_take_word(parser, "as") || !rw_parse_type(parser, false, &cast))
        return false;
    add_cast(parser, cell, cast);
    return rw_take(parser, ')');
}

/* Parses an element of an array or an argument, whose value is of no interest here. */
static bool parse_part(rw_parser *parser, int depth)
{
    rw_cast casts[RW_MAX_CASTS];
    rw_cell part = {.casts = casts, .minus_after = -1};
    if (!parse_computed(parser, false, depth + 1, &part))
        return false;
    if (part.kind == RW_CELL_PARAM)
        rw_note_param(parser, part.parameter, PGW_UNSPECIFIED);
    parser->insert->shows |= part.cast_count > 0;
    return true;
}

/* Parses '[' element, … ']' behind the word ARRAY, which nested arrays do not repeat. */
static bool parse_array(rw_parser *parser, int depth)
{
    if (depth >= MAX_DEPTH || !rw_take(parser, '['))
        return false;
    if (rw_take(parser, ']'))
        return true;
    do {
        if (!(rw_at(parser, '[') ? parse_array(parser, depth + 1) : parse_part(parser, depth)))
            return false;
    } while (rw_take(parser, ','));
    return rw_take(parser, ']');
}

static bool is_one_of(pgw_slice name, const char *const *names)
{
    for (; *names != NULL; names++)
        if (pgw_slice_ieq_str(name, *names))
            return true;
    return false;
}

/* Takes CURRENT_TIMESTAMP and its like, with a precision or without. */
static bool parse_clock_word(rw_parser *parser)
{
    static const char *const words[] = {"current_timestamp", "current_date", "current_time",
                                        "localtimestamp",    "localtime",    NULL};
    if (!is_one_of(rw_token_text(parser->text, parser->token), words))
        return false;
    bool date = rw_at_word(parser, "current_date");
    rw_advance(parser);
    if (date || !rw_take(parser, '('))
        return true;
    bool digits = parser->token.kind == RW_TOKEN_INTEGER;
    rw_advance(parser);
    return digits && rw_take(parser, ')');
}

/* Whether a cell may be computed: it is outside of the key, and names mean PostgreSQL's own. */
static bool may_compute(const rw_parser *parser)
{
    return parser->keyless && parser->table != NULL && !parser->table->own_calls;
}

/* Parses the arguments of a call and its ')'. */
static bool parse_arguments(rw_parser *parser, int depth)
{
    do {
        if (!parse_part(parser, depth))
            return false;
    } while (rw_take(parser, ','));
    parser->insert->shows = true;
    return rw_take(parser, ')');
}

/* Parses extract(field FROM value) behind its bracket. */
static bool parse_extract(rw_parser *parser, int depth)
{
    if (parser->token.kind != RW_TOKEN_WORD && parser->token.kind != RW_TOKEN_STRING)
        return false;
    rw_advance(parser);
    return rw_take_word(parser, "from") && parse_part(parser, depth) && rw_take(parser, ')');
}

/* Parses a call of one of PostgreSQL's own functions behind its bracket. */
static bool parse_own_call(rw_parser *parser, pgw_slice name, bool grammar, int depth)
{
    if (!may_compute(parser))
        return false;
    if (grammar && pgw_slice_ieq_str(name, "extract"))
        return parse_extract(parser, depth);
    bool known = rw_is_merged_function(name) || (grammar && rw_is_grammar_call(name));
    return known && parse_arguments(parser, depth);
}

/* Parses the number and the bracket of to_timestamp(number). */
static bool parse_to_timestamp(rw_parser *parser)
{
    rw_cast casts[RW_MAX_CASTS];
    rw_cell number = {.casts = casts, .minus_after = -1};
    return parse_simple(parser, false, MAX_DEPTH - 1, &number) &&
           (number.kind == RW_CELL_INTEGER || number.kind == RW_CELL_DECIMAL) &&
           rw_take(parser, ')');
}

/* Parses a call of a function that gives one value for one row and needs nothing of the session. */
static bool parse_call(rw_parser *parser, int depth)
{
    static const char *const plain[] = {"now", "transaction_timestamp", "gen_random_uuid", NULL};
    static const char *const clocks[] = {"statement_timestamp", "clock_timestamp", NULL};
    if (parser->token.kind != RW_TOKEN_WORD)
        return false;
    bool written = rw_take_word(parser, "pg_catalog");
    if (written && !rw_take(parser, '.'))
        return false;
    pgw_slice name = rw_token_text(parser->text, parser->token);
    if (parser->token.kind != RW_TOKEN_WORD)
        return false;
    rw_advance(parser);
    if (!rw_take(parser, '('))
        return false;
    bool clock = is_one_of(name, clocks);
    parser->insert->reads_clock = parser->insert->reads_clock || clock;
    if (clock || is_one_of(name, plain))
        return rw_take(parser, ')');
    rw_mark mark = rw_mark_here(parser);
    if (pgw_slice_ieq_str(name, "to_timestamp") && parse_to_timestamp(parser))
        return true;
    rw_go_back(parser, mark);
    if (!pgw_slice_ieq_str(name, "nextval"))
        return parse_own_call(parser, name, !written, depth);
    rw_note_blocker(parser, RW_BLOCKER_SEQUENCE);
    return parse_part(parser, depth) && rw_take(parser, ')');
}

/* Parses a typed constant, as in `date '2026-01-31'`. */
static bool parse_prefixed(rw_parser *parser, bool wanted, rw_cell *cell)
{
    rw_cast cast;
    char first = 0;
    if (!rw_parse_type(parser, true, &cast) || parser->token.kind != RW_TOKEN_STRING)
        return false;
    first = (char)(parser->text.ptr[parser->token.start] | 32);
    if (first == 'n') /* N'…' has a type already, so `type N'…'` is not SQL */
        return false;
    if (!parse_string(parser, wanted, cell))
        return false;
    add_cast(parser, cell, cast);
    return true;
}

static bool parse_word(rw_parser *parser, bool wanted, int depth, rw_cell *cell)
{
    pgw_slice text = rw_token_text(parser->text, parser->token);
    if (rw_take_word(parser, "null")) {
        cell->kind = RW_CELL_NULL;
        return true;
    }
    if (rw_at_word(parser, "true") || rw_at_word(parser, "false")) {
        cell->kind = RW_CELL_BOOL;
        cell->text = text.len == 4 ? PGW_LITERAL("true") : PGW_LITERAL("false");
        rw_advance(parser);
        return true;
    }
    if (rw_take_word(parser, "cast"))
        return parse_cast(parser, wanted, depth, cell);
    cell->kind = RW_CELL_EXPRESSION;
    if (rw_take_word(parser, "array"))
        return parse_array(parser, depth + 1);
    rw_mark mark = rw_mark_here(parser);
    if (parse_clock_word(parser))
        return true;
    rw_go_back(parser, mark);
    if (parse_call(parser, depth))
        return true;
    rw_go_back(parser, mark);
    return parse_prefixed(parser, wanted, cell);
}

static bool parse_primary(rw_parser *parser, bool wanted, int depth, rw_cell *cell)
{
    rw_token token = parser->token;
    switch (token.kind) {
    case RW_TOKEN_STRING:
        return parse_string(parser, wanted, cell);
    case RW_TOKEN_INTEGER:
    case RW_TOKEN_DECIMAL:
        cell->kind = token.kind == RW_TOKEN_INTEGER ? RW_CELL_INTEGER : RW_CELL_DECIMAL;
        if (!rw_number_text(rw_token_text(parser->text, token), parser->env, parser->arena,
                            &cell->text))
            return false;
        rw_advance(parser);
        return true;
    case RW_TOKEN_PARAM:
        cell->kind = RW_CELL_PARAM;
        cell->parameter = rw_param_number(parser, token);
        rw_advance(parser);
        return true;
    case RW_TOKEN_BITS:
        cell->kind = RW_CELL_EXPRESSION;
        rw_advance(parser);
        return true;
    case RW_TOKEN_WORD:
    case RW_TOKEN_QUOTED:
        return parse_word(parser, wanted, depth, cell);
    default:
        return depth < MAX_DEPTH && rw_take(parser, '(') &&
               parse_computed(parser, wanted, depth + 1, cell) && rw_take(parser, ')');
    }
}

static bool parse_casted(rw_parser *parser, bool wanted, int depth, rw_cell *cell)
{
    if (!parse_primary(parser, wanted, depth, cell))
        return false;
    while (parser->token.kind == RW_TOKEN_CAST) {
        rw_cast cast;
        rw_advance(parser);
        if (!rw_parse_type(parser, false, &cast))
            return false;
        add_cast(parser, cell, cast);
    }
    return true;
}

/* Whether a sign is an operator that may be somebody's own. A minus before nothing but a number is
 * part of it; so is one before brackets around that. */
static bool may_be_own_sign(const rw_parser *parser, char sign, const rw_cell *cell)
{
    return (sign == '+' || cell->cast_count > 0) && parser->table != NULL &&
           rw_table_has_own_signs(parser->table);
}

/* Parses [+ | -] constant [:: type]…; the sign is applied behind the casts of its operand. */
static bool parse_simple(rw_parser *parser, bool wanted, int depth, rw_cell *cell)
{
    pgw_slice text = rw_token_text(parser->text, parser->token);
    if (parser->token.kind != RW_TOKEN_OPERATOR)
        return depth < MAX_DEPTH && parse_casted(parser, wanted, depth, cell);
    if (text.len != 1 || (text.ptr[0] != '-' && text.ptr[0] != '+'))
        return false;
    rw_advance(parser);
    if (depth >= MAX_DEPTH || !parse_casted(parser, wanted, depth, cell))
        return false;
    /* The sign's operator is only known for a number, or for a value that is cast to a type. */
    bool number = cell->kind == RW_CELL_INTEGER || cell->kind == RW_CELL_DECIMAL;
    if (!number && (cell->kind == RW_CELL_EXPRESSION || cell->cast_count == 0))
        return false;
    if (may_be_own_sign(parser, text.ptr[0], cell))
        return false;
    if (text.ptr[0] == '-') {
        if (cell->minus_after >= 0)
            return false;
        cell->minus_after = (int8_t)cell->cast_count;
    }
    return true;
}

static bool at_cell_end(const rw_parser *parser)
{
    return rw_at(parser, ',') || rw_at(parser, ')');
}

/* Takes AT TIME ZONE or an operator, between two values. */
static bool take_operator(rw_parser *parser)
{
    if (rw_take_word(parser, "at"))
        return rw_take_word(parser, "time") && rw_take_word(parser, "zone");
    pgw_slice text = rw_token_text(parser->text, parser->token);
    bool sign = parser->token.kind == RW_TOKEN_OPERATOR || parser->token.kind == RW_TOKEN_CHAR;
    if (!sign || !rw_is_merged_operator(text))
        return false;
    rw_advance(parser);
    return true;
}

/* Parses what parse_simple() takes, or several of these with operators between them. */
static bool parse_computed(rw_parser *parser, bool wanted, int depth, rw_cell *cell)
{
    if (!parse_simple(parser, wanted, depth, cell))
        return false;
    while (!at_cell_end(parser) && may_compute(parser)) {
        rw_mark mark = rw_mark_here(parser);
        if (!take_operator(parser)) {
            rw_go_back(parser, mark);
            return true;
        }
        if (cell->kind == RW_CELL_PARAM)
            rw_note_param(parser, cell->parameter, PGW_UNSPECIFIED);
        *cell = (rw_cell){.kind = RW_CELL_EXPRESSION,
                          .casts = cell->casts,
                          .minus_after = -1,
                          .position = cell->position};
        parser->insert->shows = true;
        rw_cast casts[RW_MAX_CASTS];
        rw_cell operand = {.casts = casts, .minus_after = -1};
        if (!parse_simple(parser, false, depth + 1, &operand))
            return false;
        if (operand.kind == RW_CELL_PARAM)
            rw_note_param(parser, operand.parameter, PGW_UNSPECIFIED);
    }
    return true;
}

/* Skips any expression, up to the ',' or ')' that ends the cell. */
static rw_outcome skip_expression(rw_parser *parser)
{
    rw_note_blocker(parser, RW_BLOCKER_EXPRESSION);
    if (at_cell_end(parser))
        return rw_syntax_error(parser);
    while (!at_cell_end(parser)) {
        if (rw_at_end(parser) || parser->token.kind == RW_TOKEN_BAD || rw_at(parser, ']'))
            return rw_syntax_error(parser);
        if (!rw_at(parser, '(') && !rw_at(parser, '['))
            rw_skip_token(parser);
        else if (!rw_skip_brackets(parser))
            return rw_syntax_error(parser);
    }
    return RW_PARSED;
}

rw_outcome rw_parse_cell(rw_parser *parser, bool wanted, rw_cell *cell)
{
    *cell = (rw_cell){.casts = cell->casts, .minus_after = -1, .position = parser->token.start};
    if (rw_take_word(parser, "default")) {
        cell->kind = RW_CELL_DEFAULT;
        return at_cell_end(parser) ? RW_PARSED : rw_syntax_error(parser);
    }
    rw_mark mark = rw_mark_here(parser);
    if (parse_computed(parser, wanted, 0, cell) && at_cell_end(parser))
        return RW_PARSED;
    rw_go_back(parser, mark);
    *cell = (rw_cell){.kind = RW_CELL_EXPRESSION, .minus_after = -1, .position = mark.token.start};
    return skip_expression(parser);
}
