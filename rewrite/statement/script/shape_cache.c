#include "rewrite/statement/script/shape_cache.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { BUCKETS = 2 * RW_SHAPE_CACHE_MAX };

typedef struct rw_shape_cache_entry {
    struct rw_shape_cache_entry *next;          /* next entry in the same bucket */
    struct rw_shape_cache_entry *newer, *older; /* entries that were met next later, next earlier */
    uint64_t hash;
    bool inserts;
    rw_lookup_map *lookups; /* NULL: none */
    rw_token_edits *stars;  /* NULL: none */
    rw_range_map *ranges;   /* NULL: none */
    rw_read_map *reads;     /* NULL: none */
    size_t len;
    char bytes[];
} entry;

static size_t size_of(size_t len, rw_shape_said said)
{
    return sizeof(entry) + len + (said.lookups != NULL ? said.lookups->size : 0) +
           (said.stars != NULL ? said.stars->size : 0) +
           (said.ranges != NULL ? said.ranges->size : 0) +
           (said.reads != NULL ? said.reads->size : 0);
}

static rw_shape_said said_of(const entry *it)
{
    return (rw_shape_said){it->inserts, it->lookups, it->stars, it->ranges, it->reads};
}

static entry **bucket_of(rw_shape_cache *cache, uint64_t hash)
{
    return &cache->buckets[hash % BUCKETS];
}

static void unlink_entry(rw_shape_cache *cache, entry *it)
{
    *(it->newer != NULL ? &it->newer->older : &cache->newest) = it->older;
    *(it->older != NULL ? &it->older->newer : &cache->oldest) = it->newer;
}

static void link_newest(rw_shape_cache *cache, entry *it)
{
    it->newer = NULL;
    it->older = cache->newest;
    *(it->older != NULL ? &it->older->newer : &cache->oldest) = it;
    cache->newest = it;
}

static void forget_oldest(rw_shape_cache *cache)
{
    entry *it = cache->oldest;
    entry **at = bucket_of(cache, it->hash);
    while (*at != it)
        at = &(*at)->next;
    *at = it->next;
    unlink_entry(cache, it);
    cache->count--;
    cache->bytes -= size_of(it->len, said_of(it));
    free(it->lookups);
    free(it->stars);
    free(it->ranges);
    free(it->reads);
    free(it);
}

bool rw_shape_cache_find(rw_shape_cache *cache, const rw_shape *shape, rw_shape_said *said)
{
    if (cache->count == 0)
        return false;
    uint64_t hash = XXH3_64bits(shape->bytes, shape->len);
    for (entry *it = *bucket_of(cache, hash); it != NULL; it = it->next) {
        if (it->hash != hash || it->len != shape->len ||
            memcmp(it->bytes, shape->bytes, shape->len) != 0)
            continue;
        unlink_entry(cache, it);
        link_newest(cache, it);
        *said = said_of(it);
        return true;
    }
    return false;
}

void rw_shape_cache_add(rw_shape_cache *cache, const rw_shape *shape, rw_shape_said said)
{
    if (cache->buckets == NULL)
        cache->buckets = pgw_calloc(BUCKETS, sizeof *cache->buckets);
    size_t size = size_of(shape->len, said);
    while (cache->count > 0 &&
           (cache->count == RW_SHAPE_CACHE_MAX || cache->bytes + size > RW_SHAPE_CACHE_BYTES))
        forget_oldest(cache);
    cache->bytes += size;
    entry *it = pgw_alloc(sizeof *it + shape->len);
    it->hash = XXH3_64bits(shape->bytes, shape->len);
    it->inserts = said.inserts;
    it->lookups = said.lookups != NULL ? rw_lookup_map_copy(said.lookups) : NULL;
    it->stars = said.stars != NULL ? rw_token_edits_copy(said.stars) : NULL;
    it->ranges = said.ranges != NULL ? rw_range_map_copy(said.ranges) : NULL;
    it->reads = said.reads != NULL ? rw_read_map_copy(said.reads) : NULL;
    it->len = shape->len;
    memcpy(it->bytes, shape->bytes, shape->len);
    it->next = *bucket_of(cache, it->hash);
    *bucket_of(cache, it->hash) = it;
    link_newest(cache, it);
    cache->count++;
}

void rw_shape_cache_clear(rw_shape_cache *cache)
{
    while (cache->count > 0)
        forget_oldest(cache);
    free(cache->buckets);
    *cache = (rw_shape_cache){0};
}
