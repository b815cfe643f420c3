#include "rewrite/read/known.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { BUCKETS = 2 * RW_KNOWN_MAX };

typedef struct rw_known_shape {
    struct rw_known_shape *next;          /* in its bucket */
    struct rw_known_shape *newer, *older; /* met later, earlier */
    uint64_t hash;
    bool inserts;
    size_t len;
    char bytes[];
} entry;

static entry **bucket_of(rw_known *known, uint64_t hash)
{
    return &known->buckets[hash % BUCKETS];
}

static void unlink_entry(rw_known *known, entry *it)
{
    *(it->newer != NULL ? &it->newer->older : &known->newest) = it->older;
    *(it->older != NULL ? &it->older->newer : &known->oldest) = it->newer;
}

static void link_newest(rw_known *known, entry *it)
{
    it->newer = NULL;
    it->older = known->newest;
    *(it->older != NULL ? &it->older->newer : &known->oldest) = it;
    known->newest = it;
}

static void forget_oldest(rw_known *known)
{
    entry *it = known->oldest;
    entry **at = bucket_of(known, it->hash);
    while (*at != it)
        at = &(*at)->next;
    *at = it->next;
    unlink_entry(known, it);
    known->count--;
    free(it);
}

bool rw_known_find(rw_known *known, const rw_shape *shape, bool *inserts)
{
    if (known->count == 0)
        return false;
    uint64_t hash = XXH3_64bits(shape->bytes, shape->len);
    for (entry *it = *bucket_of(known, hash); it != NULL; it = it->next) {
        if (it->hash != hash || it->len != shape->len ||
            memcmp(it->bytes, shape->bytes, shape->len) != 0)
            continue;
        unlink_entry(known, it);
        link_newest(known, it);
        *inserts = it->inserts;
        return true;
    }
    return false;
}

void rw_known_add(rw_known *known, const rw_shape *shape, bool inserts)
{
    if (known->buckets == NULL)
        known->buckets = pgw_calloc(BUCKETS, sizeof *known->buckets);
    if (known->count == RW_KNOWN_MAX)
        forget_oldest(known);
    entry *it = pgw_alloc(sizeof *it + shape->len);
    it->hash = XXH3_64bits(shape->bytes, shape->len);
    it->inserts = inserts;
    it->len = shape->len;
    memcpy(it->bytes, shape->bytes, shape->len);
    it->next = *bucket_of(known, it->hash);
    *bucket_of(known, it->hash) = it;
    link_newest(known, it);
    known->count++;
}

void rw_known_clear(rw_known *known)
{
    while (known->count > 0)
        forget_oldest(known);
    free(known->buckets);
    *known = (rw_known){0};
}
