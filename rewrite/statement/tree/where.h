/*
 * where: which tokens of a statement a condition stands between, so that more can be put beside it.
 */
#ifndef RW_WHERE_H
#define RW_WHERE_H

#include "rewrite/lex/lexer.h"

#include <pg_query/pg_query.pb-c.h>

/* A statement and all of its tokens. */
typedef struct rw_tokens {
    pgw_slice text;
    const rw_token *list;
    size_t count;
} rw_tokens;

enum { RW_NO_TOKEN = -1 };

/* The token that begins at this byte; RW_NO_TOKEN. */
int rw_where_token(const rw_tokens *in, int32_t location);
/* The word WHERE, or ON, in front of a condition, with nothing but parentheses between;
 * RW_NO_TOKEN. */
int rw_where_begin(const rw_tokens *in, const PgQuery__Node *condition, const char *word);
/* The last token of the WHERE whose word this is. */
int rw_where_end(const rw_tokens *in, int word);

#endif
