/*
 * value_cast: which casts there are between the types that are known here (pg_cast, and the casts
 * through text that PostgreSQL makes by itself), and what they do.
 */
#ifndef PGW_VALUE_CAST_H
#define PGW_VALUE_CAST_H

#include "protocol/value.h"

typedef struct pgw_cast {
    uint32_t type;
    int32_t typmod;     /* -1: none */
    bool explicit_cast; /* the cast is by `::`, which truncates character types; else by assignment
                           to a column, where a text that is too long is 22001 */
} pgw_cast;

/* `in` may be `out`. */
PGW_MUST_CHECK pgw_verdict pgw_value_cast(const pgw_value *in, pgw_cast cast,
                                          const pgw_reading *reading, pgw_value *out);

#endif
