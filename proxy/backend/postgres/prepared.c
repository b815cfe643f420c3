#include "proxy/backend/postgres/prepared.h"

#include <stdlib.h>
#include <string.h>

struct px_prepared_entry {
    px_entry entry; /* entry of px_prepared.names, by the statement's name */
    struct px_prepared_entry *next, *previous;
    pgw_slice text;
    uint32_t *types;
    size_t type_count;
    uint64_t added; /* px_prepared_add()'s `now`, ms */
    bool doubted;
    pgw_arena arena; /* holds the entry and all it points to */
};

typedef struct px_prepared_entry entry;

static entry *new_entry(const px_write_group_prepared *what)
{
    pgw_arena arena = {0};
    entry *e = pgw_arena_alloc(&arena, sizeof *e);
    e->entry.name = pgw_arena_copy(&arena, what->name);
    e->text = pgw_arena_copy(&arena, what->text);
    e->types = pgw_arena_alloc(&arena, (what->type_count + 1) * sizeof *e->types);
    e->type_count = what->type_count;
    if (e->type_count > 0)
        memcpy(e->types, what->types, e->type_count * sizeof *e->types);
    e->arena = arena;
    return e;
}

static void free_entry(entry *e)
{
    pgw_arena arena = e->arena;
    pgw_arena_free(&arena);
}

static void chain(px_prepared *prepared, entry *e)
{
    e->next = NULL;
    e->previous = prepared->last;
    if (e->previous != NULL)
        e->previous->next = e;
    else
        prepared->first = e;
    prepared->last = e;
}

static void unchain(px_prepared *prepared, const entry *e)
{
    if (e->previous != NULL)
        e->previous->next = e->next;
    else
        prepared->first = e->next;
    if (e->next != NULL)
        e->next->previous = e->previous;
    else
        prepared->last = e->previous;
}

bool px_prepared_use(px_prepared *prepared, const px_write_group_prepared *what, uint64_t now)
{
    entry *e = (entry *)px_table_find(&prepared->names, what->name);
    if (e == NULL || !pgw_slice_eq(e->text, what->text) || e->type_count != what->type_count ||
        (e->type_count > 0 && memcmp(e->types, what->types, e->type_count * sizeof *e->types) != 0))
        return false;
    if (e->doubted && now >= e->added + PX_DOUBTED_MS)
        return false;
    unchain(prepared, e);
    chain(prepared, e);
    return true;
}

void px_prepared_add(px_prepared *prepared, const px_write_group_prepared *what, uint64_t now)
{
    px_prepared_remove(prepared, what->name);
    entry *e = new_entry(what);
    e->added = now;
    chain(prepared, e);
    px_table_add(&prepared->names, &e->entry, e->entry.name);
    prepared->count++;
}

void px_prepared_doubt(px_prepared *prepared, pgw_slice name)
{
    entry *e = (entry *)px_table_find(&prepared->names, name);
    if (e != NULL)
        e->doubted = true;
}

void px_prepared_remove(px_prepared *prepared, pgw_slice name)
{
    entry *e = (entry *)px_table_remove(&prepared->names, name);
    if (e == NULL)
        return;
    unchain(prepared, e);
    prepared->count--;
    free_entry(e);
}

char *px_prepared_evict(px_prepared *prepared)
{
    if (prepared->count < PX_PREPARED_MAX)
        return NULL;
    pgw_slice oldest = prepared->first->entry.name;
    char *name = pgw_strndup(oldest.ptr, oldest.len);
    px_prepared_remove(prepared, oldest);
    return name;
}

void px_prepared_free(px_prepared *prepared)
{
    while (prepared->first != NULL)
        px_prepared_remove(prepared, prepared->first->entry.name);
    px_table_free(&prepared->names);
    *prepared = (px_prepared){0};
}
