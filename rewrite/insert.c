#include "rewrite/lexer_text.h"
#include "rewrite/splice.h"

#include <string.h>

static const pgw_slice nothing = {NULL, 0};

/* --- tokens --- */

void rw_advance(rw_parser *parser)
{
    parser->last_end = parser->token.end;
    parser->token = rw_lexer_next(&parser->lexer);
}

bool rw_at(const rw_parser *parser, char c)
{
    return parser->token.kind == RW_TOKEN_CHAR && parser->text.ptr[parser->token.start] == c;
}

bool rw_at_word(const rw_parser *parser, const char *lower)
{
    return rw_token_is(parser->text, parser->token, lower);
}

bool rw_take(rw_parser *parser, char c)
{
    if (!rw_at(parser, c))
        return false;
    rw_advance(parser);
    return true;
}

bool rw_take_word(rw_parser *parser, const char *lower)
{
    if (!rw_at_word(parser, lower))
        return false;
    rw_advance(parser);
    return true;
}

bool rw_at_name(const rw_parser *parser)
{
    return parser->token.kind == RW_TOKEN_WORD || parser->token.kind == RW_TOKEN_QUOTED;
}

bool rw_at_end(const rw_parser *parser)
{
    return parser->token.kind == RW_TOKEN_END || rw_at(parser, ';');
}

rw_mark rw_mark_here(const rw_parser *parser)
{
    return (rw_mark){parser->lexer.at, parser->last_end, parser->token};
}

void rw_go_back(rw_parser *parser, rw_mark mark)
{
    parser->lexer.at = mark.at;
    parser->last_end = mark.last_end;
    parser->token = mark.token;
}

bool rw_take_uescape(rw_parser *parser, char *escape)
{
    *escape = '\\';
    if (!rw_at_word(parser, "uescape"))
        return true;
    rw_advance(parser);
    pgw_slice value = nothing;
    if (parser->token.kind != RW_TOKEN_STRING ||
        !rw_token_string(parser->text, parser->token, true, parser->arena, &value) ||
        value.len != 1)
        return false;
    *escape = value.ptr[0];
    rw_advance(parser);
    return true;
}

pgw_slice rw_take_name(rw_parser *parser)
{
    rw_token token = parser->token;
    rw_advance(parser);
    bool unicode = token.kind == RW_TOKEN_QUOTED && parser->text.ptr[token.start] != '"';
    if (!unicode)
        return rw_token_name(parser->text, token, parser->arena);
    char escape;
    pgw_slice name = nothing;
    if (!rw_take_uescape(parser, &escape) ||
        !rw_token_unicode(parser->text, token, escape, parser->arena, &name)) {
        parser->impossible = true;
        return nothing;
    }
    return name;
}

uint32_t rw_param_number(rw_parser *parser, rw_token token)
{
    enum { MOST = 65535 }; /* what Bind can carry */
    uint32_t number = 0;
    for (size_t i = token.start + 1; i < token.end && number <= MOST; i++)
        number = number * 10 + (uint32_t)(parser->text.ptr[i] - '0');
    if (number > 0 && number <= MOST)
        return number;
    parser->impossible = true;
    return 0;
}

void rw_note_param(rw_parser *parser, uint32_t number, uint32_t type)
{
    if (number == 0)
        return;
    if (number > parser->param_cap) {
        uint32_t cap = number < 8 ? 16 : number * 2;
        uint32_t *params = pgw_arena_alloc(parser->arena, cap * sizeof *params);
        if (parser->param_cap > 0)
            memcpy(params, parser->params, parser->param_cap * sizeof *params);
        parser->params = params;
        parser->param_cap = cap;
    }
    if (number > parser->insert->param_count)
        parser->insert->param_count = number;
    uint32_t *seen = &parser->params[number - 1];
    if (type == PGW_UNSPECIFIED || (*seen != 0 && *seen != type))
        type = (uint32_t)RW_PARAM_UNCLEAR;
    *seen = type;
}

/* A function that draws from or asks for a sequence: its effect stays in the session. */
static bool is_sequence_function(const rw_parser *parser)
{
    return rw_at_word(parser, "nextval") || rw_at_word(parser, "currval") ||
           rw_at_word(parser, "lastval") || rw_at_word(parser, "setval");
}

