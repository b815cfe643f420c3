#include "rewrite/statement/edit/set_list.h"

#include "rewrite/lex/lexer_text.h"

typedef struct reader {
    const PgQuery__UpdateStmt *update;
    pgw_slice text;
    const rw_token *tokens; /* tokens of the statement, with an END behind the last */
    size_t at;
    pgw_arena *arena;
    rw_set_list *out;
} reader;

static const rw_token *tokens_of(pgw_slice text, bool conforming, pgw_arena *arena, size_t *count)
{
    pgw_buf list = {0};
    rw_lexer lexer;
    rw_token token;
    rw_lexer_init(&lexer, text, conforming);
    do {
        token = rw_lexer_next(&lexer);
        pgw_buf_add(&list, (const char *)&token, sizeof token);
    } while (token.kind != RW_TOKEN_END && token.kind != RW_TOKEN_BAD);
    *count = list.len / sizeof token;
    return (const void *)pgw_arena_keep(arena, &list).ptr;
}

static bool is_char(const reader *it, char c)
{
    rw_token token = it->tokens[it->at];
    return token.kind == RW_TOKEN_CHAR && it->text.ptr[token.start] == c;
}

static bool is_word(const reader *it, size_t at, const char *word)
{
    return rw_token_is(it->text, it->tokens[at], word);
}

static bool take(reader *it, char c)
{
    bool taken = is_char(it, c);
    it->at += taken;
    return taken;
}

static bool take_equals(reader *it)
{
    rw_token token = it->tokens[it->at];
    bool taken = token.kind == RW_TOKEN_OPERATOR && token.end - token.start == 1 &&
                 it->text.ptr[token.start] == '=';
    it->at += taken;
    return taken;
}

/* Whether the list, or the statement, ends here. `a IS DISTINCT FROM b` and `t.from` do not end it.
 */
static bool ends(const reader *it)
{
    rw_token token = it->tokens[it->at];
    if (token.kind == RW_TOKEN_END || token.kind == RW_TOKEN_BAD || is_char(it, ';'))
        return true;
    rw_token before = it->tokens[it->at - 1];
    if (before.kind == RW_TOKEN_CHAR && it->text.ptr[before.start] == '.')
        return false;
    return is_word(it, it->at, "where") || is_word(it, it->at, "returning") ||
           (is_word(it, it->at, "from") && !is_word(it, it->at - 1, "distinct"));
}

/* Skips a value, up to the ',' or ')' behind it or the end of the list. Returns the byte where the
 * value ends. */
static size_t skip_value(reader *it)
{
    for (size_t depth = 0; !ends(it) || depth > 0; it->at++) {
        rw_token_kind kind = it->tokens[it->at].kind;
        bool closes = is_char(it, ')') || is_char(it, ']');
        if (kind == RW_TOKEN_END || kind == RW_TOKEN_BAD ||
            (depth == 0 && (closes || is_char(it, ','))))
            break;
        depth += is_char(it, '(') || is_char(it, '[');
        depth -= closes;
    }
    return it->tokens[it->at - 1].end;
}

/* The next target's column. */
static bool read_name(reader *it)
{
    rw_set_list *out = it->out;
    rw_token token = it->tokens[it->at];
    if (out->value_count == it->update->n_target_list ||
        (token.kind != RW_TOKEN_WORD && token.kind != RW_TOKEN_QUOTED))
        return false;
    const PgQuery__Node *node = it->update->target_list[out->value_count];
    if (node->node_case != PG_QUERY__NODE__NODE_RES_TARGET ||
        !pgw_slice_eq_str(rw_token_name(it->text, token, it->arena), node->res_target->name))
        return false;
    it->at++;
    out->values[out->value_count++] =
        (rw_set_value){.name = token.start, .name_end = token.end, .target = node->res_target};
    return true;
}

static bool read_row(reader *it, const rw_set_item *item, const PgQuery__RowExpr *row)
{
    if (row->n_args != item->count)
        return false;
    it->at += is_word(it, it->at, "row");
    if (!take(it, '('))
        return false;
    for (size_t i = 0; i < item->count; i++) {
        rw_set_value *value = &it->out->values[item->first + i];
        if (i > 0 && !take(it, ','))
            return false;
        value->start = it->tokens[it->at].start;
        value->end = skip_value(it);
        value->value = row->args[i];
    }
    return take(it, ')');
}

/* `(a, b) = …`, of which the values of a query are not looked at. */
static bool read_list(reader *it, rw_set_item *item)
{
    item->listed = true;
    do {
        if (!read_name(it))
            return false;
        item->count++;
    } while (take(it, ','));
    if (!take(it, ')') || !take_equals(it))
        return false;
    const PgQuery__Node *value = it->out->values[item->first].target->val;
    const PgQuery__Node *source =
        value != NULL && value->node_case == PG_QUERY__NODE__NODE_MULTI_ASSIGN_REF
            ? value->multi_assign_ref->source
            : NULL;
    if (source != NULL && source->node_case == PG_QUERY__NODE__NODE_ROW_EXPR)
        return read_row(it, item, source->row_expr);
    skip_value(it);
    return true;
}

static bool read_single(reader *it, rw_set_item *item)
{
    if (!read_name(it))
        return false;
    item->count = 1;
    rw_set_value *value = &it->out->values[item->first];
    if (!take_equals(it)) /* A part of the column is set, as in `v[1] = 2`. */
        return false;
    value->start = it->tokens[it->at].start;
    value->end = skip_value(it);
    value->value = value->target->val;
    return value->end > value->start;
}

static bool read_item(reader *it)
{
    rw_set_list *out = it->out;
    if (out->item_count == it->update->n_target_list)
        return false;
    rw_set_item *item = &out->items[out->item_count++];
    size_t start = it->tokens[it->at].start;
    *item = (rw_set_item){.start = start, .first = out->value_count};
    item->comma = out->item_count == 1 ? start : it->tokens[it->at - 1].start;
    if (!(take(it, '(') ? read_list(it, item) : read_single(it, item)))
        return false;
    item->end = it->tokens[it->at - 1].end;
    return ends(it) || is_char(it, ',');
}

bool rw_set_list_read(const PgQuery__UpdateStmt *update, pgw_slice text, bool conforming,
                      pgw_arena *arena, rw_set_list *out)
{
    size_t count, targets = update->n_target_list;
    reader it = {.update = update, .text = text, .arena = arena, .out = out};
    *out = (rw_set_list){.items = pgw_arena_alloc(arena, targets * sizeof *out->items),
                         .values = pgw_arena_alloc(arena, targets * sizeof *out->values)};
    it.tokens = tokens_of(text, conforming, arena, &count);
    if (targets == 0 || update->target_list[0]->node_case != PG_QUERY__NODE__NODE_RES_TARGET)
        return false;
    it.at = rw_token_at(it.tokens, count, update->target_list[0]->res_target->location);
    if (it.at == 0 || it.at == count)
        return false;
    it.at--; /* Goes to the token before the first name: the word SET, or '('. */
    if (!is_char(&it, '('))
        it.at++;
    do {
        if (!read_item(&it))
            return false;
    } while (take(&it, ','));
    return ends(&it) && out->value_count == targets;
}
