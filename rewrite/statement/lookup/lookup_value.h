/*
 * lookup_value: what a column is compared with, in libpg_query's tree: a constant or a parameter,
 * and what it is cast to.
 */
#ifndef RW_LOOKUP_VALUE_H
#define RW_LOOKUP_VALUE_H

#include "rewrite/statement/lookup/equation.h"

#include <stdint.h>

typedef struct rw_lookup_value {
    int32_t location; /* where its constant or parameter is written; -1: it is something else */
    bool parameter;
    uint32_t cast; /* PGW_UNSPECIFIED: none; of an array, the type of its elements */
} rw_lookup_value;

/* A type that is known here by its name alone, as pg_type has it: of what the grammar calls
 * otherwise the tree has that, so `char` there is "char", another type. Of an array, its elements;
 * else PGW_UNSPECIFIED. */
uint32_t rw_lookup_type_named(const PgQuery__TypeName *type);
/* Reads a value of the equation, or of one of its rows. False: it is more than a constant or a
 * parameter with at most one cast, to a type that is known here by its name alone. */
bool rw_lookup_value_read(const rw_equation *from, const PgQuery__Node *value,
                          rw_lookup_value *out);

#endif
