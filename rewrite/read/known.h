/*
 * known: the shapes that libpg_query has found harmless, so that it is asked once a shape and not
 * once a statement. Bounded: the one that was not met for longest is forgotten.
 */
#ifndef RW_KNOWN_H
#define RW_KNOWN_H

#include "rewrite/read/shape.h"

enum { RW_KNOWN_MAX = 4096 };

/* All zero is an empty one; freed by rw_known_clear(). */
typedef struct rw_known {
    struct rw_known_shape **buckets;
    struct rw_known_shape *newest, *oldest;
    size_t count;
} rw_known;

/* Whether `shape` was added, and then with what. Shapes are compared byte by byte. */
bool rw_known_find(rw_known *known, const rw_shape *shape, bool *inserts);
/* Adds a copy of what was not found. `inserts`: as rw_tree_check() says. */
void rw_known_add(rw_known *known, const rw_shape *shape, bool inserts);
void rw_known_clear(rw_known *known);

#endif
