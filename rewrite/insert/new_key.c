#include "rewrite/insert/new_key.h"

#include "rewrite/hash/hash_sql.h"
#include "rewrite/insert/guard.h"
#include "rewrite/insert/tail_expression.h"
#include "rewrite/lex/quote.h"

/* The query that makes the value once a row. The client's names are looked up outside of it. */
#define ROWS "\"keyspread\""
#define VALUE ROWS ".\"keyspread\""

/* An expression that the client wrote. */
typedef struct expression {
    size_t start, end;
    rw_token only; /* the only token, but for brackets; END: there are more */
} expression;

/* Whether the token is N'…', which is of the type character. */
static bool is_national(pgw_slice text, rw_token token)
{
    return token.kind == RW_TOKEN_STRING && (text.ptr[token.start] | 32) == 'n';
}

static rw_token only_token(rw_parser *parser)
{
    rw_mark mark = rw_mark_here(parser);
    while (rw_take(parser, '('))
        ;
    rw_token token = parser->token;
    char escape;
    rw_advance(parser);
    bool typed = !rw_take_uescape(parser, &escape) || is_national(parser->text, token);
    while (rw_take(parser, ')'))
        ;
    bool ends = rw_at(parser, ',') || rw_at_word(parser, "where") ||
                rw_at_word(parser, "returning") || rw_at_end(parser);
    if (typed || !ends)
        token.kind = RW_TOKEN_END;
    rw_go_back(parser, mark);
    return token;
}

/* Takes the `= value` behind the column's name. */
static bool take_value(rw_parser *parser, expression *out)
{
    bool equals = pgw_slice_eq_str(rw_token_text(parser->text, parser->token), "=");
    rw_advance(parser);
    *out = (expression){.start = parser->token.start, .only = only_token(parser)};
    bool taken = equals && !rw_at_word(parser, "default") && rw_skip_tail_expression(parser, true);
    out->end = parser->last_end;
    return taken && out->end > out->start;
}

/* Whether the value has no type of its own, and gets that of its column. */
static bool is_untyped(const rw_parser *parser, const expression *value)
{
    rw_token_kind kind = value->only.kind;
    return kind == RW_TOKEN_STRING || kind == RW_TOKEN_PARAM ||
           (kind == RW_TOKEN_WORD &&
            pgw_slice_ieq_str(rw_token_text(parser->text, value->only), "null"));
}

/* Whether a parameter is used more than once: one without a type gets it of its first use, which
 * would be another. */
static bool is_shared(rw_parser *parser, const expression *value)
{
    return value->only.kind == RW_TOKEN_PARAM &&
           rw_parameter_uses(parser->text, parser->env->conforming,
                             rw_param_number(parser, value->only)) > 1;
}

static void add_own(const rw_parser *parser, size_t column, pgw_buf *out)
{
    rw_add_identifier(out, parser->known_as);
    pgw_buf_add_byte(out, '.');
    rw_add_identifier(out, parser->table->columns[column].name);
}

/* The row's own values of the hash_key, but for the column that gets a new one. */
static const char **new_values(const rw_parser *parser, size_t column)
{
    const rw_table *table = parser->table;
    const char **values = pgw_arena_alloc(parser->arena, table->hash_key_count * sizeof *values);
    for (size_t h = 0; h < table->hash_key_count; h++) {
        pgw_buf own = {0};
        if (table->hash_key[h] == column)
            pgw_buf_add_str(&own, VALUE);
        else
            add_own(parser, table->hash_key[h], &own);
        pgw_buf_add_byte(&own, '\0');
        values[h] = pgw_arena_keep(parser->arena, &own).ptr;
    }
    return values;
}

/* The text in the place of `column =`. */
static pgw_slice before(const rw_parser *parser, size_t column)
{
    const rw_table *table = parser->table;
    pgw_buf text = {0};
    pgw_buf_add_byte(&text, '(');
    rw_add_identifier(&text, table->columns[column].name);
    pgw_buf_add_str(&text, ", ");
    rw_add_identifier(&text, table->columns[table->hash_column].name);
    pgw_buf_add_str(&text, ") = (SELECT " VALUE ", ");
    rw_guard_new_key(table, rw_hash_sql(table, new_values(parser, column), parser->arena), &text);
    pgw_buf_add_str(&text, " FROM (VALUES (");
    return pgw_arena_keep(parser->arena, &text);
}

/* The text behind the value. OFFSET keeps the value from being made more than once: the planner
 * cannot know whether it is 0, because it is made of the row's own hash. */
static pgw_slice behind(const rw_parser *parser)
{
    const rw_table *table = parser->table;
    pgw_buf text = {0};
    pgw_buf_add_str(&text, ") OFFSET 0 operator(pg_catalog.*) pg_catalog.num_nulls(");
    add_own(parser, table->hash_column, &text);
    pgw_buf_add_str(&text, ")) " ROWS "(\"keyspread\"))");
    return pgw_arena_keep(parser->arena, &text);
}

/* Puts in text whose errors are told at the value. */
static rw_splice *put(rw_parser *parser, const expression *value, size_t at, pgw_slice text)
{
    rw_splice *splice = rw_add_splice(parser, at, 0, text);
    splice->from = value->start;
    return splice;
}

/* Casts an untyped value to its column's type. A parameter may be declared with another type, which
 * an assignment then casts, or refuses. */
static void put_cast(rw_parser *parser, const expression *value, size_t column, bool end)
{
    const char *type = rw_hash_sql_type(parser->table->columns[column].type);
    if (!is_untyped(parser, value))
        return;
    const char *text = end ? pgw_arena_printf(parser->arena, " as %s)", type) : "cast(";
    rw_splice *splice = put(parser, value, end ? value->end : value->start, pgw_slice_str(text));
    if (value->only.kind == RW_TOKEN_PARAM)
        splice->undeclared = rw_param_number(parser, value->only);
}

bool rw_take_new_key(rw_parser *parser, size_t column, size_t position)
{
    expression value;
    if (!rw_key_may_change(parser->table) || parser->insert->new_key > 0 ||
        !take_value(parser, &value) || is_shared(parser, &value))
        return false;
    put(parser, &value, position, before(parser, column))->remove = value.start - position;
    put_cast(parser, &value, column, false);
    put_cast(parser, &value, column, true);
    put(parser, &value, value.end, behind(parser));
    rw_note_blocker(parser, RW_BLOCKER_EXPRESSION);
    parser->insert->new_key = value.start;
    return true;
}

void rw_new_key_declared(rw_insert *insert, const uint32_t *types, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < insert->splice_count; i++) {
        uint32_t parameter = insert->splices[i].undeclared;
        bool declared = parameter > 0 && parameter <= count &&
                        types[parameter - 1] != PGW_UNSPECIFIED &&
                        types[parameter - 1] != PGW_UNKNOWN;
        if (!declared)
            insert->splices[kept++] = insert->splices[i];
    }
    insert->splice_count = kept;
}
