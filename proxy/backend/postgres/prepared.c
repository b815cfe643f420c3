#include "proxy/backend/postgres/prepared.h"

#include <stdlib.h>
#include <string.h>

struct px_prepared_entry {
    px_entry entry; /* by its name */
    size_t place;   /* in the ring, from its beginning */
    pgw_slice text;
    uint32_t *types;
    size_t type_count;
    pgw_arena arena; /* of all of it */
};

typedef struct px_prepared_entry entry;

/* Removed entries leave their place empty until it is the oldest, so the ring may be full of few.
 */
static entry **place_at(const px_prepared *prepared, size_t i)
{
    return &prepared->ring[(prepared->head + i) % PX_PREPARED_MAX];
}

static entry *new_entry(pgw_slice name, pgw_slice text, const uint32_t *types, size_t type_count)
{
    pgw_arena arena = {0};
    entry *e = pgw_arena_alloc(&arena, sizeof *e);
    e->entry.name = pgw_arena_copy(&arena, name);
    e->text = pgw_arena_copy(&arena, text);
    e->types = pgw_arena_alloc(&arena, (type_count + 1) * sizeof *types);
    e->type_count = type_count;
    if (type_count > 0)
        memcpy(e->types, types, type_count * sizeof *types);
    e->arena = arena;
    return e;
}

static void free_entry(entry *e)
{
    pgw_arena arena = e->arena;
    pgw_arena_free(&arena);
}

bool px_prepared_has(const px_prepared *prepared, pgw_slice name, pgw_slice text,
                     const uint32_t *types, size_t type_count)
{
    const entry *e = (entry *)px_table_find(&prepared->names, name);
    return e != NULL && pgw_slice_eq(e->text, text) && e->type_count == type_count &&
           (type_count == 0 || memcmp(e->types, types, type_count * sizeof *types) == 0);
}

void px_prepared_add(px_prepared *prepared, pgw_slice name, pgw_slice text, const uint32_t *types,
                     size_t type_count)
{
    px_prepared_remove(prepared, name);
    if (prepared->ring == NULL)
        prepared->ring = pgw_calloc(PX_PREPARED_MAX, sizeof(entry *));
    entry *e = new_entry(name, text, types, type_count);
    e->place = (prepared->head + prepared->count++) % PX_PREPARED_MAX;
    prepared->ring[e->place] = e;
    px_table_add(&prepared->names, &e->entry, e->entry.name);
}

void px_prepared_remove(px_prepared *prepared, pgw_slice name)
{
    entry *e = (entry *)px_table_remove(&prepared->names, name);
    if (e == NULL)
        return;
    prepared->ring[e->place] = NULL;
    free_entry(e);
}

char *px_prepared_evict(px_prepared *prepared)
{
    if (prepared->count < PX_PREPARED_MAX)
        return NULL;
    const entry *oldest = *place_at(prepared, 0);
    char *name = NULL;
    if (oldest != NULL) {
        pgw_slice known = oldest->entry.name;
        name = pgw_strndup(known.ptr, known.len);
        px_prepared_remove(prepared, known);
    }
    prepared->head = (prepared->head + 1) % PX_PREPARED_MAX;
    prepared->count--;
    return name;
}

void px_prepared_free(px_prepared *prepared)
{
    for (size_t i = 0; i < prepared->count; i++)
        if (*place_at(prepared, i) != NULL)
            free_entry(*place_at(prepared, i));
    free(prepared->ring);
    px_table_free(&prepared->names);
    *prepared = (px_prepared){0};
}
