#include "rewrite/lex/token_walk.h"

#include <string.h>

rw_token_walk rw_walk_tokens(pgw_slice text, bool conforming, pgw_arena *arena)
{
    rw_token_walk walk = {.text = text};
    walk.tokens = rw_tokens_of(text, conforming, arena, &walk.count);
    return walk;
}

rw_token rw_walk_next(const rw_token_walk *walk)
{
    return walk->at < walk->count ? walk->tokens[walk->at] : (rw_token){RW_TOKEN_END, 0, 0};
}

static bool take_one(rw_token_walk *walk, pgw_slice wanted)
{
    rw_token token = rw_walk_next(walk);
    bool is = token.kind != RW_TOKEN_END && token.kind != RW_TOKEN_QUOTED &&
              token.kind != RW_TOKEN_STRING &&
              pgw_slice_ieq(rw_token_text(walk->text, token), wanted);
    walk->at += is;
    return is;
}

bool rw_walk_take(rw_token_walk *walk, const char *words)
{
    size_t before = walk->at;
    for (const char *word = words; *word != '\0';) {
        size_t len = strcspn(word, " ");
        if (!take_one(walk, (pgw_slice){word, len})) {
            walk->at = before;
            return false;
        }
        word += len;
        word += *word == ' ';
    }
    return true;
}

bool rw_walk_take_kind(rw_token_walk *walk, rw_token_kind kind)
{
    bool is = rw_walk_next(walk).kind == kind && !rw_walk_ends(walk);
    walk->at += is;
    return is;
}

bool rw_walk_take_name(rw_token_walk *walk)
{
    return rw_walk_take_kind(walk, RW_TOKEN_WORD) || rw_walk_take_kind(walk, RW_TOKEN_QUOTED);
}

static int depth_of(const rw_token_walk *walk)
{
    rw_token token = rw_walk_next(walk);
    char c = token.kind == RW_TOKEN_CHAR ? walk->text.ptr[token.start] : '\0';
    return (c == '(' || c == '[') - (c == ')' || c == ']');
}

bool rw_walk_take_brackets(rw_token_walk *walk)
{
    size_t before = walk->at;
    int depth = 0;
    if (depth_of(walk) <= 0)
        return false;
    for (; !rw_walk_ends(walk); walk->at++) {
        depth += depth_of(walk);
        if (depth == 0) {
            walk->at++;
            return true;
        }
    }
    walk->at = before;
    return false;
}

bool rw_walk_ends(const rw_token_walk *walk)
{
    return walk->at >= walk->count;
}

pgw_slice rw_walk_taken(const rw_token_walk *walk, size_t from)
{
    size_t start = walk->tokens[from].start;
    return (pgw_slice){walk->text.ptr + start, walk->tokens[walk->at - 1].end - start};
}
