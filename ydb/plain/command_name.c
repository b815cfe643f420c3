#include "ydb/plain/command_name.h"

#include "rewrite/lex/lexer.h"

#include <ctype.h>

static bool is_any(pgw_slice text, rw_token token, const char *const *words)
{
    for (; *words != NULL; words++)
        if (rw_token_is(text, token, *words))
            return true;
    return false;
}

/* The first of these words that stands in no parentheses; RW_TOKEN_END: there is none. */
static rw_token find(rw_lexer *lexer, const char *const *words)
{
    size_t depth = 0;
    for (;;) {
        rw_token token = rw_lexer_next(lexer);
        char c = token.kind == RW_TOKEN_CHAR ? lexer->text.ptr[token.start] : '\0';
        depth += c == '(';
        depth -= c == ')' && depth > 0;
        if (token.kind == RW_TOKEN_END || token.kind == RW_TOKEN_BAD ||
            (depth == 0 && is_any(lexer->text, token, words)))
            return token;
    }
}

/* Appends the word in upper case to the name. */
static void add(pgw_slice text, rw_token token, char name[RW_COMMAND_NAME_MOST], size_t *len)
{
    if (*len > 0 && *len + 1 < RW_COMMAND_NAME_MOST)
        name[(*len)++] = ' ';
    for (size_t i = token.start; i < token.end && *len + 1 < RW_COMMAND_NAME_MOST; i++)
        name[(*len)++] = (char)toupper((unsigned char)text.ptr[i]);
    name[*len] = '\0';
}

void rw_command_name(pgw_slice text, bool conforming, char name[RW_COMMAND_NAME_MOST])
{
    static const char *const verbs[] = {"insert", "update", "delete", "merge", "select", NULL};
    static const char *const of_things[] = {"create", "drop", "alter", NULL};
    rw_lexer lexer;
    size_t len = 0;
    name[0] = '\0';
    rw_lexer_init(&lexer, text, conforming);
    rw_token first = rw_lexer_next(&lexer);
    if (rw_token_is(text, first, "with"))
        first = find(&lexer, verbs);
    if (first.kind != RW_TOKEN_WORD)
        return;
    add(text, first, name, &len);
    rw_token second = rw_lexer_next(&lexer);
    if (is_any(text, first, of_things) && second.kind == RW_TOKEN_WORD)
        add(text, second, name, &len);
}