void rw_skip_token(rw_parser *parser)
{
    if (parser->token.kind == RW_TOKEN_PARAM)
        rw_note_param(parser, rw_param_number(parser, parser->token), PGW_UNSPECIFIED);
    else if (parser->token.kind == RW_TOKEN_WORD && is_sequence_function(parser))
        rw_note_obstacle(parser, RW_OBSTACLE_SEQUENCE);
    rw_advance(parser);
}

bool rw_skip_brackets(rw_parser *parser)
{
    size_t depth = 0;
    do {
        if (parser->token.kind == RW_TOKEN_END || parser->token.kind == RW_TOKEN_BAD)
            return false;
        if (rw_at(parser, '(') || rw_at(parser, '['))
            depth++;
        else if (rw_at(parser, ')') || rw_at(parser, ']'))
            depth--;
        rw_skip_token(parser);
    } while (depth > 0);
    return true;
}

/* --- what is found --- */

void rw_add_splice(rw_parser *parser, size_t at, size_t remove, pgw_slice text)
{
    rw_insert *insert = parser->insert;
    if (insert->splice_count == parser->splice_cap) {
        parser->splice_cap = parser->splice_cap ? parser->splice_cap * 2 : 4;
        rw_splice *splices = pgw_arena_alloc(parser->arena, parser->splice_cap * sizeof *splices);
        if (insert->splice_count > 0)
            memcpy(splices, insert->splices, insert->splice_count * sizeof *splices);
        insert->splices = splices;
    }
    insert->splices[insert->splice_count++] = (rw_splice){at, remove, text};
}

void rw_note_obstacle(rw_parser *parser, rw_obstacle obstacle)
{
    parser->obstacles |= 1u << obstacle;
}

void rw_add_identifier(pgw_buf *out, const char *name)
{
    pgw_buf_add_byte(out, '"');
    for (; *name != '\0'; name++) {
        if (*name == '"')
            pgw_buf_add_byte(out, '"');
        pgw_buf_add_byte(out, *name);
    }
    pgw_buf_add_byte(out, '"');
}

size_t rw_text_position(pgw_slice text, const pgw_env *env, size_t offset)
{
    size_t position = 1;
    for (size_t i = 0; i < offset && i < text.len; i++)
        position += !env->utf8 || ((unsigned char)text.ptr[i] & 0xC0) != 0x80;
    return position;
}

static void set_position(rw_parser *parser, size_t offset)
{
    parser->error->position = rw_text_position(parser->text, parser->env, offset);
}

rw_outcome rw_syntax_error(rw_parser *parser)
{
    if (parser->token.kind == RW_TOKEN_BAD) {
        char c = parser->token.start < parser->text.len ? parser->text.ptr[parser->token.start] : 0;
        if (c < '0' || c > '9')
            return RW_PASS; /* unterminated: PostgreSQL says it in its own words */
        pgw_fail(parser->error, "42601", "trailing junk after numeric literal");
    } else if (rw_at_end(parser) && parser->token.kind == RW_TOKEN_END) {
        pgw_fail(parser->error, "42601", "syntax error at end of input");
    } else {
        pgw_slice near = rw_token_text(parser->text, parser->token);
        pgw_fail(parser->error, "42601", "syntax error at or near \"%.*s\"",
                 (int)(near.len < 256 ? near.len : 256), near.ptr);
    }
    set_position(parser, parser->token.start);
    return RW_REFUSED;
}

rw_outcome rw_uncomputable(rw_parser *parser, size_t column, size_t position, const char *why)
{
    const rw_table *table = parser->table;
    if (table->forward_uncomputable)
        return RW_UNTOUCHED;
    pgw_fail(parser->error, "0A000", "cannot compute the hash of table \"%s\": column \"%s\" %s",
             table->name, table->columns[column].name, why);
    pgw_error_hint(parser->error,
                   "Write a constant or a parameter for \"%s\" in VALUES, or set "
                   "\"uncomputable: forward\" for the table.",
                   table->columns[column].name);
    set_position(parser, position);
    return RW_REFUSED;
}

static rw_outcome null_key(rw_parser *parser, size_t column)
{
    pgw_fail(parser->error, "23502",
             "null value in column \"%s\" of relation \"%s\" violates not-null constraint",
             parser->table->columns[column].name, parser->table->name);
    return RW_REFUSED;
}

/* --- the head: up to VALUES --- */

