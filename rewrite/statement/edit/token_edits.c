#include "rewrite/statement/edit/token_edits.h"

#include <string.h>

rw_token_edits *rw_token_edits_copy(const rw_token_edits *map)
{
    return memcpy(pgw_alloc(map->size), map, map->size);
}

bool rw_token_edits_wrap(const rw_token_edits *map, uint32_t name, uint32_t *last)
{
    for (uint32_t i = 0; map != NULL && i < map->count; i++)
        if (map->list[i].wraps == name + 1) {
            *last = map->list[i].to - 1;
            return true;
        }
    return false;
}

/* Token `number` of the statement, and the token before it. */
typedef struct reader {
    rw_lexer lexer;
    rw_token token, before;
    uint32_t number;
} reader;

static void go_to(reader *at, uint32_t number)
{
    for (; at->number < number; at->number++) {
        at->before = at->token;
        at->token = rw_lexer_next(&at->lexer);
    }
}

static bool is_blank(pgw_slice text, size_t at)
{
    return at < text.len && strchr(" \t\n\r(,", text.ptr[at]) != NULL;
}

/* Leaves out the blanks at the ends of a text where the statement has some. */
static pgw_slice fit(pgw_slice put, pgw_slice text, size_t start, size_t end)
{
    if (put.len > 0 && put.ptr[0] == ' ' && (start == 0 || is_blank(text, start - 1))) {
        put.ptr++;
        put.len--;
    }
    bool ends = end == text.len || is_blank(text, end) || strchr(");", text.ptr[end]) != NULL;
    put.len -= put.len > 0 && put.ptr[put.len - 1] == ' ' && ends;
    return put;
}

size_t rw_token_edits_read(const rw_token_edits *map, rw_lexer lexer, pgw_arena *arena,
                           rw_change **out)
{
    pgw_slice text = lexer.text;
    const char *list = (const char *)(map->list + map->count);
    const char *texts =
        pgw_arena_copy(arena, (pgw_slice){list, map->size - (size_t)(list - (const char *)map)})
            .ptr;
    rw_change *changes = *out = pgw_arena_alloc(arena, map->count * sizeof *changes);
    reader at = {.lexer = lexer};
    at.token = rw_lexer_next(&at.lexer);
    for (uint32_t i = 0; i < map->count; i++) {
        const rw_token_edit *it = &map->list[i];
        go_to(&at, it->from);
        size_t start = it->from < it->to ? at.token.start : at.before.end;
        go_to(&at, it->to);
        size_t end = at.before.end > start ? at.before.end : start;
        changes[i] =
            (rw_change){.at = start,
                        .cut = end - start,
                        .text = fit((pgw_slice){texts + it->text, it->len}, text, start, end)};
    }
    return map->count;
}
