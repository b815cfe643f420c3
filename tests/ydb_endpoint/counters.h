/*
 * counters: what the endpoint has done, for tests to read. Any thread adds.
 */
#ifndef YE_COUNTERS_H
#define YE_COUNTERS_H

#include "protocol/bytes.h"

#include <stdatomic.h>

enum { YE_TOUCHED_MAX = 256 }; /* and more */

typedef struct ye_counters {
    atomic_ulong statements; /* that reached the store, or would have */
    atomic_ulong commits;    /* of transactions that wrote, or may have; autocommitted ones, too */
    atomic_ulong failures;   /* that were told, ordered ones included */
    atomic_ulong severed;    /* links that were dropped by order */
    atomic_ulong compiled;   /* texts that were new */
    atomic_ulong cancels;    /* that were asked for */
    atomic_ulong rows_read;  /* of tables whose keys are known (reads.h) */
    /* Requests to partitions, by how many they touched: 1, 2 and so on. A statement is one, a
     * COMMIT of what was written another. */
    atomic_ulong requests[YE_TOUCHED_MAX];
} ye_counters;

void ye_counters_request(ye_counters *counters, size_t touched);
/* As a JSON object. */
void ye_counters_write(ye_counters *counters, pgw_buf *out);
void ye_counters_reset(ye_counters *counters);

#endif
