#include "tests/ydb_endpoint/known.h"

#include "rewrite/statement/script/shape.h"
#include "rewrite/statement/tree/walk.h"

#include <stdlib.h>
#include <string.h>

/* A constant of a text, and where the tree has it. */
typedef struct place {
    PgQuery__AConst *constant;
    bool negative; /* the grammar has made one of it and the minus in front */
} place;

typedef struct ye_known_tree {
    rw_shape shape;
    pgw_arena arena; /* of what follows */
    PgQuery__ParseResult *tree;
    place *places; /* in the order of the text */
    size_t count;
} ye_known_tree;

/* --- the constants of a text --- */

static bool is_constant(rw_token token)
{
    return token.kind == RW_TOKEN_INTEGER || token.kind == RW_TOKEN_DECIMAL ||
           token.kind == RW_TOKEN_STRING;
}

static rw_lexer lexer_of(pgw_slice text)
{
    rw_lexer lexer;
    rw_lexer_init(&lexer, text, true);
    return lexer;
}

/* Goes to the next one; false: there is none. `*before` is the token in front of it. */
static bool next_constant(rw_lexer *lexer, rw_token *before, rw_token *token)
{
    do {
        *before = *token;
        *token = rw_lexer_next(lexer);
        if (token->kind == RW_TOKEN_END || token->kind == RW_TOKEN_BAD)
            return false;
    } while (!is_constant(*token));
    return true;
}

static size_t count_constants(pgw_slice text)
{
    rw_lexer lexer = lexer_of(text);
    rw_token before, token = {.kind = RW_TOKEN_END};
    size_t count = 0;
    while (next_constant(&lexer, &before, &token))
        count++;
    return count;
}

/* --- the constants of a tree --- */

typedef struct constants {
    PgQuery__AConst **list;
    size_t count, most;
} constants;

static bool gather(void *context, const ProtobufCMessage *child)
{
    constants *found = context;
    PgQuery__AConst *constant = (PgQuery__AConst *)child;
    if (child->descriptor != &pg_query__a__const__descriptor || constant->isnull)
        return rw_walk(child, gather, context);
    if (constant->val_case != PG_QUERY__A__CONST__VAL_IVAL &&
        constant->val_case != PG_QUERY__A__CONST__VAL_FVAL &&
        constant->val_case != PG_QUERY__A__CONST__VAL_SVAL)
        return true;
    if (found->count < found->most)
        found->list[found->count] = constant;
    found->count++;
    return true;
}

static PgQuery__AConst *constant_at(const constants *found, uint32_t at)
{
    for (size_t i = 0; i < found->count; i++)
        if (found->list[i]->location == (int32_t)at)
            return found->list[i];
    return NULL;
}

/* Where each constant of the text is in the tree. False: that cannot be told of all of them, or the
 * tree has others. */
static bool find_places(pgw_slice text, ye_known_tree *known, pgw_arena *arena)
{
    constants found = {.most = count_constants(text)};
    rw_lexer lexer = lexer_of(text);
    rw_token before, token = {.kind = RW_TOKEN_END};
    found.list = pgw_arena_alloc(arena, (found.most + 1) * sizeof(PgQuery__AConst *));
    known->places = pgw_arena_alloc(arena, (found.most + 1) * sizeof *known->places);
    if (!rw_walk(&known->tree->base, gather, &found) || found.count != found.most)
        return false;
    while (next_constant(&lexer, &before, &token)) {
        place *here = &known->places[known->count++];
        here->constant = constant_at(&found, token.start);
        if (here->constant != NULL || before.kind != RW_TOKEN_OPERATOR)
            continue;
        here->negative = pgw_slice_eq_str(rw_token_text(text, before), "-");
        here->constant = here->negative ? constant_at(&found, before.start) : NULL;
    }
    for (size_t i = 0; i < known->count; i++)
        if (known->places[i].constant == NULL)
            return false;
    return true;
}

/* --- values --- */