static bool is_modifying_word(const rw_parser *parser)
{
    return rw_at_word(parser, "insert") || rw_at_word(parser, "update") ||
           rw_at_word(parser, "delete") || rw_at_word(parser, "merge");
}

/* WITH … up to INSERT INTO. RW_PASS if another statement follows. */
static rw_outcome parse_with(rw_parser *parser)
{
    size_t depth = 0, start = parser->token.start;
    bool modifies = false;
    for (;; rw_skip_token(parser)) {
        if (parser->token.kind == RW_TOKEN_END || parser->token.kind == RW_TOKEN_BAD)
            return RW_PASS;
        if (rw_at(parser, '('))
            depth++;
        else if (rw_at(parser, ')') && depth > 0)
            depth--;
        else if (depth > 0)
            modifies = modifies || is_modifying_word(parser);
        else if (rw_at_word(parser, "insert") || rw_at_word(parser, "upsert") ||
                 rw_at_word(parser, "replace")) {
            rw_mark mark = rw_mark_here(parser);
            rw_advance(parser);
            bool into = rw_at_word(parser, "into");
            rw_go_back(parser, mark);
            if (into)
                break;
        }
    }
    pgw_slice with = {parser->text.ptr + start, parser->token.start - start};
    if (modifies && rw_catalog_mentioned(parser->catalog, with)) {
        pgw_fail(parser->error, "0A000",
                 "WITH queries that write are not supported together with a hashed table");
        pgw_error_hint(parser->error, "Send the statements of the WITH clause on their own.");
        set_position(parser, start);
        return RW_REFUSED;
    }
    rw_note_obstacle(parser, RW_OBSTACLE_FORM);
    return RW_PARSED;
}

static bool parse_verb(rw_parser *parser)
{
    rw_insert *insert = parser->insert;
    size_t start = parser->token.start;
    if (rw_take_word(parser, "insert"))
        insert->verb = RW_VERB_INSERT;
    else if (rw_take_word(parser, "upsert"))
        insert->verb = RW_VERB_UPSERT;
    else if (rw_take_word(parser, "replace"))
        insert->verb = RW_VERB_REPLACE;
    else
        return false;
    if (insert->verb != RW_VERB_INSERT)
        rw_add_splice(parser, start, parser->last_end - start, PGW_LITERAL("INSERT"));
    return rw_take_word(parser, "into");
}

/* [[database.]schema.]table. RW_PASS if it is none of ours. */
static rw_outcome parse_table(rw_parser *parser)
{
    pgw_slice schema = nothing, name = nothing;
    for (int part = 0; part < 3; part++) {
        if (!rw_at_name(parser))
            return RW_PASS;
        schema = name;
        name = rw_take_name(parser);
        if (!rw_take(parser, '.'))
            break;
    }
    parser->table = rw_catalog_find(parser->catalog, schema, name);
    if (parser->table == NULL || parser->impossible)
        return RW_PASS;
    parser->insert->table = parser->table;
    if (parser->table->unusable != NULL) {
        pgw_fail(parser->error, "55000", "table \"%s\" cannot be written: %s", parser->table->name,
                 parser->table->unusable);
        return RW_REFUSED;
    }
    if (rw_take_word(parser, "as")) {
        if (!rw_at_name(parser))
            return rw_syntax_error(parser);
        rw_take_name(parser);
    }
    return RW_PARSED;
}

static int slot_of(const rw_table *table, size_t column)
{
    if (column == table->hash_column)
        return RW_HASH_SLOT;
    for (size_t i = 0; i < table->primary_key_count; i++)
        if (table->primary_key[i] == column)
            return (int)i;
    return RW_NO_SLOT;
}

static rw_target *add_target(rw_parser *parser, size_t column, size_t position)
{
    if (parser->target_count == parser->target_cap) {
        size_t cap = parser->target_cap ? parser->target_cap * 2 : 16;
        rw_target *targets = pgw_arena_alloc(parser->arena, cap * sizeof *targets);
        if (parser->target_count > 0)
            memcpy(targets, parser->targets, parser->target_count * sizeof *targets);
        parser->targets = targets;
        parser->target_cap = cap;
    }
    rw_target *target = &parser->targets[parser->target_count++];
    *target = (rw_target){column, slot_of(parser->table, column), false, position};
    return target;
}

