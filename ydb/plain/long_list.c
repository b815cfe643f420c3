#include "ydb/plain/long_list.h"

#include "rewrite/lex/lexer.h"

#include <string.h>

typedef struct cutter {
    pgw_slice text;
    const rw_token *tokens;
    size_t count;
    const uint32_t *uses; /* how often each parameter stands in the text */
    rw_declared declared;
    char *copy;
    rw_shortened *out;
} cutter;

static bool is_char(const cutter *cut, size_t at, char c)
{
    return at < cut->count && cut->tokens[at].kind == RW_TOKEN_CHAR &&
           cut->text.ptr[cut->tokens[at].start] == c;
}

/* The number of a parameter that is a whole element of a list, not `$1::int` or `$1 + 1`. 0: the
 * element is something else. */
static uint32_t lone_parameter(const cutter *cut, size_t at)
{
    if (at >= cut->count || (!is_char(cut, at + 1, ',') && !is_char(cut, at + 1, ')')))
        return 0;
    return rw_parameter_number(cut->text, cut->tokens[at]);
}

static uint32_t declared_type(const cutter *cut, uint32_t parameter)
{
    const rw_declared *it = &cut->declared;
    return parameter <= it->count ? it->types[parameter - 1] : PGW_UNSPECIFIED;
}

static void leave_out(cutter *cut, size_t comma, uint32_t parameter, uint32_t leader)
{
    size_t start = cut->tokens[comma].start, end = cut->tokens[comma + 1].end;
    memset(cut->copy + start, ' ', end - start);
    cut->out->cut += end - start;
    cut->out->leaders[parameter - 1] = leader;
}

/* Shortens the list that begins at this parameter; returns where it stops. */
static size_t shorten(cutter *cut, size_t at)
{
    uint32_t leader = lone_parameter(cut, at), next;
    if (leader == 0 || cut->uses[leader - 1] != 1)
        return at;
    for (at++; is_char(cut, at, ',') && (next = lone_parameter(cut, at + 1)) != 0; at += 2) {
        if (declared_type(cut, next) != declared_type(cut, leader))
            break;
        leave_out(cut, at, next, leader);
    }
    return at;
}

static const uint32_t *uses_of(const cutter *cut, size_t count, pgw_arena *arena)
{
    uint32_t *uses = pgw_arena_alloc(arena, count * sizeof *uses + 1);
    for (size_t i = 0; i < cut->count; i++) {
        uint32_t parameter = rw_parameter_number(cut->text, cut->tokens[i]);
        if (parameter > 0)
            uses[parameter - 1]++;
    }
    return uses;
}

rw_shortened rw_shorten_lists(pgw_slice text, rw_declared declared, size_t count,
                              const pgw_reading *reading)
{
    rw_shortened out = {.text = pgw_arena_copy(reading->arena, text)};
    out.leaders = pgw_arena_alloc(reading->arena, count * sizeof *out.leaders + 1);
    cutter cut = {.text = text, .declared = declared, .copy = (char *)out.text.ptr, .out = &out};
    cut.tokens = rw_tokens_of(text, reading->env->conforming, reading->arena, &cut.count);
    cut.uses = uses_of(&cut, count, reading->arena);
    for (size_t i = 0; i + 2 < cut.count; i++)
        if (rw_token_is(text, cut.tokens[i], "in") && is_char(&cut, i + 1, '('))
            i = shorten(&cut, i + 2) - 1;
    return out;
}
