#include "rewrite/statement/catalog/system_with.h"

#include "rewrite/lex/lexer_text.h"
#include "rewrite/statement/catalog/system_marks.h"

/* The query that the statement is, or that it explains; NULL: none. */
static const PgQuery__SelectStmt *query_of(const PgQuery__Node *statement)
{
    if (statement->node_case == PG_QUERY__NODE__NODE_EXPLAIN_STMT)
        statement = statement->explain_stmt->query;
    return statement->node_case == PG_QUERY__NODE__NODE_SELECT_STMT ? statement->select_stmt : NULL;
}

bool rw_system_shares(const PgQuery__Node *statement)
{
    return query_of(statement) != NULL;
}

static bool is_word(const rw_edit_writer *texts, size_t at, const char *lower)
{
    return at < texts->count && rw_token_is(texts->text, texts->tokens[at], lower);
}

static bool begins_query(const rw_edit_writer *texts, size_t at)
{
    return is_word(texts, at, "select") || is_word(texts, at, "with") ||
           is_word(texts, at, "values") || is_word(texts, at, "table");
}

static bool is_sign(const rw_edit_writer *texts, size_t at, char sign)
{
    return at < texts->count && texts->text.ptr[texts->tokens[at].start] == sign;
}

/* The index of the first token behind EXPLAIN and its options. Options in parentheses begin with no
 * word of a query. */
static size_t first_of_query(const rw_edit_writer *texts)
{
    size_t at = 1, inner = 1;
    while (is_sign(texts, inner, '('))
        inner++;
    if (inner > at && !begins_query(texts, inner))
        while (at < texts->count && !is_sign(texts, at++, ')'))
            ;
    while (is_word(texts, at, "analyze") || is_word(texts, at, "analyse") ||
           is_word(texts, at, "verbose"))
        at++;
    return at;
}

/* The index of the token behind WITH [RECURSIVE]. */
static size_t first_of_with(rw_edit_writer *texts, const PgQuery__WithClause *with)
{
    size_t at = rw_token_at(texts->tokens, texts->count, with->location) + 1;
    return at + (size_t)with->recursive;
}

void rw_system_share(const PgQuery__Node *statement, const rw_catalog *catalog, unsigned shared,
                     rw_edit_writer *texts)
{
    const PgQuery__WithClause *with = shared != 0 ? query_of(statement)->with_clause : NULL;
    bool explains = statement->node_case == PG_QUERY__NODE__NODE_EXPLAIN_STMT;
    size_t at = with != NULL ? first_of_with(texts, with) : explains ? first_of_query(texts) : 0;
    pgw_buf text = {0};
    pgw_buf_add_str(&text, with == NULL ? " with " : " ");
    if (!rw_system_add_shared(&text, catalog, shared) || at >= texts->count) {
        texts->failed |= shared != 0;
        pgw_buf_free(&text);
        return;
    }
    pgw_buf_add_str(&text, with == NULL ? " " : ", ");
    const char *place = texts->text.ptr + texts->tokens[at].start;
    rw_edit_put_before(texts, (pgw_slice){place, 1}, &text);
}
