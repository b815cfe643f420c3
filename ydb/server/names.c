#include "ydb/server/names.h"

#include "protocol/frontend.h"

#include <stdlib.h>

enum { FIRST_SIZE = 16 };

/* FNV-1a. A client that makes names collide slows down only its own session. */
static size_t slot_of(const pgw_names *names, pgw_slice name)
{
    pgw_slice key = pgw_name_significant(name);
    uint64_t hash = 0xcbf29ce484222325;
    for (size_t i = 0; i < key.len; i++)
        hash = (hash ^ (uint8_t)key.ptr[i]) * 0x100000001b3;
    return (hash ^ hash >> 32) & (names->size - 1);
}

pgw_named *pgw_names_find(const pgw_names *names, pgw_slice name)
{
    pgw_named *named = names->size > 0 ? names->slots[slot_of(names, name)] : NULL;
    while (named != NULL &&
           !pgw_slice_eq(pgw_name_significant(named->name), pgw_name_significant(name)))
        named = named->next;
    return named;
}

static void put(pgw_names *names, pgw_named *named)
{
    pgw_named **slot = &names->slots[slot_of(names, named->name)];
    named->next = *slot;
    *slot = named;
}

static void grow(pgw_names *names)
{
    pgw_names old = *names;
    names->size = old.size > 0 ? old.size * 2 : FIRST_SIZE;
    names->slots = pgw_calloc(names->size, sizeof(pgw_named *));
    for (size_t i = 0; i < old.size; i++) {
        for (pgw_named *named = old.slots[i], *next; named != NULL; named = next) {
            next = named->next;
            put(names, named);
        }
    }
    free(old.slots);
}

void pgw_names_enter(pgw_names *names, pgw_named *named)
{
    if (names->count == names->size)
        grow(names);
    put(names, named);
    names->count++;
}

void pgw_names_remove(pgw_names *names, pgw_named *named)
{
    pgw_named **at = &names->slots[slot_of(names, named->name)];
    while (*at != named)
        at = &(*at)->next;
    *at = named->next;
    names->count--;
}

pgw_named *pgw_names_next(const pgw_names *names, size_t *slot, const pgw_named *before)
{
    pgw_named *named = before != NULL ? before->next : NULL;
    while (named == NULL && names->count > 0 && *slot < names->size)
        named = names->slots[(*slot)++];
    return named;
}

void pgw_names_free(pgw_names *names)
{
    free(names->slots);
    *names = (pgw_names){0};
}
