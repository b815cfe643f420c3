#include "tests/ydb_endpoint/compile.h"

#include "rewrite/lex/lexer.h"
#include "tests/ydb_endpoint/variables.h"

#include <pg_query.h>

#include <string.h>
#include <strings.h>

static bool begins(pgw_slice text, const char *word)
{
    size_t length = strlen(word);
    return text.len >= length && strncasecmp(text.ptr, word, length) == 0;
}

bool ye_is_scheme(pgw_slice text)
{
    return begins(text, "CREATE") || begins(text, "ALTER") || begins(text, "DROP");
}

ye_word ye_word_of(pgw_slice text)
{
    if (begins(text, "BEGIN"))
        return YE_BEGIN;
    if (begins(text, "COMMIT") || begins(text, "END"))
        return YE_COMMIT;
    return begins(text, "ROLLBACK") ? YE_ROLLBACK : YE_NO_WORD;
}

/* What is accepted and does nothing (1.5): START TRANSACTION and SAVEPOINT always, the others where
 * their word was not recognised. */
static const char *transaction_tag(const PgQuery__TransactionStmt *transaction)
{
    switch (transaction->kind) {
    case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_BEGIN:
        return "BEGIN";
    case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_START:
        return "START TRANSACTION";
    case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_SAVEPOINT:
        return "SAVEPOINT";
    case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_RELEASE:
        return "RELEASE";
    case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_COMMIT:
        return "COMMIT";
    default:
        return "ROLLBACK";
    }
}

static bool judge(ye_compiled *compiled, const ye_options *options, ye_settings *settings,
                  ye_failure *failure)
{
    const PgQuery__Node *statement = compiled->statement;
    if (!ye_allow(statement, options, failure))
        return false;
    switch (statement->node_case) {
    case PG_QUERY__NODE__NODE_TRANSACTION_STMT:
        compiled->tag = transaction_tag(statement->transaction_stmt);
        return true;
    case PG_QUERY__NODE__NODE_VARIABLE_SET_STMT:
        compiled->tag = "SET";
        return ye_variable_set(statement->variable_set_stmt, settings, failure);
    case PG_QUERY__NODE__NODE_VARIABLE_SHOW_STMT:
        compiled->tag = "SHOW";
        compiled->shown = statement->variable_show_stmt->name;
        return ye_variable_show(compiled->shown, options, settings, compiled, failure);
    default:
        return true;
    }
}

/* A tree is hundreds of small pieces, which end together. */
static void *take(void *arena, size_t size)
{
    return pgw_arena_alloc(arena, size);
}

static void leave(void *arena, void *piece)
{
    (void)arena;
    (void)piece;
}

static PgQuery__ParseResult *unpack(const PgQueryProtobuf *tree, pgw_arena *arena)
{
    ProtobufCAllocator allocator = {take, leave, arena};
    return pg_query__parse_result__unpack(&allocator, tree->len, (const uint8_t *)tree->data);
}

static bool take_tree(const PgQueryProtobufParseResult *result, ye_compiled *compiled,
                      ye_failure *failure)
{
    if (result->error != NULL)
        return ye_fail(failure, YE_GENERIC_ERROR, 0, "%s", result->error->message);
    compiled->parsed = unpack(&result->parse_tree, &compiled->arena);
    if (compiled->parsed == NULL)
        return ye_fail(failure, YE_INTERNAL_ERROR, 0, "the tree cannot be read");
    if (compiled->parsed->n_stmts > 1)
        return ye_fail(failure, YE_GENERIC_ERROR, 0, "Queries with several statements");
    if (compiled->parsed->n_stmts == 1)
        compiled->statement = compiled->parsed->stmts[0]->stmt;
    return true;
}

/* "a leading `--!syntax_v1` line either is an error … or ignored" (2 Dialect). */
static bool check_hint(pgw_slice text, const ye_options *options, ye_failure *failure)
{
    if (!options->refuse_hint || !begins(text, "--!syntax_") || begins(text, "--!syntax_pg"))
        return true;
    return ye_fail(failure, YE_BAD_REQUEST, 0, "Explicit syntax version is not allowed");
}

