#include "rewrite/statement/tree/parse_tree.h"

#include "rewrite/statement/tree/readable.h"

#include <pg_query.h>

bool rw_grammar_is_older(const pgw_env *env)
{
    return env->server > PG_VERSION_NUM / 10000;
}

PgQuery__ParseResult *rw_parse_tree(pgw_slice text, const pgw_env *env, pgw_arena *arena)
{
    bool ours;
    PgQueryProtobufParseResult tree =
        pg_query_parse_protobuf(rw_readable_copy(text, env, arena, &ours));
    PgQuery__ParseResult *parsed =
        tree.error != NULL ? NULL
                           : pg_query__parse_result__unpack(NULL, tree.parse_tree.len,
                                                            (const uint8_t *)tree.parse_tree.data);
    pg_query_free_protobuf_parse_result(tree);
    return parsed;
}
