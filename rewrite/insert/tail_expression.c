#include "rewrite/insert/tail_expression.h"

#include "rewrite/insert/merged_call.h"
#include "rewrite/lex/lexer_text.h"

/* Notes the word DEFAULT, by which a column with a computed default may be set. */
static void note_default(rw_parser *parser)
{
    for (size_t i = 0; i < parser->table->column_count; i++)
        if (parser->table->columns[i].computed)
            rw_note_blocker(parser, RW_BLOCKER_EXPRESSION);
}

/* Whether the token may make text of a value of another type. */
static bool makes_text(const rw_parser *parser)
{
    return parser->token.kind == RW_TOKEN_CAST || rw_at_word(parser, "cast") ||
           rw_at_word(parser, "jsonb_build_object") || rw_at_word(parser, "to_char") ||
           pgw_slice_eq_str(rw_token_text(parser->text, parser->token), "||");
}

/* Whether a call in SET or WHERE is of a function that merged rows may call. */
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
    if (parser->table->own_calls || parser->token.kind != RW_TOKEN_WORD)
        return false;
    pgw_slice name = rw_token_text(parser->text, parser->token);
    return rw_is_merged_function(name) || rw_at_word(parser, "extract");
}

/* Whether a name stands behind another and a dot, and none of the table's columns is called so: it
 * may be a function of that schema, or one that takes a row as `row.name`. */
static bool is_of_another(rw_parser *parser)
{
    bool behind = parser->last_end > 0 && parser->text.ptr[parser->last_end - 1] == '.';
    if (!behind || !rw_at_name(parser))
        return false;
    pgw_slice name = rw_token_name(parser->text, parser->token, parser->arena);
    return rw_table_column(parser->table, name) == parser->table->column_count;
}

/* Whether the token is a part of constants, parameters, columns and what chooses between them:
 * asked where operators, casts and domains may run code of the database's own. */
static bool is_plain(rw_parser *parser)
{
    static const char *const words[] = {"excluded", "coalesce", "null",  "true",
                                        "false",    "default",  "where", "row"};
    if (parser->token.kind == RW_TOKEN_CAST || parser->token.kind == RW_TOKEN_OPERATOR ||
        rw_at(parser, '['))
        return false;
    if (!rw_at_name(parser))
        return true;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (rw_at_word(parser, words[i]))
            return true;
    pgw_slice name = rw_token_name(parser->text, parser->token, parser->arena);
    return pgw_slice_eq_str(name, parser->known_as) ||
           rw_table_column(parser->table, name) < parser->table->column_count;
}

/* Whether the token may run code of the database's own. */
static bool may_run(rw_parser *parser)
{
    const rw_table *table = parser->table;
    bool cast = parser->token.kind == RW_TOKEN_CAST || rw_at_word(parser, "cast");
    return rw_at_word(parser, "select") || rw_at_word(parser, "table") || is_of_another(parser) ||
           (table->casts_run && cast) || (table->expressions_run && !is_plain(parser));
}

void rw_skip_tail_token(rw_parser *parser)
{
    bool runs = may_run(parser);
    bool strict = parser->table->casts_run, name = rw_at_name(parser);
    bool call = name && !is_harmless_call(parser);
    if (rw_at_word(parser, "default"))
        note_default(parser);
    parser->insert->shows |= makes_text(parser);
    rw_skip_token(parser);
    bool typed = strict && name && parser->token.kind == RW_TOKEN_STRING; /* type 'text' */
    if (runs || typed || (call && rw_at(parser, '(')))
        rw_note_blocker(parser, RW_BLOCKER_EXPRESSION);
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