/* What '…' in one piece says. Others are part of the shape, and the tree has them. */
static bool read_string(pgw_slice token, pgw_buf *out)
{
    if (token.ptr[0] != '\'')
        return false;
    for (size_t at = 1; at + 1 < token.len; at++) {
        if (token.ptr[at] == '\'' && token.ptr[++at] != '\'')
            return false;
        pgw_buf_add_byte(out, token.ptr[at]);
    }
    return true;
}

static void put(const place *here, pgw_slice token, pgw_buf *values)
{
    const size_t begun = values->len;
    PgQuery__AConst *constant = here->constant;
    if (constant->val_case == PG_QUERY__A__CONST__VAL_SVAL && !read_string(token, values)) {
        values->len = begun;
        return;
    }
    if (constant->val_case != PG_QUERY__A__CONST__VAL_SVAL) {
        pgw_buf_add_str(values, here->negative ? "-" : "");
        pgw_buf_add_slice(values, token);
    }
    pgw_buf_add_byte(values, '\0');
    char *value = values->ptr + begun;
    if (constant->val_case == PG_QUERY__A__CONST__VAL_IVAL)
        constant->ival->ival = (int32_t)strtol(value, NULL, 10);
    else if (constant->val_case == PG_QUERY__A__CONST__VAL_FVAL)
        constant->fval->fval = value;
    else
        constant->sval->sval = value;
}

static void put_values(const ye_known_tree *found, pgw_slice text, pgw_buf *values)
{
    rw_lexer lexer = lexer_of(text);
    rw_token before, token = {.kind = RW_TOKEN_END};
    pgw_buf_clear(values);
    pgw_buf_reserve(values, text.len + 2 * found->count + 1); /* it does not move */
    for (size_t i = 0; next_constant(&lexer, &before, &token); i++)
        put(&found->places[i], rw_token_text(text, token), values);
}

/* --- the known ones --- */

static bool read_shape(pgw_slice text, rw_shape *shape)
{
    static const rw_catalog none = {0};
    return rw_shape_of(lexer_of(text), &none, shape);
}

static ye_known_tree **slot_of(ye_known *known, const rw_shape *shape)
{
    uint64_t hash = 0xcbf29ce484222325;
    for (size_t i = 0; i < shape->len; i++)
        hash = (hash ^ (unsigned char)shape->bytes[i]) * 0x100000001b3;
    return &known->trees[(hash ^ hash >> 32) % YE_KNOWN];
}

PgQuery__ParseResult *ye_known_find(ye_known *known, pgw_slice text)
{
    rw_shape shape;
    if (!read_shape(text, &shape))
        return NULL;
    const ye_known_tree *found = *slot_of(known, &shape);
    if (found == NULL || found->shape.len != shape.len ||
        memcmp(found->shape.bytes, shape.bytes, shape.len) != 0)
        return NULL;
    put_values(found, text, &known->values);
    return found->tree;
}

static void free_tree(ye_known_tree *tree)
{
    if (tree != NULL)
        pgw_arena_free(&tree->arena);
    free(tree);
}

static bool is_insert_of_values(const PgQuery__ParseResult *tree)
{
    const PgQuery__Node *statement = tree->n_stmts == 1 ? tree->stmts[0]->stmt : NULL;
    return statement != NULL && statement->node_case == PG_QUERY__NODE__NODE_INSERT_STMT &&
           statement->insert_stmt->select_stmt != NULL &&
           statement->insert_stmt->select_stmt->select_stmt->n_values_lists > 0;
}

void ye_known_keep(ye_known *known, pgw_slice text, PgQuery__ParseResult *tree, pgw_arena *arena)
{
    if (!is_insert_of_values(tree))
        return;
    ye_known_tree *fresh = pgw_calloc(1, sizeof *fresh);
    fresh->tree = tree;
    if (!read_shape(text, &fresh->shape) || !find_places(text, fresh, arena)) {
        free(fresh);
        return;
    }
    ye_known_tree **slot = slot_of(known, &fresh->shape);
    free_tree(*slot);
    *slot = fresh;
    fresh->arena = *arena;
    *arena = (pgw_arena){0};
}

void ye_known_free(ye_known *known)
{
    for (size_t i = 0; i < YE_KNOWN; i++)
        free_tree(known->trees[i]);
    pgw_buf_free(&known->values);
    *known = (ye_known){0};
}
