/*
 * counters: what the endpoint has done, for tests to read. Any thread adds.
 */
#ifndef YE_COUNTERS_H
#define YE_COUNTERS_H

#include "protocol/bytes.h"

#include <stdatomic.h>

typedef struct ye_counters {
    atomic_ulong statements; /* that reached the store, or would have */
    atomic_ulong commits;    /* of transactions that wrote, or may have; autocommitted ones, too */
    atomic_ulong failures;   /* that were told, ordered ones included */
    atomic_ulong severed;    /* links that were dropped by order */
} ye_counters;

/* As a JSON object. */
void ye_counters_write(ye_counters *counters, pgw_buf *out);
void ye_counters_reset(ye_counters *counters);

#endif
