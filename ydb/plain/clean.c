#include "ydb/plain/clean.h"

#include "protocol/utf8.h"
#include "rewrite/lex/splitter.h"
#include "rewrite/statement/script/syntax.h"
#include "rewrite/statement/script/tree.h"
#include "rewrite/statement/tree/walk.h"

#include <string.h>

/* --- by the tree --- */

static bool is_type(const ProtobufCMessage *node, const ProtobufCMessageDescriptor *type)
{
    return node->descriptor == type;
}

static bool makes_table(const ProtobufCMessage *node)
{
    return (is_type(node, &pg_query__select_stmt__descriptor) &&
            ((const PgQuery__SelectStmt *)node)->into_clause != NULL) ||
           is_type(node, &pg_query__create_table_as_stmt__descriptor);
}

static bool writes(const ProtobufCMessage *node)
{
    return is_type(node, &pg_query__insert_stmt__descriptor) ||
           is_type(node, &pg_query__update_stmt__descriptor) ||
           is_type(node, &pg_query__delete_stmt__descriptor) ||
           is_type(node, &pg_query__merge_stmt__descriptor) ||
           (is_type(node, &pg_query__copy_stmt__descriptor) &&
            ((const PgQuery__CopyStmt *)node)->is_from);
}

/* EXPLAIN without ANALYZE runs nothing. */
static bool only_explains(const ProtobufCMessage *node)
{
    if (!is_type(node, &pg_query__explain_stmt__descriptor))
        return false;
    const PgQuery__ExplainStmt *it = (const PgQuery__ExplainStmt *)node;
    for (size_t i = 0; i < it->n_options; i++)
        if (strcmp(it->options[i]->def_elem->defname, "analyze") == 0)
            return false;
    return true;
}

static bool visit(void *context, const ProtobufCMessage *node)
{
    rw_clean_kind *kind = context;
    if (only_explains(node))
        return true;
    if (makes_table(node))
        *kind = RW_CLEAN_DDL;
    else if (writes(node))
        *kind = RW_CLEAN_WRITE;
    return *kind == RW_CLEAN_READ && rw_walk(node, visit, context);
}

/* The text that is sent in the place of the statement; NULL: the client's own. */
static const char *usual_text(rw_clean_kind kind)
{
    switch ((int)kind) {
    case RW_CLEAN_BEGIN:
        return "BEGIN";
    case RW_CLEAN_COMMIT:
        return "COMMIT";
    case RW_CLEAN_ROLLBACK:
        return "ROLLBACK";
    default:
        return NULL;
    }
}

static rw_clean_kind transaction_kind(PgQuery__TransactionStmtKind kind)
{
    switch ((int)kind) {
    case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_BEGIN:
    case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_START:
        return RW_CLEAN_BEGIN;
    case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_COMMIT:
        return RW_CLEAN_COMMIT;
    case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_ROLLBACK:
        return RW_CLEAN_ROLLBACK;
    case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_SAVEPOINT:
        return RW_CLEAN_SAVEPOINT;
    case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_RELEASE:
        return RW_CLEAN_RELEASE;
    case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_ROLLBACK_TO:
        return RW_CLEAN_ROLLBACK_TO;
    default:
        return RW_CLEAN_TWO_PHASE;
    }
}

static void read_transaction(const PgQuery__TransactionStmt *stmt, pgw_arena *arena, rw_clean *out)
{
    out->kind = transaction_kind(stmt->kind);
    out->chain = stmt->chain;
    out->name = pgw_arena_copy(arena, pgw_slice_str(stmt->savepoint_name));
    const char *usual = usual_text(out->kind);
    if (usual != NULL && stmt->n_options == 0)
        out->text = pgw_slice_str(usual);
}

/* --- by its first word --- */

typedef enum way {
    BY_WORD,  /* the first word tells the kind */
    BY_MARKS, /* a read; where the splitter's marks leave a doubt, the tree tells the kind */
    BY_TREE,  /* the tree tells the kind, or that PostgreSQL refuses the statement */
} way;