/* Behind the '(' of the column list. */
static rw_outcome parse_columns(rw_parser *parser)
{
    parser->columns_listed = true;
    do {
        if (!rw_at_name(parser))
            return rw_syntax_error(parser);
        size_t position = parser->token.start;
        size_t column = rw_table_column(parser->table, rw_take_name(parser));
        rw_target *target = add_target(parser, column, position);
        parser->unknown_column |= column == parser->table->column_count;
        parser->insert->hash_listed |= target->slot == RW_HASH_SLOT;
        while (rw_at(parser, '[') || rw_at(parser, '.')) {
            target->indirect = true;
            if (rw_take(parser, '.') ? !rw_at_name(parser) : !rw_skip_brackets(parser))
                return rw_syntax_error(parser);
            if (parser->text.ptr[parser->last_end - 1] == '.')
                rw_advance(parser);
        }
    } while (rw_take(parser, ','));
    if (!rw_at(parser, ')'))
        return rw_syntax_error(parser);
    if (!parser->insert->hash_listed) {
        pgw_buf list = {0};
        pgw_buf_add_str(&list, ", ");
        rw_add_identifier(&list, parser->table->columns[parser->table->hash_column].name);
        rw_add_splice(parser, parser->token.start, 0,
                      pgw_arena_copy(parser->arena, pgw_slice_buf(&list)));
        pgw_buf_free(&list);
    }
    rw_advance(parser);
    return RW_PARSED;
}

/* Whether the '(' that is next opens a column list, not a query. */
static bool opens_columns(rw_parser *parser)
{
    rw_mark mark = rw_mark_here(parser);
    rw_advance(parser);
    bool columns = rw_at_name(parser) && !rw_at_word(parser, "select") &&
                   !rw_at_word(parser, "with") && !rw_at_word(parser, "table");
    if (columns && rw_at_word(parser, "values")) {
        rw_advance(parser);
        columns = !rw_at(parser, '(');
    }
    rw_go_back(parser, mark);
    return columns;
}

static rw_outcome parse_overriding(rw_parser *parser)
{
    if (!rw_take_word(parser, "overriding"))
        return RW_PARSED;
    parser->overriding_user = rw_at_word(parser, "user");
    if (!parser->overriding_user && !rw_at_word(parser, "system"))
        return rw_syntax_error(parser);
    rw_advance(parser);
    if (!rw_take_word(parser, "value"))
        return rw_syntax_error(parser);
    rw_note_obstacle(parser, RW_OBSTACLE_FORM);
    return RW_PARSED;
}

static rw_outcome from_a_query(rw_parser *parser)
{
    return rw_uncomputable(parser, parser->table->hash_key[0], parser->token.start,
                           "comes from a query");
}

/* Up to and with VALUES; `depth` is how many parentheses stand around it. */
static rw_outcome parse_source(rw_parser *parser, size_t *depth)
{
    const rw_table *table = parser->table;
    size_t name_end = parser->last_end;
    if (rw_at(parser, '(') && opens_columns(parser)) {
        rw_advance(parser);
        rw_outcome outcome = parse_columns(parser);
        if (outcome != RW_PARSED)
            return outcome;
    }
    if (!parser->columns_listed) /* filled when the number of values is known */
        rw_add_splice(parser, name_end, 0, nothing);
    rw_outcome outcome = parse_overriding(parser);
    if (outcome != RW_PARSED)
        return outcome;
    if (rw_at_word(parser, "default"))
        return rw_uncomputable(parser, table->hash_key[0], parser->token.start,
                               "is left to its default");
    while (rw_take(parser, '('))
        ++*depth;
    if (rw_at_word(parser, "select") || rw_at_word(parser, "table") || rw_at_word(parser, "with"))
        return from_a_query(parser);
    if (!rw_take_word(parser, "values"))
        return rw_syntax_error(parser);
    parser->insert->values = parser->last_end;
    return RW_PARSED;
}

/* --- rows --- */

