#include "rewrite/statement/script/syntax.h"

#include "rewrite/statement/script/tree.h"
#include "rewrite/statement/tree/readable.h"

#include <pg_query.h>
#include <string.h>

/* libpg_query gives the message of an error, but not its SQLSTATE. */
static bool refuse(const PgQueryError *refusal, pgw_error *error)
{
    static const char bytes[] = "invalid byte sequence";
    bool encoding = strncmp(refusal->message, bytes, sizeof bytes - 1) == 0;
    pgw_fail(error, encoding ? "22021" : "42601", "%s", refusal->message);
    if (refusal->cursorpos > 0)
        error->position = (size_t)refusal->cursorpos;
    return false;
}

bool rw_syntax_parse(pgw_slice text, const pgw_env *env, pgw_arena *arena, rw_syntax *out,
                     pgw_error *error)
{
    bool ours, fine;
    *out = (rw_syntax){NULL, NULL};
    PgQueryProtobufParseResult parsed =
        pg_query_parse_protobuf(rw_readable_copy(text, env, arena, &ours));
    fine = parsed.error == NULL || refuse(parsed.error, error);
    if (fine)
        out->result = pg_query__parse_result__unpack(NULL, parsed.parse_tree.len,
                                                     (const uint8_t *)parsed.parse_tree.data);
    pg_query_free_protobuf_parse_result(parsed);
    if (out->result != NULL && out->result->n_stmts == 1)
        out->statement = out->result->stmts[0]->stmt;
    if (fine && out->statement == NULL)
        fine = pgw_fail(error, "42601", "cannot tell where the statement ends");
    if (!fine)
        rw_syntax_free(out);
    return fine;
}

bool rw_syntax_check(pgw_slice text, const pgw_env *env, pgw_error *error)
{
    pgw_arena arena = {0};
    rw_syntax syntax = {NULL, NULL};
    bool fine = !rw_tree_rejects(text, env) || rw_syntax_parse(text, env, &arena, &syntax, error);
    rw_syntax_free(&syntax);
    pgw_arena_free(&arena);
    return fine;
}

void rw_syntax_free(rw_syntax *syntax)
{
    if (syntax->result != NULL)
        pg_query__parse_result__free_unpacked(syntax->result, NULL);
    *syntax = (rw_syntax){NULL, NULL};
}
