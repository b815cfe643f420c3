#include "proxy/ingest/plan_cache.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { CACHE_SLOTS = 8192, CACHE_PLANS = 4096 }; /* open addressing, at most half full */
enum { CACHE_BYTES = 64 * 1024 * 1024 };         /* one plan takes an eighth of it at most */

struct px_plan_slot {
    px_plan_id id;
    px_plan *plan; /* NULL: free */
};

static uint64_t number_of(const char *value)
{
    return value != NULL ? XXH3_64bits(value, strlen(value)) : 0;
}

/* A hash of the settings by which constants are read, which may come from the server and not from
 * the identity's key. */
static uint64_t reading_of(const px_identity *identity)
{
    const pgw_env *env = &identity->env;
    uint64_t parts[] = {number_of(identity->zone), number_of(identity->dates),
                        number_of(identity->intervals),
                        (uint64_t)env->server << 2 | (uint64_t)env->utf8 << 1 | env->conforming};
    return XXH3_64bits(parts, sizeof parts);
}

px_plan_id px_plan_id_of(pgw_slice text, const uint32_t *declared, size_t declared_count,
                         const px_identity *identity, const px_catalog *catalog)
{
    XXH128_hash_t hash = XXH3_128bits(text.ptr, text.len);
    uint64_t parts[] = {hash.low64,
                        hash.high64,
                        XXH3_64bits(declared, declared_count * sizeof *declared),
                        XXH3_64bits(identity->key, strlen(identity->key)),
                        reading_of(identity),
                        catalog->epoch};
    hash = XXH3_128bits(parts, sizeof parts);
    return (px_plan_id){hash.low64, hash.high64};
}

static struct px_plan_slot *slot_of(px_plan_cache *cache, px_plan_id id)
{
    for (size_t i = id.low % CACHE_SLOTS;; i = (i + 1) % CACHE_SLOTS) {
        struct px_plan_slot *slot = &cache->slots[i];
        if (slot->plan == NULL || (slot->id.low == id.low && slot->id.high == id.high))
            return slot;
    }
}

px_plan *px_plan_find(px_plan_cache *cache, px_plan_id id)
{
    px_plan *plan = cache->slots != NULL ? slot_of(cache, id)->plan : NULL;
    return plan != NULL && !plan->outdated ? plan : NULL;
}

void px_plan_doubt_types(px_plan *plan)
{
    enum { FIRST_OWN = 16384 };
    for (uint32_t i = 0; plan->infers && i < plan->insert->param_count; i++)
        plan->outdated = plan->outdated || plan->types[i] >= FIRST_OWN;
}

static void forget_plans(px_plan_cache *cache)
{
    for (size_t i = 0; cache->slots != NULL && i < CACHE_SLOTS; i++)
        px_plan_drop(cache->slots[i].plan);
    free(cache->slots);
    cache->slots = NULL;
    cache->count = cache->bytes = 0;
}

static void put(px_plan_cache *cache, px_plan_id id, px_plan *plan)
{
    struct px_plan_slot *slot = slot_of(cache, id);
    cache->bytes += plan->arena.bytes; /* what the plan takes later, for its types, is little */
    if (slot->plan == NULL)
        cache->count++;
    px_plan_drop(slot->plan);
    *slot = (struct px_plan_slot){id, plan};
}

/* Forgets plans of snapshots that do not come again, which they would keep. */
static void forget_outlived(px_plan_cache *cache, const px_catalog *now)
{
    struct px_plan_slot *slots = cache->slots;
    if (slots == NULL || now->epoch <= cache->epoch)
        return;
    cache->slots = pgw_calloc(CACHE_SLOTS, sizeof *cache->slots);
    cache->count = cache->bytes = 0;
    for (size_t i = 0; i < CACHE_SLOTS; i++) {
        px_plan *plan = slots[i].plan;
        if (plan != NULL && (plan->catalog == now || atomic_load(&plan->catalog->current)))
            put(cache, slots[i].id, plan);
        else
            px_plan_drop(plan);
    }
    free(slots);
}

/* A full cache starts anew: cheaper to think of than to evict, and plans in use live on. */
void px_plan_remember(px_plan_cache *cache, px_plan_id id, px_plan *plan)
{
    if (plan->arena.bytes > CACHE_BYTES / 8)
        return;
    forget_outlived(cache, plan->catalog);
    if (plan->catalog->epoch > cache->epoch)
        cache->epoch = plan->catalog->epoch;
    if (cache->count == CACHE_PLANS || cache->bytes + plan->arena.bytes > CACHE_BYTES)
        forget_plans(cache);
    if (cache->slots == NULL)
        cache->slots = pgw_calloc(CACHE_SLOTS, sizeof *cache->slots);
    px_plan_take(plan);
    put(cache, id, plan);
}

void px_plan_cache_clear(px_plan_cache *cache)
{
    forget_plans(cache);
    rw_shape_cache_clear(&cache->shapes);
}
