#include "proxy/base/table.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <xxhash.h>

enum { FIRST_ROOM = 4, KEPT_ROOM = 64 };

/* The seed of all hashes, so that clients cannot choose names that collide. */
static uint64_t seed;

/* Runs before main(), and so before there are threads. */
__attribute__((constructor)) static void draw_seed(void)
{
    if (getrandom(&seed, sizeof seed, 0) != sizeof seed)
        abort(); /* A seed that can be guessed is worse than none. */
}

static uint64_t hash_of(pgw_slice name)
{
    if (name.len == 0) /* the empty name is usual: it is that of most portals */
        return seed;
    return XXH3_64bits_withSeed(name.ptr, name.len, seed);
}

/* The bucket of a hash. The last buckets of `room` are not there yet: their entries are still in
 * the bucket that is to be split for them. */
static px_entry **bucket_of(const px_table *table, uint64_t hash)
{
    size_t i = hash & (table->room - 1);
    return &table->buckets[i < table->bucket_count ? i : i & (table->room / 2 - 1)];
}

static px_entry **place_of(const px_table *table, pgw_slice name)
{
    uint64_t hash = hash_of(name);
    px_entry **at = bucket_of(table, hash);
    while (*at != NULL && ((*at)->hash != hash || !pgw_slice_eq((*at)->name, name)))
        at = &(*at)->next;
    return at;
}

static void begin(px_table *table)
{
    table->room = table->bucket_count = FIRST_ROOM;
    table->buckets = pgw_calloc(table->room, sizeof(px_entry *));
}

static void split_one(px_table *table)
{
    if (table->bucket_count == table->room) {
        table->room *= 2;
        table->buckets = pgw_realloc(table->buckets, table->room * sizeof(px_entry *));
    }
    size_t fresh = table->bucket_count++;
    px_entry **at = &table->buckets[fresh - table->room / 2];
    table->buckets[fresh] = NULL;
    while (*at != NULL) {
        px_entry *entry = *at;
        if ((entry->hash & (table->room - 1)) != fresh) {
            at = &entry->next;
            continue;
        }
        *at = entry->next;
        entry->next = table->buckets[fresh];
        table->buckets[fresh] = entry;
    }
}

px_entry *px_table_find(const px_table *table, pgw_slice name)
{
    return table->count > 0 ? *place_of(table, name) : NULL;
}

void px_table_add(px_table *table, px_entry *entry, pgw_slice name)
{
    if (table->buckets == NULL)
        begin(table);
    else if (table->count >= table->bucket_count)
        split_one(table);
    entry->name = name;
    entry->hash = hash_of(name);
    px_entry **bucket = bucket_of(table, entry->hash);
    entry->next = *bucket;
    *bucket = entry;
    table->count++;
}

px_entry *px_table_remove(px_table *table, pgw_slice name)
{
    if (table->count == 0)
        return NULL;
    px_entry **at = place_of(table, name), *entry = *at;
    if (entry == NULL)
        return NULL;
    *at = entry->next;
    table->count--;
    return entry;
}

void px_table_clear(px_table *table)
{
    if (table->room > KEPT_ROOM) {
        px_table_free(table);
    } else if (table->count > 0) {
        memset(table->buckets, 0, table->bucket_count * sizeof(px_entry *));
        table->count = 0;
    }
}

void px_table_free(px_table *table)
{
    free(table->buckets);
    *table = (px_table){0};
}
