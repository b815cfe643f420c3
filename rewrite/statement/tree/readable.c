#include "rewrite/statement/tree/readable.h"

#include "protocol/value_integer.h"
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

/* A number that libpg_query's grammar has not yet, as one of the same value where its length has
 * room. */
static void write_older(char *copy, rw_token token, pgw_arena *arena)
{
    size_t len = token.end - token.start;
    pgw_slice older;
    pgw_verdict verdict = pgw_number_older((pgw_slice){copy + token.start, len}, arena, &older);
    bool fits = verdict == PGW_KNOWN && older.len <= len;
    memset(copy + token.start, fits ? '0' : '9', len);
    if (fits)
        memcpy(copy + token.end - older.len, older.ptr, older.len);
}

static bool is_one_of(pgw_slice text, rw_token token, const char *const *words)
{
    bool is = false;
    for (size_t i = 0; words[i] != NULL; i++)
        is = is || rw_token_is(text, token, words[i]);
    return is;
}

/* Words of CREATE TABLE and ALTER TABLE that came after the grammar and say nothing of a key:
 * STORAGE with its kind, VIRTUAL, [NOT] ENFORCED. `last` are the two tokens before. */
static void hide_newer_words(char *copy, pgw_slice text, const rw_token *last, rw_token token)
{
    static const char *const kinds[] = {"plain", "external", "extended", "main", "default", NULL};
    bool closed = last[0].end > 0 && text.ptr[last[0].start] == ')';
    size_t from = token.end;
    if (rw_token_is(text, last[0], "storage") && !rw_token_is(text, last[1], "set") &&
        is_one_of(text, token, kinds))
        from = last[0].start;
    else if (rw_token_is(text, token, "enforced") && rw_token_is(text, last[0], "not"))
        from = last[0].start;
    else if (rw_token_is(text, token, "enforced") && closed)
        from = token.start;
    memset(copy + from, ' ', token.end - from);
    if (closed && rw_token_is(text, token, "virtual"))
        memcpy(copy + token.start, "stored ", 7);
}

static bool is_newer_number(pgw_slice text, rw_token token, const pgw_env *env)
{
    return env->server >= PGW_NUMBERS_SINCE &&
           (token.kind == RW_TOKEN_INTEGER || token.kind == RW_TOKEN_DECIMAL) &&
           rw_number_is_newer(rw_token_text(text, token));
}

char *rw_readable_copy(pgw_slice text, const pgw_env *env, pgw_arena *arena, bool *ours)
{
    static const char *const definitions[] = {"create", "alter", NULL};
    *ours = false;
    char *copy = (char *)pgw_arena_copy(arena, text).ptr;
    rw_lexer lexer;
    rw_lexer_init(&lexer, text, env->conforming);
    rw_token token = rw_lexer_next(&lexer);
    rw_token last[2] = {{.kind = RW_TOKEN_END}, {.kind = RW_TOKEN_END}};
    bool defines = env->server >= PGW_NUMBERS_SINCE && is_one_of(text, token, definitions);
    for (; token.kind != RW_TOKEN_END && token.kind != RW_TOKEN_BAD;
         token = rw_lexer_next(&lexer)) {
        if (rw_token_is(text, token, "into") &&
            (rw_token_is(text, last[0], "upsert") || rw_token_is(text, last[0], "replace"))) {
            memset(copy + last[0].start, ' ', last[0].end - last[0].start);
            memcpy(copy + last[0].start, "INSERT", 6);
            *ours = true;
        }
        if (is_newer_number(text, token, env))
            write_older(copy, token, arena);
        if (defines)
            hide_newer_words(copy, text, last, token);
        if (!env->conforming && is_plain_string(copy, token))
            hide_escapes(copy, token);
        last[1] = last[0];
        last[0] = token;
    }
    return copy;
}
