/*
 * claim: more of something bounded that all threads take from: links, clients, logins, memory.
 * Given back by atomic_fetch_sub().
 */
#ifndef PX_CLAIM_H
#define PX_CLAIM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* Counts one more. False, and nothing counted, if there are `most` already. */
static inline bool px_claim(_Atomic unsigned *counter, unsigned most)
{
    unsigned taken = atomic_load(counter);
    while (taken < most)
        if (atomic_compare_exchange_weak(counter, &taken, taken + 1))
            return true;
    return false;
}

/* Counts `more` bytes of memory. False, and nothing counted, if there would be more than `most`. */
static inline bool px_claim_bytes(_Atomic size_t *used, size_t more, size_t most)
{
    size_t now = atomic_load(used);
    while (now < most && more <= most - now)
        if (atomic_compare_exchange_weak(used, &now, now + more))
            return true;
    return false;
}

#endif
