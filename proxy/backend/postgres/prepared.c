#include "proxy/backend/postgres/prepared.h"

#include <stdlib.h>
#include <string.h>

struct px_prepared_entry {
    px_entry entry; /* entry of px_prepared.names, by the statement's name */
    struct px_prepared_entry *next, *previous;
    px_write_group_prepared what;
    uint64_t added; /* px_prepared_add()'s `now`, ms */
    bool doubted;
};

typedef struct px_prepared_entry entry;

static void free_entry(entry *e)
{
    px_write_group_drop_prepared(&e->what);
    free(e);
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
    entry *e = prepared->last; /* mostly the same as before */
    if (e == NULL || what->of == NULL || e->what.of != what->of)
        e = (entry *)px_table_find(&prepared->names, what->name);
    if (e == NULL || !px_write_group_same_prepared(&e->what, what))
        return false;
    if (e->doubted && now >= e->added + PX_DOUBTED_MS)
        return false;
    if (e->next != NULL) {
        unchain(prepared, e);
        chain(prepared, e);
    }
    return true;
}

void px_prepared_add(px_prepared *prepared, const px_write_group_prepared *what, uint64_t now)
{
    px_prepared_remove(prepared, what->name);
    entry *e = pgw_calloc(1, sizeof *e);
    e->what = px_write_group_keep_prepared(what);
    e->added = now;
    chain(prepared, e);
    px_table_add(&prepared->names, &e->entry, e->what.name);
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
