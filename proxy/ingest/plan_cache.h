/*
 * plan_cache: a worker's plans of prepared INSERTs, by text, declared types, identity and schema
 * epoch; and what it knows of the shapes of other statements.
 */
#ifndef PX_PLAN_CACHE_H
#define PX_PLAN_CACHE_H

#include "proxy/ingest/plan.h"
#include "rewrite/statement/script/shape_cache.h"

/* A worker's plans by the XXH3-128 of text, types, identity and epoch; and the shapes of statements
 * that need none. */
enum { PX_PLANS_SEEN = 1024 };
typedef struct px_plan_cache {
    struct px_plan_slot *slots;
    size_t count;
    size_t bytes;   /* bytes that all plans take */
    uint64_t epoch; /* the epoch of the newest snapshot that a plan was made with */
    rw_shape_cache shapes;
    uint64_t seen[PX_PLANS_SEEN]; /* parts of ids of texts that had no plan when they came */
} px_plan_cache;
typedef struct px_plan_id {
    uint64_t low, high;
} px_plan_id;
px_plan_id px_plan_id_of(pgw_slice text, const uint32_t *declared, size_t declared_count,
                         const px_identity *identity, const px_catalog *catalog);
/* The plan with this id, not counted; NULL: there is none. */
px_plan *px_plan_find(px_plan_cache *cache, px_plan_id id);
/* Makes the plan outdated if a parameter has a type of the database's own that its client did not
 * declare: there may be another of that name by now, though the tables are what they were. */
void px_plan_doubt_types(px_plan *plan);
void px_plan_remember(px_plan_cache *cache, px_plan_id id, px_plan *plan);
void px_plan_cache_clear(px_plan_cache *cache);

#endif
