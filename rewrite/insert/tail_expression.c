#include "rewrite/insert/tail_expression.h"

/* A column may be set to its default. */
static void note_default(rw_parser *parser)
{
    for (size_t i = 0; i < parser->table->column_count; i++)
        if (parser->table->columns[i].computed)
            rw_note_obstacle(parser, RW_OBSTACLE_EXPRESSION);
}

/* Text may be made of a value of another type. */
static bool makes_text(const rw_parser *parser)
{
    return parser->token.kind == RW_TOKEN_CAST || rw_at_word(parser, "cast") ||
           rw_at_word(parser, "jsonb_build_object") ||
           pgw_slice_eq_str(rw_token_text(parser->text, parser->token), "||");
}

/* Functions in SET and WHERE that merged rows may call. */
static bool is_harmless_call(const rw_parser *parser)
{
    static const char *const names[] = {"coalesce",
                                        "greatest",
                                        "least",
                                        "nullif",
                                        "now",
                                        "set",
                                        "row",
                                        "values",
                                        "and",
                                        "or",
                                        "not",
                                        "in",
                                        "where",
                                        "numeric",
                                        "varchar",
                                        "char",
                                        "cast",
                                        "jsonb_set",
                                        "jsonb_build_object"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (rw_at_word(parser, names[i]))
            return true;
    return false;
}

void rw_skip_tail_token(rw_parser *parser)
{
    bool query = rw_at_word(parser, "select") || rw_at_word(parser, "table");
    bool call = rw_at_name(parser) && !is_harmless_call(parser);
    if (rw_at_word(parser, "default"))
        note_default(parser);
    parser->insert->shows |= makes_text(parser);
    rw_skip_token(parser);
    if (query || (call && rw_at(parser, '(')))
        rw_note_obstacle(parser, RW_OBSTACLE_EXPRESSION);
}

bool rw_skip_tail_expression(rw_parser *parser, bool commas)
{
    size_t depth = 0;
    while (!rw_at_end(parser) && parser->token.kind != RW_TOKEN_BAD) {
        if (depth == 0 && ((commas && rw_at(parser, ',')) || rw_at_word(parser, "where") ||
                           rw_at_word(parser, "returning") || rw_at_word(parser, "do")))
            return true;
        if (rw_at(parser, '(') || rw_at(parser, '['))
            depth++;
        else if (rw_at(parser, ')') || rw_at(parser, ']')) {
            if (depth-- == 0)
                return false;
        }
        rw_skip_tail_token(parser);
    }
    return depth == 0 && parser->token.kind != RW_TOKEN_BAD;
}
