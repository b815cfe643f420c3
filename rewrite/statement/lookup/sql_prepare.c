#include "rewrite/statement/lookup/sql_prepare.h"

#include "protocol/array.h"
#include "protocol/types.h"
#include "rewrite/lex/lexer_text.h"
#include "rewrite/statement/lookup/lookup_value.h"

/* Lengths and precisions count for nothing there. */
static uint32_t type_of(const PgQuery__TypeName *type)
{
    uint32_t named = rw_lookup_type_named(type);
    return type->n_array_bounds > 0 ? pgw_array_of(named) : named;
}

/* Reads the declared types. False: one is not known here. */
static bool read_types(const PgQuery__PrepareStmt *it, uint32_t *types)
{
    for (size_t i = 0; i < it->n_argtypes; i++) {
        const PgQuery__Node *type = it->argtypes[i];
        types[i] = type->node_case == PG_QUERY__NODE__NODE_TYPE_NAME ? type_of(type->type_name)
                                                                     : PGW_UNSPECIFIED;
        if (types[i] == PGW_UNSPECIFIED)
            return false;
    }
    return true;
}

/* The statement behind PREPARE, a name, types in parentheses, and AS. No pointer: not found. */
static pgw_slice kept_of(pgw_slice text)
{
    rw_lexer lexer;
    rw_lexer_init(&lexer, text, true);
    (void)rw_lexer_next(&lexer);
    (void)rw_lexer_next(&lexer); /* Skips the name, which may be "as". */
    rw_token token;
    int depth = 0;
    do {
        token = rw_lexer_next(&lexer);
        if (token.kind == RW_TOKEN_END || token.kind == RW_TOKEN_BAD)
            return (pgw_slice){NULL, 0};
        char first = text.ptr[token.start];
        depth += token.kind == RW_TOKEN_CHAR ? (first == '(') - (first == ')') : 0;
    } while (depth > 0 || !rw_token_is(text, token, "as"));
    token = rw_lexer_next(&lexer);
    return (pgw_slice){text.ptr + token.start, text.len - token.start};
}

const rw_sql_prepare *rw_sql_prepare_find(const PgQuery__Node *statement, pgw_slice text,
                                          pgw_arena *arena)
{
    if (statement->node_case != PG_QUERY__NODE__NODE_PREPARE_STMT)
        return NULL;
    const PgQuery__PrepareStmt *it = statement->prepare_stmt;
    uint32_t *types = pgw_arena_alloc(arena, (it->n_argtypes + 1) * sizeof *types);
    pgw_slice kept = kept_of(text);
    if (kept.ptr == NULL || !read_types(it, types))
        return NULL;
    rw_sql_prepare *out = pgw_arena_alloc(arena, sizeof *out);
    uint32_t highest = rw_highest_parameter(kept, true);
    *out = (rw_sql_prepare){kept, {types, it->n_argtypes}, highest};
    if (out->parameters < out->declared.count)
        out->parameters = (uint32_t)out->declared.count;
    return out;
}
