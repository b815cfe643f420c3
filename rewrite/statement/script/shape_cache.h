/*
 * shape_cache: the shapes that libpg_query has found harmless, so that it is asked once a shape and
 * not once a statement. Bounded: the one that was not met for longest is forgotten.
 */
#ifndef RW_SHAPE_CACHE_H
#define RW_SHAPE_CACHE_H

#include "rewrite/statement/edit/token_edits.h"
#include "rewrite/statement/lookup/lookup.h"
#include "rewrite/statement/lookup/ranges.h"
#include "rewrite/statement/lookup/reads.h"
#include "rewrite/statement/script/shape.h"

enum { RW_SHAPE_CACHE_MAX = 4096, RW_SHAPE_CACHE_BYTES = 16 * 1024 * 1024 };

/* All zero is an empty one; freed by rw_shape_cache_clear(). */
typedef struct rw_shape_cache {
    struct rw_shape_cache_entry **buckets;
    struct rw_shape_cache_entry *newest, *oldest;
    size_t count, bytes;
} rw_shape_cache;

/* What rw_tree_check() has said of a shape. */
typedef struct rw_shape_said {
    bool inserts;
    const rw_lookup_map *lookups; /* NULL: none; the cache owns it until the next is added */
    const rw_token_edits *stars;  /* NULL: none; owned like `lookups` */
    const rw_range_map *ranges;   /* NULL: none; owned like `lookups` */
    const rw_read_map *reads;     /* NULL: none; owned like `lookups` */
} rw_shape_said;

/* Whether the cache has `shape`, and what was said of it. Shapes are compared byte by byte. */
PGW_MUST_CHECK bool rw_shape_cache_find(rw_shape_cache *cache, const rw_shape *shape,
                                        rw_shape_said *said);
/* Adds copies of a shape that was not found and of what was said of it. */
void rw_shape_cache_add(rw_shape_cache *cache, const rw_shape *shape, rw_shape_said said);
void rw_shape_cache_clear(rw_shape_cache *cache);

#endif
