#include "rewrite/insert/query_read.h"

#include <string.h>

static const pgw_slice nothing = {NULL, 0};

/* ---- where the query ends ---- */

static bool at_set_operation(const rw_parser *parser)
{
    return rw_at_word(parser, "union") || rw_at_word(parser, "except") ||
           rw_at_word(parser, "intersect");
}

bool rw_at_query_tail(const rw_parser *parser)
{
    return rw_at_word(parser, "order") || rw_at_word(parser, "limit") ||
           rw_at_word(parser, "offset") || rw_at_word(parser, "fetch") ||
           rw_at_word(parser, "for") || at_set_operation(parser);
}

/* Whether ON CONFLICT comes next, and not the condition of a JOIN. */
static bool at_conflict(rw_parser *parser)
{
    rw_mark mark = rw_mark_here(parser);
    bool conflict = rw_take_word(parser, "on") && rw_take_word(parser, "conflict") &&
                    (rw_at(parser, '(') || rw_at_word(parser, "do") || rw_at_word(parser, "on"));
    rw_go_back(parser, mark);
    return conflict;
}

static bool at_end(rw_parser *parser)
{
    return rw_at_end(parser) || parser->token.kind == RW_TOKEN_BAD ||
           rw_at_word(parser, "returning") || at_conflict(parser);
}

/* Skips one token, or what stands in brackets. False at a bracket without its partner. */
static bool skip(rw_parser *parser)
{
    if (rw_at(parser, '(') || rw_at(parser, '['))
        return rw_skip_brackets(parser);
    if (parser->token.kind == RW_TOKEN_BAD || rw_at(parser, ']'))
        return false;
    rw_skip_token(parser);
    return true;
}

/* ---- what the query selects ---- */

