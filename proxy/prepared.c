#include "proxy/prepared.h"

#include <stdlib.h>
#include <string.h>

struct px_prepared_entry {
    char *name; /* NULL: removed, its place is passed over */
    size_t name_len;
    char *text;
    size_t text_len;
    uint32_t *types;
    size_t type_count;
};

/* Removed entries keep their place until they are the oldest, so the ring may be full of few. */
typedef struct px_prepared_entry entry;

static entry *entry_at(const px_prepared *prepared, size_t i)
{
    return &prepared->entries[(prepared->head + i) % PX_PREPARED_MAX];
}

static void clear(entry *e)
{
    free(e->name);
    free(e->text);
    free(e->types);
    *e = (entry){0};
}

/* The latest first: what was prepared lately is what is used. */
static entry *find(const px_prepared *prepared, pgw_slice name)
{
    for (size_t i = prepared->count; i-- > 0;) {
        entry *e = entry_at(prepared, i);
        if (e->name != NULL && pgw_slice_eq((pgw_slice){e->name, e->name_len}, name))
            return e;
    }
    return NULL;
}

bool px_prepared_has(const px_prepared *prepared, pgw_slice name, pgw_slice text,
                     const uint32_t *types, size_t type_count)
{
    const entry *e = find(prepared, name);
    return e != NULL && pgw_slice_eq((pgw_slice){e->text, e->text_len}, text) &&
           e->type_count == type_count &&
           (type_count == 0 || memcmp(e->types, types, type_count * sizeof *types) == 0);
}

void px_prepared_add(px_prepared *prepared, pgw_slice name, pgw_slice text, const uint32_t *types,
                     size_t type_count)
{
    px_prepared_remove(prepared, name);
    if (prepared->entries == NULL)
        prepared->entries = pgw_calloc(PX_PREPARED_MAX, sizeof *prepared->entries);
    entry *e = entry_at(prepared, prepared->count++);
    e->name = pgw_strndup(name.ptr, name.len);
    e->name_len = name.len;
    e->text = pgw_strndup(text.ptr, text.len);
    e->text_len = text.len;
    e->type_count = type_count;
    if (type_count > 0) {
        e->types = pgw_alloc(type_count * sizeof *types);
        memcpy(e->types, types, type_count * sizeof *types);
    }
}

void px_prepared_remove(px_prepared *prepared, pgw_slice name)
{
    entry *e = find(prepared, name);
    if (e != NULL)
        clear(e);
}

char *px_prepared_evict(px_prepared *prepared)
{
    if (prepared->count < PX_PREPARED_MAX)
        return NULL;
    entry *e = entry_at(prepared, 0);
    char *name = e->name;
    e->name = NULL;
    clear(e);
    prepared->head = (prepared->head + 1) % PX_PREPARED_MAX;
    prepared->count--;
    return name;
}

void px_prepared_free(px_prepared *prepared)
{
    for (size_t i = 0; i < prepared->count; i++)
        clear(entry_at(prepared, i));
    free(prepared->entries);
    *prepared = (px_prepared){0};
}
