#include "rewrite/statement/tree/readable.h"

#include "rewrite/lex/lexer.h"

#include <string.h>

/* What libpg_query, which takes backslashes literally, would take for the end of the string. */
static void hide_escapes(char *copy, rw_token token)
{
    for (size_t at = token.start + 1; at + 1 < token.end; at++)
        if (copy[at] == '\\')
            copy[at] = copy[at + 1] = '_';
}

/* Whether backslashes escape in it only for the sake of the session. */
static bool is_plain_string(const char *copy, rw_token token)
{
    return token.kind == RW_TOKEN_STRING &&
           (copy[token.start] == '\'' || (copy[token.start] | 32) == 'n');
}

char *rw_readable_copy(pgw_slice text, const pgw_env *env, pgw_arena *arena, bool *ours)
{
    *ours = false;
    char *copy = (char *)pgw_arena_copy(arena, text).ptr;
    rw_lexer lexer;
    rw_lexer_init(&lexer, text, env->conforming);
    rw_token previous = {.kind = RW_TOKEN_END};
    for (rw_token token = rw_lexer_next(&lexer);
         token.kind != RW_TOKEN_END && token.kind != RW_TOKEN_BAD; token = rw_lexer_next(&lexer)) {
        if (rw_token_is(text, token, "into") &&
            (rw_token_is(text, previous, "upsert") || rw_token_is(text, previous, "replace"))) {
            memset(copy + previous.start, ' ', previous.end - previous.start);
            memcpy(copy + previous.start, "INSERT", 6);
            *ours = true;
        }
        if (!env->conforming && is_plain_string(copy, token))
            hide_escapes(copy, token);
        previous = token;
    }
    return copy;
}