static bool ends_list(rw_parser *parser)
{
    static const char *const words[] = {"from", "where", "group", "having", "window", "into"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (rw_at_word(parser, words[i]))
            return true;
    return rw_at(parser, ')') || rw_at_query_tail(parser) || at_end(parser);
}

static bool has_no_type(const rw_parser *parser)
{
    if (parser->token.kind == RW_TOKEN_STRING)
        return (parser->text.ptr[parser->token.start] | 0x20) != 'n';
    return parser->token.kind == RW_TOKEN_PARAM || rw_at_word(parser, "null");
}

static bool is_number(const rw_parser *parser)
{
    return parser->token.kind == RW_TOKEN_INTEGER || parser->token.kind == RW_TOKEN_DECIMAL;
}

/* Takes a constant alone, in brackets or not, named or not; false: it is something else. */
static bool take_constant(rw_parser *parser, rw_query_item *out)
{
    size_t open = 0;
    while (rw_take(parser, '('))
        open++;
    out->start = parser->token.start;
    out->typed = is_number(parser);
    if (!out->typed && !has_no_type(parser))
        return false;
    rw_token constant = parser->token;
    bool unicode = (parser->text.ptr[constant.start] | 0x20) == 'u';
    char escape;
    rw_skip_token(parser);
    if (unicode && constant.kind == RW_TOKEN_STRING && !rw_take_uescape(parser, &escape))
        return false;
    constant.end = parser->last_end;
    for (; open > 0; open--)
        if (!rw_take(parser, ')'))
            return false;
    bool as = rw_take_word(parser, "as");
    if (rw_at_word(parser, "isnull") || rw_at_word(parser, "notnull"))
        return false;
    if (rw_at_name(parser) && (as || !ends_list(parser)))
        out->alias = rw_take_name(parser);
    out->constant = constant;
    return rw_at(parser, ',') || ends_list(parser);
}

static rw_query_item *add_item(rw_query *q)
{
    if (q->count == q->cap) {
        q->cap = q->cap > 0 ? q->cap * 2 : 16;
        rw_query_item *items = pgw_arena_alloc(q->parser->arena, q->cap * sizeof *items);
        if (q->count > 0)
            memcpy(items, q->items, q->count * sizeof *items);
        q->items = items;
    }
    rw_query_item *added = &q->items[q->count++];
    *added = (rw_query_item){.constant = {.kind = RW_TOKEN_END}};
    return added;
}

/* Whether the token behind this one is no keyword that could end the list: a name, or a part of
 * DISTINCT FROM or WITHIN GROUP. */
static bool hides_next(const rw_parser *parser)
{
    return rw_at(parser, '.') || rw_at_word(parser, "as") || rw_at_word(parser, "distinct") ||
           rw_at_word(parser, "within");
}

static bool take_item(rw_query *q)
{
    rw_parser *parser = q->parser;
    rw_query_item *added = add_item(q);
    rw_mark mark = rw_mark_here(parser);
    if (take_constant(parser, added))
        return true;
    added->constant.kind = RW_TOKEN_END;
    rw_go_back(parser, mark);
    rw_token last = parser->token;
    while (!rw_at(parser, ',') && !ends_list(parser)) {
        bool hides = hides_next(parser);
        last = parser->token;
        if (!skip(parser))
            return false;
        if (hides && !rw_at(parser, '(') && !at_end(parser)) {
            last = parser->token;
            rw_skip_token(parser);
        }
    }
    q->star = q->star || pgw_slice_eq_str(rw_token_text(parser->text, last), "*");
    return true;
}

/* ---- what the query asks for by number or name ---- */

static bool ends_element(rw_parser *parser)
{
    return rw_at(parser, ',') || rw_at(parser, ')') || rw_at_word(parser, "asc") ||
           rw_at_word(parser, "desc") || rw_at_word(parser, "using") ||
           rw_at_word(parser, "nulls") || ends_list(parser);
}

/* Notes a constant that an element of GROUP BY, ORDER BY or DISTINCT ON refers to. */
static void note_reference(rw_query *q)
{
    rw_parser *parser = q->parser;
    rw_mark mark = rw_mark_here(parser);
    int64_t number = 0;
    pgw_slice name = nothing;
    if (parser->token.kind == RW_TOKEN_INTEGER) {
        pgw_slice digits = rw_token_text(parser->text, parser->token);
        if (!rw_digits_fit_int8(digits, false, &number))
            number = 0;
        rw_advance(parser);
    } else if (rw_at_name(parser)) {
        name = rw_take_name(parser);
    }
    bool alone = ends_element(parser);
    for (size_t i = 0; i < q->count && alone; i++)
        q->items[i].stays |=
            (int64_t)i + 1 == number || (name.len > 0 && pgw_slice_eq(name, q->items[i].alias));
    rw_go_back(parser, mark);
}

/* Whether columns in brackets or grouping sets come next, which may make what they name NULL. */
static bool at_set(const rw_parser *parser)
{
    return rw_at(parser, '(') || rw_at_word(parser, "rollup") || rw_at_word(parser, "cube") ||
           rw_at_word(parser, "grouping") || rw_at_word(parser, "distinct") ||
           rw_at_word(parser, "all");
}

/* Takes the list behind GROUP BY, ORDER BY or the bracket of DISTINCT ON. */
static bool take_references(rw_query *q)
{
    rw_parser *parser = q->parser;
    do {
        q->plain = q->plain && !at_set(parser);
        note_reference(q);
        while (!rw_at(parser, ',') && !ends_list(parser))
            if (!skip(parser))
                return false;
    } while (rw_take(parser, ','));
    return true;
}

/* Takes the list behind SELECT. */
static bool take_list(rw_query *q)
{
    rw_parser *parser = q->parser;
    rw_mark on = {.at = 0};
    rw_take_word(parser, "all");
    if (rw_take_word(parser, "distinct")) {
        on = rw_mark_here(parser);
        q->plain = rw_take_word(parser, "on");
        if (q->plain && (!rw_at(parser, '(') || !skip(parser)))
            return false;
    }
    if (ends_list(parser))
        return true;
    do
        if (!take_item(q))
            return false;
    while (rw_take(parser, ','));
    if (on.at == 0 || !q->plain)
        return true;
    rw_mark behind = rw_mark_here(parser);
    rw_go_back(parser, on);
    bool taken = rw_take_word(parser, "on") && rw_take(parser, '(') && take_references(q);
    rw_go_back(parser, behind);
    return taken;
}

/* Takes brackets and WITH, up to the word that the query itself begins with. */
static bool take_head(rw_query *q, size_t *depth)
{
    rw_parser *parser = q->parser;
    for (; rw_take(parser, '('); ++*depth)
        ;
    if (!rw_at_word(parser, "with"))
        return true;
    while (!rw_at_word(parser, "select") && !rw_at_word(parser, "values") &&
           !rw_at_word(parser, "table") && !at_end(parser))
        if (rw_at(parser, ')') || !skip(parser))
            return false;
    return true;
}

/* Takes the query from its FROM to its end. RW_PASS: it has an INTO, which no INSERT may have. */
static rw_outcome take_rest(rw_query *q, size_t depth)
{
    rw_parser *parser = q->parser;
    while (depth > 0 || !at_end(parser)) {
        bool by = rw_at_word(parser, "group") || rw_at_word(parser, "order");
        if (rw_at_word(parser, "into"))
            return RW_PASS;
        q->plain = q->plain && !at_set_operation(parser);
        if (rw_at(parser, ')')) {
            if (depth-- == 0)
                return rw_syntax_error(parser);
            rw_advance(parser);
        } else if (at_end(parser) || !skip(parser)) {
            return rw_syntax_error(parser);
        } else if (by && rw_take_word(parser, "by") && !take_references(q)) {
            return rw_syntax_error(parser);
        }
    }
    q->end = parser->last_end;
    return RW_PARSED;
}

rw_outcome rw_query_read(rw_query *q)
{
    rw_parser *parser = q->parser;
    size_t depth = 0;
    rw_go_back(parser, parser->query);
    q->start = parser->token.start;
    if (!take_head(q, &depth))
        return rw_syntax_error(parser);
    q->plain = rw_take_word(parser, "select");
    if (q->plain && !take_list(q))
        return rw_syntax_error(parser);
    return take_rest(q, depth);
}
