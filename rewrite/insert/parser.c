#include "rewrite/insert/parser.h"

#include "protocol/utf8.h"
#include "rewrite/lex/lexer_text.h"

#include <string.h>

static const pgw_slice nothing = {NULL, 0};

/* --- tokens --- */

/* Makes a number that only servers newer than this one take a bad token. */
static void refuse_newer(rw_parser *parser)
{
    rw_token *token = &parser->token;
    bool number = token->kind == RW_TOKEN_INTEGER || token->kind == RW_TOKEN_DECIMAL;
    if (number && rw_number_is_newer(rw_token_text(parser->text, *token)))
        *token = (rw_token){RW_TOKEN_BAD, token->start, token->start};
}

void rw_advance(rw_parser *parser)
{
    parser->last_end = parser->token.end;
    parser->token = rw_lexer_next(&parser->lexer);
    if (parser->env->server < PGW_NUMBERS_SINCE)
        refuse_newer(parser);
    parser->too_large = parser->arena->bytes + parser->row_cap * sizeof(rw_row) > RW_PARSED_MOST;
    if (parser->too_large)
        parser->token.kind = RW_TOKEN_END;
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
    uint32_t number = rw_parameter_number(parser->text, token);
    if (number > 0 && number <= UINT16_MAX)
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
    parser->insert->infers_all |= type == PGW_UNSPECIFIED;
    uint32_t *seen = &parser->params[number - 1];
    if (type == PGW_UNSPECIFIED || (*seen != 0 && *seen != type))
        type = (uint32_t)RW_PARAM_UNCLEAR;
    *seen = type;
}

void rw_note_inference(rw_parser *parser, size_t column)
{
    rw_insert *insert = parser->insert;
    if (insert->infers == NULL)
        insert->infers = pgw_arena_alloc(parser->arena, parser->table->column_count);
    insert->infers[column] = true;
}

/* Whether the word is a function that uses a sequence: its effect stays in the session. */
static bool is_sequence_function(const rw_parser *parser)
{
    return rw_at_word(parser, "nextval") || rw_at_word(parser, "currval") ||
           rw_at_word(parser, "lastval") || rw_at_word(parser, "setval");
}

static void note_sequence_function(rw_parser *parser)
{
    rw_note_blocker(parser, RW_BLOCKER_SEQUENCE);
    if (rw_at_word(parser, "lastval"))
        parser->asks_last = parser->token.start;
}

void rw_skip_token(rw_parser *parser)
{
    if (parser->token.kind == RW_TOKEN_PARAM)
        rw_note_param(parser, rw_param_number(parser, parser->token), PGW_UNSPECIFIED);
    else if (parser->token.kind == RW_TOKEN_WORD && is_sequence_function(parser))
        note_sequence_function(parser);
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

static void make_room(rw_parser *parser)
{
    rw_insert *insert = parser->insert;
    if (insert->splice_count < parser->splice_cap)
        return;
    parser->splice_cap = parser->splice_cap ? parser->splice_cap * 2 : 4;
    rw_splice *splices = pgw_arena_alloc(parser->arena, parser->splice_cap * sizeof *splices);
    if (insert->splice_count > 0)
        memcpy(splices, insert->splices, insert->splice_count * sizeof *splices);
    insert->splices = splices;
}

/* Adds the splice in order of `at`: name_key() adds one when later ones are there already. */
rw_splice *rw_add_splice(rw_parser *parser, size_t at, size_t remove, pgw_slice text)
{
    make_room(parser);
    rw_insert *insert = parser->insert;
    size_t i = insert->splice_count++;
    for (; i > 0 && insert->splices[i - 1].at > at; i--)
        insert->splices[i] = insert->splices[i - 1];
    insert->splices[i] = (rw_splice){.at = at, .remove = remove, .text = text, .from = at};
    return &insert->splices[i];
}

/* A splice that removes nothing comes before others at the same place, so that text put around the
 * query stays around it. */
void rw_insert_splice(rw_insert *insert, rw_splice splice, pgw_arena *arena)
{
    size_t count = insert->splice_count, i = 0;
    rw_splice *splices = pgw_arena_alloc(arena, (count + 1) * sizeof *splices);
    for (; i < count; i++) {
        size_t at = insert->splices[i].at;
        if (at > splice.at || (at == splice.at && splice.remove == 0))
            break;
        splices[i] = insert->splices[i];
    }
    splice.from = splice.at;
    splices[i] = splice;
    for (; i < count; i++)
        splices[i + 1] = insert->splices[i];
    insert->splices = splices;
    insert->splice_count = count + 1;
}

void rw_note_blocker(rw_parser *parser, rw_blocker blocker)
{
    parser->blockers |= 1u << blocker;
}

void rw_set_position(rw_parser *parser, size_t offset)
{
    parser->error->position = pgw_characters(parser->text, offset, parser->env->utf8) + 1;
}

rw_outcome rw_syntax_error(rw_parser *parser)
{
    if (parser->token.kind == RW_TOKEN_BAD) {
        char c = parser->token.start < parser->text.len ? parser->text.ptr[parser->token.start] : 0;
        if (c < '0' || c > '9')
            return RW_PASS; /* the token is unterminated: PostgreSQL says it in its own words */
        pgw_fail(parser->error, "42601", "trailing junk after numeric literal");
    } else if (rw_at_end(parser) && parser->token.kind == RW_TOKEN_END) {
        pgw_fail(parser->error, "42601", "syntax error at end of input");
    } else {
        pgw_slice near = rw_token_text(parser->text, parser->token);
        pgw_fail(parser->error, "42601", "syntax error at or near \"%.*s\"",
                 (int)(near.len < 256 ? near.len : 256), near.ptr);
    }
    rw_set_position(parser, parser->token.start);
    return RW_REFUSED;
}

bool rw_denies(const rw_parser *parser, size_t column)
{
    return parser->table->strict && column == parser->table->hash_column;
}

rw_outcome rw_deny_column(rw_parser *parser, size_t position)
{
    const rw_table *table = parser->table;
    pgw_fail(parser->error, "42703", "column \"%s\" of relation \"%s\" does not exist",
             table->columns[table->hash_column].name, table->name);
    rw_set_position(parser, position);
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
                   table->columns[column].generated
                       ? "Take columns for hash_key that \"%s\" is generated from."
                       : "Write a constant or a parameter for \"%s\" in VALUES.",
                   table->columns[column].name);
    rw_set_position(parser, position);
    return RW_REFUSED;
}

int rw_slot_of(const rw_table *table, size_t column)
{
    if (column == table->hash_column)
        return RW_HASH_SLOT;
    for (size_t i = 0; i < table->primary_key_count; i++)
        if (table->primary_key[i] == column)
            return (int)i;
    return RW_NO_SLOT;
}

bool rw_overridden(const rw_parser *parser, size_t column)
{
    return parser->overriding_user && parser->table->columns[column].identity;
}

rw_outcome rw_check_overridden(rw_parser *parser)
{
    const rw_table *table = parser->table;
    for (size_t i = 0; i < parser->target_count; i++) {
        size_t column = parser->targets[i].column;
        bool other = column < table->column_count && table->columns[column].identity;
        for (size_t h = 0; h < table->hash_key_count; h++)
            other = other && table->hash_key[h] != column;
        if (other)
            return rw_uncomputable(parser, column, parser->targets[i].position,
                                   "is an identity beside another (OVERRIDING USER VALUE)");
    }
    return RW_PARSED;
}

rw_target *rw_add_target(rw_parser *parser, size_t column, size_t position)
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
    *target = (rw_target){column, rw_slot_of(parser->table, column), false, position};
    return target;
}
