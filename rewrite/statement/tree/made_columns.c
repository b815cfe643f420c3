#include "rewrite/statement/tree/made_columns.h"

#include "rewrite/lex/lexer.h"
#include "rewrite/statement/tree/parse_tree.h"

#include <string.h>

/* What stands behind a column's type. */
static bool ends_type(pgw_slice text, rw_token token)
{
    static const char *const words[] = {
        "not",        "null",      "default", "primary",    "unique",    "check",      "references",
        "constraint", "generated", "collate", "deferrable", "initially", "compression"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (rw_token_is(text, token, words[i]))
            return true;
    return token.kind == RW_TOKEN_END || token.kind == RW_TOKEN_BAD ||
           (token.kind == RW_TOKEN_CHAR && strchr(",)", text.ptr[token.start]) != NULL);
}

static pgw_slice type_at(pgw_slice text, int32_t location, const pgw_env *env)
{
    rw_lexer lexer;
    rw_lexer_init(&lexer, text, env->conforming);
    lexer.at = (size_t)location;
    size_t start = lexer.at, end = lexer.at;
    for (rw_token token = rw_lexer_next(&lexer); !ends_type(text, token);
         token = rw_lexer_next(&lexer)) {
        int depth = token.kind == RW_TOKEN_CHAR && text.ptr[token.start] == '(';
        while (depth > 0 && token.kind != RW_TOKEN_END && token.kind != RW_TOKEN_BAD) {
            token = rw_lexer_next(&lexer);
            if (token.kind == RW_TOKEN_CHAR)
                depth += (text.ptr[token.start] == '(') - (text.ptr[token.start] == ')');
        }
        end = token.end;
        if (rw_token_is(text, token, "pg_catalog"))
            start = rw_lexer_next(&lexer).end; /* The type begins behind the dot. */
    }
    return (pgw_slice){text.ptr + start, end > start ? end - start : 0};
}

static const char *integer_of(pgw_slice type)
{
    static const struct {
        const char *serial, *type;
    } serials[] = {{"serial", "integer"}, {"serial4", "integer"},      {"bigserial", "bigint"},
                   {"serial8", "bigint"}, {"smallserial", "smallint"}, {"serial2", "smallint"}};
    for (size_t i = 0; i < sizeof serials / sizeof *serials; i++)
        if (pgw_slice_ieq_str(type, serials[i].serial))
            return serials[i].type;
    return NULL;
}

static bool has(const PgQuery__ColumnDef *column, PgQuery__ConstrType type)
{
    for (size_t i = 0; i < column->n_constraints; i++)
        if (column->constraints[i]->constraint->contype == type)
            return true;
    return false;
}

static void add(const PgQuery__ColumnDef *column, pgw_slice text, const pgw_env *env,
                pgw_arena *arena, rw_made_column *out)
{
    pgw_slice type = type_at(text, column->type_name->location, env);
    const char *integer = integer_of(type);
    out->name = pgw_arena_printf(arena, "%s", column->colname);
    out->type = integer != NULL ? pgw_arena_printf(arena, "%s", integer)
                                : pgw_arena_printf(arena, "%.*s", (int)type.len, type.ptr);
    out->serial = integer != NULL || has(column, PG_QUERY__CONSTR_TYPE__CONSTR_IDENTITY);
    out->not_null = out->serial || has(column, PG_QUERY__CONSTR_TYPE__CONSTR_NOTNULL) ||
                    has(column, PG_QUERY__CONSTR_TYPE__CONSTR_PRIMARY);
}

static size_t columns_of(const PgQuery__ParseResult *parsed, pgw_slice text, const pgw_env *env,
                         pgw_arena *arena, rw_made_column **out)
{
    const PgQuery__Node *top = parsed->n_stmts == 1 ? parsed->stmts[0]->stmt : NULL;
    if (top == NULL || top->node_case != PG_QUERY__NODE__NODE_CREATE_STMT)
        return 0;
    const PgQuery__CreateStmt *create = top->create_stmt;
    *out = pgw_arena_alloc(arena, (create->n_table_elts + 1) * sizeof **out);
    size_t count = 0;
    for (size_t i = 0; i < create->n_table_elts; i++)
        if (create->table_elts[i]->node_case == PG_QUERY__NODE__NODE_COLUMN_DEF &&
            create->table_elts[i]->column_def->type_name != NULL)
            add(create->table_elts[i]->column_def, text, env, arena, &(*out)[count++]);
    return count;
}

size_t rw_made_columns(pgw_slice text, const pgw_env *env, pgw_arena *arena, rw_made_column **out)
{
    PgQuery__ParseResult *parsed = rw_parse_tree(text, env, arena);
    size_t count = 0;
    *out = NULL;
    if (parsed != NULL)
        count = columns_of(parsed, text, env, arena, out);
    pg_query__parse_result__free_unpacked(parsed, NULL);
    return count;
}
