/*
 * token_walk: a way through the tokens of a short text that must have one form and no other.
 */
#ifndef RW_TOKEN_WALK_H
#define RW_TOKEN_WALK_H

#include "rewrite/lex/lexer.h"

typedef struct rw_token_walk {
    pgw_slice text;
    const rw_token *tokens;
    size_t count, at; /* `at`: index of the next token */
} rw_token_walk;

/* Begins a walk. Its tokens are in `arena`; the text ends for it before what is no token. */
rw_token_walk rw_walk_tokens(pgw_slice text, bool conforming, pgw_arena *arena);
/* The next token; END at the end. */
rw_token rw_walk_next(const rw_token_walk *walk);
/* Take what is next if that matches. `words`: keywords in lower case, a blank between them, and
 * characters. */
bool rw_walk_take(rw_token_walk *walk, const char *words);
bool rw_walk_take_kind(rw_token_walk *walk, rw_token_kind kind);
/* Takes an identifier, in quotes or not. */
bool rw_walk_take_name(rw_token_walk *walk);
/* Takes a bracket that is next, and all up to its partner. */
bool rw_walk_take_brackets(rw_token_walk *walk);
bool rw_walk_ends(const rw_token_walk *walk);
/* The bytes from token number `from` up to the last one taken. */
pgw_slice rw_walk_taken(const rw_token_walk *walk, size_t from);

#endif