/* The list that PostgreSQL would take: the visible columns, as many as there are values. */
static void list_columns(rw_parser *parser, size_t count)
{
    const rw_table *table = parser->table;
    pgw_buf list = {0};
    pgw_buf_add_str(&list, " (");
    for (size_t i = 0; i < table->column_count && parser->target_count < count; i++) {
        if (i == table->hash_column)
            continue;
        add_target(parser, i, 0);
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
        return RW_PASS; /* which PostgreSQL complains of first */
    pgw_fail(parser->error, "42601", "%s", message);
    set_position(parser, offset);
    return RW_REFUSED;
}

static rw_row *add_row(rw_parser *parser)
{
    rw_insert *insert = parser->insert;
    if (insert->row_count == parser->row_cap) {
        size_t cap = parser->row_cap ? parser->row_cap * 2 : 1;
        rw_row *rows = pgw_arena_alloc(parser->arena, cap * sizeof *rows);
        if (insert->row_count > 0)
            memcpy(rows, insert->rows, insert->row_count * sizeof *rows);
        insert->rows = rows;
        parser->row_cap = cap;
    }
    rw_row *row = &insert->rows[insert->row_count++];
    size_t keys = parser->table->primary_key_count;
    row->key = pgw_arena_alloc(parser->arena, keys * sizeof *row->key);
    for (size_t i = 0; i < keys; i++)
        row->key[i].minus_after = -1;
    row->hash_cell.minus_after = -1;
    return row;
}

static bool is_constant(const rw_cell *cell)
{
    return cell->kind != RW_CELL_ABSENT && cell->kind != RW_CELL_DEFAULT &&
           cell->kind != RW_CELL_EXPRESSION;
}

/* What a cell says about its column: a parameter's type, a draw from a sequence. */
static void note_cell(rw_parser *parser, const rw_target *target, const rw_cell *cell)
{
    const rw_table *table = parser->table;
    bool known = target->column < table->column_count && !target->indirect;
    if (cell->kind == RW_CELL_PARAM) {
        uint32_t type = cell->cast_count > 0 ? cell->casts[0].type
                        : known              ? table->columns[target->column].type
                                             : PGW_UNSPECIFIED;
        rw_note_param(parser, cell->parameter, type);
    } else if (cell->kind == RW_CELL_DEFAULT && known && table->columns[target->column].sequence) {
        rw_note_obstacle(parser, RW_OBSTACLE_SEQUENCE);
    }
}

static rw_cell *cell_of(rw_row *row, const rw_target *target, rw_cell *scratch)
{
    if (target == NULL || target->slot == RW_NO_SLOT)
        return scratch;
    return target->slot == RW_HASH_SLOT ? &row->hash_cell : &row->key[target->slot];
}

/* The values between '(' and ')'. The targets of a first row without a list are made behind it, so
 * there the cells are parsed twice, the first time only to count them. */
static rw_outcome parse_cells(rw_parser *parser, rw_row *row, size_t *count)
{
    *count = 0;
    do {
        const rw_target *target = *count < parser->target_count ? &parser->targets[*count] : NULL;
        rw_cell scratch = {.minus_after = -1};
        rw_cell *cell = cell_of(row, target, &scratch);
        rw_outcome outcome = rw_parse_cell(parser, cell != &scratch, cell);
        if (outcome != RW_PARSED)
            return outcome;
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

/* The hash_key columns of a row must be constants. */
static rw_outcome check_key(rw_parser *parser, const rw_row *row)
{
    const rw_table *table = parser->table;
    for (size_t i = 0; i < table->primary_key_count; i++)
        if (!is_constant(&row->key[i]))
            parser->insert->key_constant = false;
    for (size_t i = 0; i < table->hash_key_count; i++) {
        size_t column = table->hash_key[i];
        const rw_cell *cell = &row->key[slot_of(table, column)];
        if (cell->kind == RW_CELL_NULL && !table->allow_null_key && !parser->unknown_column)
            return null_key(parser, column);
        if (is_constant(cell) && !(parser->overriding_user && table->columns[column].sequence))
            continue;
        if (parser->unknown_column && !parser->insert->hash_listed)
            return RW_PASS; /* of which PostgreSQL complains first */
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
        rw_cell cell = {.minus_after = -1};
        rw_parse_cell(parser, false, &cell);
        if (i == visible)
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

static rw_outcome parse_rows(rw_parser *parser, size_t depth)
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
    for (; depth > 0; depth--)
        if (!rw_take(parser, ')'))
            return rw_at_name(parser) ? from_a_query(parser) : rw_syntax_error(parser);
    if (count < parser->target_count)
        return wrong_count(parser, "INSERT has more target columns than expressions",
                           parser->targets[count].position);
    for (size_t i = 0; i < insert->row_count; i++) {
        rw_outcome outcome = check_key(parser, &insert->rows[i]);
        if (outcome != RW_PARSED)
            return outcome;
    }
    return RW_PARSED;
}

/* --- the whole --- */

static void note_omitted(rw_parser *parser)
{
    const rw_table *table = parser->table;
    for (size_t i = 0; i < table->column_count; i++) {
        if (!table->columns[i].sequence)
            continue;
        bool listed = false;
        for (size_t k = 0; k < parser->target_count && !listed; k++)
            listed = parser->targets[k].column == i;
        if (!listed || parser->overriding_user)
            rw_note_obstacle(parser, RW_OBSTACLE_SEQUENCE);
        if (parser->overriding_user && slot_of(table, i) >= 0)
            parser->insert->key_constant = false;
    }
}

static void finish(rw_parser *parser)
{
    rw_insert *insert = parser->insert;
    if (!parser->table->mergeable)
        rw_note_obstacle(parser, RW_OBSTACLE_TRIGGER);
    if (parser->unknown_column)
        rw_note_obstacle(parser, RW_OBSTACLE_FORM);
    note_omitted(parser);
    unsigned obstacles = parser->obstacles;
    if (parser->table->ignore_sequences)
        obstacles &= ~(1u << RW_OBSTACLE_SEQUENCE);
    while (obstacles != 0 && (obstacles & 1u << insert->obstacle) == 0)
        insert->obstacle++;
    for (uint32_t i = 0; i < insert->param_count; i++)
        if (parser->params[i] == (uint32_t)RW_PARAM_UNCLEAR)
            parser->params[i] = PGW_UNSPECIFIED;
    insert->inferred = parser->params;
    insert->end = parser->last_end;
}

static rw_outcome parse_statement(rw_parser *parser)
{
    rw_outcome outcome = RW_PARSED;
    size_t depth = 0;
    if (rw_at_word(parser, "with"))
        outcome = parse_with(parser);
    if (outcome == RW_PARSED && !parse_verb(parser))
        outcome = RW_PASS;
    if (outcome == RW_PARSED)
        outcome = parse_table(parser);
    if (outcome == RW_PARSED)
        outcome = parse_source(parser, &depth);
    if (outcome == RW_PARSED)
        outcome = parse_rows(parser, depth);
    if (outcome == RW_PARSED)
        outcome = rw_parse_tail(parser);
    return outcome;
}

/* Nothing is put in: the table takes it without a hash, or rejects it. */
static void leave_untouched(rw_parser *parser)
{
    rw_insert *insert = parser->insert;
    while (parser->token.kind != RW_TOKEN_END && parser->token.kind != RW_TOKEN_BAD)
        rw_skip_token(parser);
    insert->rows = NULL;
    insert->row_count = insert->splice_count = 0;
    insert->values_merge = insert->key_constant = false;
    finish(parser);
    insert->obstacle = RW_OBSTACLE_UNCOMPUTABLE;
    insert->values = insert->tail = insert->text.len;
}

bool rw_insert_parse(pgw_slice text, const rw_catalog *catalog, const pgw_env *env,
                     pgw_arena *arena, rw_insert **out, pgw_error *error)
{
    rw_parser parser = {.text = text,
                        .catalog = catalog,
                        .env = env,
                        .arena = arena,
                        .error = error,
                        .insert = pgw_arena_alloc(arena, sizeof(rw_insert))};
    parser.insert->text = text;
    *out = NULL;
    rw_lexer_init(&parser.lexer, text, env->conforming);
    rw_advance(&parser);
    rw_outcome outcome = parse_statement(&parser);
    if (outcome == RW_PASS || (outcome == RW_PARSED && parser.impossible))
        return true;
    if (outcome == RW_REFUSED)
        return false;
    if (outcome == RW_UNTOUCHED)
        leave_untouched(&parser);
    else
        finish(&parser);
    *out = parser.insert;
    return true;
}

const char *rw_obstacle_name(rw_obstacle obstacle)
{
    switch (obstacle) {
    case RW_BATCHABLE:
        return "batchable";
    case RW_OBSTACLE_RETURNING:
        return "returning";
    case RW_OBSTACLE_SEQUENCE:
        return "sequence";
    case RW_OBSTACLE_TRIGGER:
        return "trigger";
    case RW_OBSTACLE_EXPRESSION:
        return "expression";
    case RW_OBSTACLE_UNCOMPUTABLE:
        return "uncomputable";
    case RW_OBSTACLE_FORM:
        return "form";
    }
    return "unknown";
}
