#include "rewrite/insert/repeat.h"

#include "rewrite/insert/spell.h"
#include "rewrite/lex/quote.h"

#include <string.h>

static bool is_same(rw_parser *parser, const rw_cell *cell)
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

bool rw_repeats_cell(rw_parser *parser, size_t column)
{
    int slot = rw_slot_of(parser->table, column);
    return slot >= 0 && is_same(parser, &parser->insert->rows[0].key[slot]);
}

void rw_send_repeated(rw_parser *parser, size_t column, rw_token token)
{
    const rw_column *of = &parser->table->columns[column];
    const rw_cell *cell = &parser->insert->rows[0].key[rw_slot_of(parser->table, column)];
    if (cell->kind != RW_CELL_STRING || !rw_cell_heeds_zone(cell, of, parser->arena))
        return;
    pgw_buf text = {0};
    pgw_buf_add_str(&text, "excluded.");
    rw_add_identifier(&text, of->name);
    rw_add_splice(parser, token.start, token.end - token.start,
                  pgw_arena_keep(parser->arena, &text));
}