/* "query text 10 KB …; in practice the server setting is larger, uncertain for pgwire" (1.2). */
static bool check_length(pgw_slice text, const ye_options *options, ye_failure *failure)
{
    if (options->max_text == 0 || text.len <= (size_t)options->max_text)
        return true;
    return ye_fail(failure, YE_BAD_REQUEST, 0, "Query text size exceeds limit (%zub > %ldb)",
                   text.len, options->max_text);
}

/* --- depth --- */

/* More than a real tree has, and less than the stack of a connection (connection.c) has room for.
 */
enum { DEEPEST = 30000 };

typedef struct bracket {
    size_t words;   /* since its last comma */
    size_t deepest; /* between two commas before that */
} bracket;

typedef struct depth {
    bracket *open; /* the last one is open[brackets]; the first is the text */
    size_t brackets, sum;
} depth;

static void end_item(depth *d)
{
    bracket *it = &d->open[d->brackets];
    if (it->words > it->deepest)
        it->deepest = it->words;
    d->sum -= it->words;
    it->words = 0;
}

static void add_words(depth *d, size_t words)
{
    d->open[d->brackets].words += words;
    d->sum += words;
}

/* What was in a bracket may be below all that comes behind it. */
static void close_bracket(depth *d)
{
    end_item(d);
    if (d->brackets > 0)
        add_words(d, d->open[d->brackets--].deepest);
}

static void open_bracket(depth *d)
{
    d->open[++d->brackets] = (bracket){0, 0};
    add_words(d, 1);
}

static void count_token(depth *d, pgw_slice text, rw_token token)
{
    const char c = token.kind == RW_TOKEN_CHAR ? text.ptr[token.start] : ' ';
    if (c == '(' || c == '[')
        open_bracket(d);
    else if (c == ')' || c == ']')
        close_bracket(d);
    else if (c == ',')
        end_item(d);
    else
        add_words(d, 1);
}

/* A tree is no deeper than there are words beside each other, and brackets that are open. To make
 * it takes stack, so that it is not made first, and refused then (allow.c). */
static bool check_depth(pgw_slice text, ye_failure *failure)
{
    pgw_arena arena = {0};
    size_t count;
    const rw_token *tokens = rw_tokens_of(text, true, &arena, &count);
    depth d = {pgw_arena_alloc(&arena, (count + 1) * sizeof *d.open), 0, 0};
    bool fine = true;
    for (size_t i = 0; fine && i < count; i++) {
        count_token(&d, text, tokens[i]);
        fine = d.sum <= DEEPEST;
    }
    pgw_arena_free(&arena);
    return fine || ye_fail(failure, YE_GENERIC_ERROR, 0, "Too deep recursion");
}

static bool is_known(ye_known *known, pgw_slice text, ye_compiled *compiled)
{
    PgQuery__ParseResult *tree = known != NULL ? ye_known_find(known, text) : NULL;
    if (tree != NULL)
        *compiled = (ye_compiled){.parsed = tree, .statement = tree->stmts[0]->stmt};
    return tree != NULL;
}

bool ye_compile(pgw_slice text, const ye_options *options, ye_settings *settings, ye_known *known,
                ye_compiled *compiled, ye_failure *failure)
{
    *compiled = (ye_compiled){.tag = "OK"};
    if (!check_length(text, options, failure) || !check_hint(text, options, failure))
        return false;
    if (is_known(known, text, compiled))
        return true;
    if (!check_depth(text, failure))
        return false;
    PgQueryProtobufParseResult result = pg_query_parse_protobuf(text.ptr);
    bool taken = take_tree(&result, compiled, failure);
    pg_query_free_protobuf_parse_result(result);
    if (!taken || compiled->statement == NULL)
        return taken;
    compiled->tag = NULL;
    if (!judge(compiled, options, settings, failure))
        return false;
    if (known != NULL)
        ye_known_keep(known, text, compiled->parsed, &compiled->arena);
    return true;
}

void ye_compiled_free(ye_compiled *compiled)
{
    pgw_arena_free(&compiled->arena);
    compiled->parsed = NULL;
}
