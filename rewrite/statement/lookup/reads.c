#include "rewrite/statement/lookup/reads.h"

#include <string.h>

/* --- the text without its constants --- */

static bool is_constant(rw_token token)
{
    return token.kind == RW_TOKEN_STRING || token.kind == RW_TOKEN_INTEGER ||
           token.kind == RW_TOKEN_DECIMAL;
}

static bool ends_with(const pgw_buf *out, const char *end)
{
    size_t len = strlen(end);
    return out->len >= len && memcmp(out->ptr + out->len - len, end, len) == 0;
}

/* A list of constants is as one of them, however long it is. */
static void add_constant(pgw_buf *out)
{
    if (ends_with(out, "?, "))
        out->len -= 2;
    else if (ends_with(out, "?,"))
        out->len -= 1;
    else
        pgw_buf_add_byte(out, '?');
}

static void add_shape(pgw_buf *out, pgw_slice text, const rw_token *tokens, size_t count)
{
    static const char cut[] = " …";
    for (size_t i = 0; i < count; i++) {
        pgw_slice token = rw_token_text(text, tokens[i]);
        bool apart = i > 0 && tokens[i - 1].end < tokens[i].start;
        if (out->len + apart + token.len > RW_READ_SHAPE_MAX) {
            pgw_buf_add_str(out, cut);
            break;
        }
        if (apart)
            pgw_buf_add_byte(out, ' ');
        if (is_constant(tokens[i]))
            add_constant(out);
        else
            pgw_buf_add_slice(out, token);
    }
}

/* --- the map --- */

static bool are_keyed(const pgw_buf *reads)
{
    const rw_read *read = (const rw_read *)(const void *)reads->ptr;
    bool keyed = true;
    for (size_t i = 0; i < reads->len / sizeof *read && keyed; i++)
        keyed = read[i].kind != RW_READ_SCAN;
    return keyed;
}

const rw_read_map *rw_read_map_make(const pgw_buf *reads, pgw_slice text, const rw_token *tokens,
                                    size_t count, pgw_arena *arena)
{
    pgw_buf shape = {0};
    if (!are_keyed(reads))
        add_shape(&shape, text, tokens, count);
    pgw_buf_add_byte(&shape, '\0');
    size_t size = sizeof(rw_read_map) + reads->len + shape.len;
    rw_read_map *map = pgw_arena_alloc(arena, size);
    char *at = (char *)(map + 1);
    *map = (rw_read_map){.size = size,
                         .count = (uint32_t)(reads->len / sizeof(rw_read)),
                         .reads = (void *)at,
                         .shape = at + reads->len};
    memcpy(at, reads->ptr, reads->len);
    memcpy(at + reads->len, shape.ptr, shape.len);
    pgw_buf_free(&shape);
    return map;
}

static rw_read_map *copy_to(rw_read_map *copy, const rw_read_map *map)
{
    memcpy(copy, map, map->size);
    copy->reads = (void *)(copy + 1);
    copy->shape = (char *)(copy + 1) + (map->shape - (const char *)map->reads);
    return copy;
}

rw_read_map *rw_read_map_copy(const rw_read_map *map)
{
    return copy_to(pgw_alloc(map->size), map);
}

const rw_read_map *rw_read_map_keep(const rw_read_map *map, pgw_arena *arena)
{
    return map != NULL ? copy_to(pgw_arena_alloc(arena, map->size), map) : NULL;
}

rw_read_kind rw_read_is(const rw_read *read, const rw_lookup *const *lookups, size_t count,
                        const rw_lookup **found)
{
    *found = NULL;
    for (size_t i = 0; i < count; i++)
        if (lookups[i]->name == read->name && (*found == NULL || (*found)->keys == 0))
            *found = lookups[i];
    return *found != NULL ? RW_READ_KEY : read->kind;
}