static const struct {
    const char *word;
    rw_clean_kind kind;
    way way;
} words[] = {
    {"select", RW_CLEAN_READ, BY_MARKS},       {"with", RW_CLEAN_READ, BY_MARKS},
    {"values", RW_CLEAN_READ, BY_MARKS},       {"table", RW_CLEAN_READ, BY_MARKS},
    {"explain", RW_CLEAN_READ, BY_MARKS},      {"copy", RW_CLEAN_WRITE, BY_TREE},
    {"insert", RW_CLEAN_WRITE, BY_WORD},       {"upsert", RW_CLEAN_WRITE, BY_WORD},
    {"replace", RW_CLEAN_WRITE, BY_WORD},      {"update", RW_CLEAN_WRITE, BY_WORD},
    {"delete", RW_CLEAN_WRITE, BY_WORD},       {"merge", RW_CLEAN_WRITE, BY_WORD},
    {"do", RW_CLEAN_WRITE, BY_WORD},           {"call", RW_CLEAN_WRITE, BY_WORD},
    {"alter", RW_CLEAN_DDL, BY_WORD},          {"analyze", RW_CLEAN_DDL, BY_WORD},
    {"analyse", RW_CLEAN_DDL, BY_WORD},        {"cluster", RW_CLEAN_DDL, BY_WORD},
    {"comment", RW_CLEAN_DDL, BY_WORD},        {"create", RW_CLEAN_DDL, BY_WORD},
    {"drop", RW_CLEAN_DDL, BY_WORD},           {"grant", RW_CLEAN_DDL, BY_WORD},
    {"import", RW_CLEAN_DDL, BY_WORD},         {"reassign", RW_CLEAN_DDL, BY_WORD},
    {"refresh", RW_CLEAN_DDL, BY_WORD},        {"reindex", RW_CLEAN_DDL, BY_WORD},
    {"revoke", RW_CLEAN_DDL, BY_WORD},         {"security", RW_CLEAN_DDL, BY_WORD},
    {"truncate", RW_CLEAN_DDL, BY_WORD},       {"vacuum", RW_CLEAN_DDL, BY_WORD},
    {"checkpoint", RW_CLEAN_SESSION, BY_WORD}, {"close", RW_CLEAN_SESSION, BY_WORD},
    {"deallocate", RW_CLEAN_SESSION, BY_WORD}, {"declare", RW_CLEAN_SESSION, BY_WORD},
    {"discard", RW_CLEAN_SESSION, BY_WORD},    {"execute", RW_CLEAN_SESSION, BY_WORD},
    {"fetch", RW_CLEAN_SESSION, BY_WORD},      {"listen", RW_CLEAN_SESSION, BY_WORD},
    {"load", RW_CLEAN_SESSION, BY_WORD},       {"lock", RW_CLEAN_SESSION, BY_WORD},
    {"move", RW_CLEAN_SESSION, BY_WORD},       {"notify", RW_CLEAN_SESSION, BY_WORD},
    {"prepare", RW_CLEAN_SESSION, BY_TREE}, /* PREPARE TRANSACTION begins with this word, too */
    {"reset", RW_CLEAN_SESSION, BY_WORD},      {"set", RW_CLEAN_SESSION, BY_WORD},
    {"show", RW_CLEAN_SESSION, BY_WORD},       {"unlisten", RW_CLEAN_SESSION, BY_WORD},
};

/* Finds how to tell a statement's kind. Words that are not listed begin statements about
 * transactions, or none of PostgreSQL's. */
static way way_of(pgw_slice text, rw_token first, rw_clean_kind *kind)
{
    *kind = RW_CLEAN_READ;
    if (first.kind == RW_TOKEN_CHAR && text.ptr[first.start] == '(')
        return BY_MARKS;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (rw_token_is(text, first, words[i].word)) {
            *kind = words[i].kind;
            return words[i].way;
        }
    return BY_TREE;
}

/* Marks the statement as wrong; the position in PostgreSQL's error becomes one in the client's
 * text. */
static void refuse(pgw_slice all, size_t start, bool utf8, rw_clean *out, pgw_arena *arena,
                   const pgw_error *error)
{
    out->kind = RW_CLEAN_WRONG;
    out->error = pgw_arena_alloc(arena, sizeof *out->error);
    *out->error = *error;
    if (error->position > 0)
        out->error->position += pgw_characters(all, start, utf8);
}

/* Takes the kind from the parse tree, where the first word does not tell it. */
static void ask_tree(pgw_slice all, const pgw_env *env, pgw_arena *arena, rw_clean *out)
{
    pgw_error error;
    rw_syntax syntax;
    if (!rw_syntax_parse(out->text, env, arena, &syntax, &error)) {
        refuse(all, out->start, env->utf8, out, arena, &error);
        return;
    }
    const PgQuery__Node *top = syntax.statement;
    if (top->node_case == PG_QUERY__NODE__NODE_TRANSACTION_STMT) {
        read_transaction(top->transaction_stmt, arena, out);
    } else if (out->kind != RW_CLEAN_SESSION) {
        out->kind = RW_CLEAN_READ;
        visit(&out->kind, (const ProtobufCMessage *)top);
    }
    rw_syntax_free(&syntax);
}

static rw_token first_token(pgw_slice text, bool conforming)
{
    rw_lexer lexer;
    rw_lexer_init(&lexer, text, conforming);
    return rw_lexer_next(&lexer);
}

bool rw_clean_next(rw_lexer *lexer, const pgw_env *env, pgw_arena *arena, rw_clean *out)
{
    enum { DOUBTFUL = RW_MARK_WRITE | RW_MARK_INTO | RW_MARK_OPAQUE };
    rw_piece piece;
    pgw_slice all = lexer->text;
    if (!rw_split_next(lexer, &piece))
        return false;
    *out = (rw_clean){.text = {all.ptr + piece.start, piece.end - piece.start},
                      .start = piece.start,
                      .marks = piece.marks};
    way asked = way_of(out->text, first_token(out->text, lexer->conforming), &out->kind);
    bool doubtful = asked == BY_TREE || (asked == BY_MARKS && (piece.marks & DOUBTFUL) != 0);
    if (doubtful && rw_tree_can_read(out->text, &piece))
        ask_tree(all, env, arena, out);
    else if (doubtful)
        out->kind = RW_CLEAN_WRITE; /* a statement that is too large for a tree counts as a write */
    return true;
}
