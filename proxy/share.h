/*
 * share: the links for batches of one identity, counted over all workers. Each worker's first is
 * its own; the others are anybody's, but who has more than its part gives way to who has less.
 */
#ifndef PX_SHARE_H
#define PX_SHARE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct px_share {
    struct px_share *next;
    char *key;               /* the identity's */
    unsigned references;     /* pools; under the list's lock */
    _Atomic unsigned common; /* links beyond the pools' first ones */
    _Atomic size_t wanted;   /* pools that have less than their part, and found no more */
} px_share;

/* Any thread. Made if it is not there; freed with its last reference. */
px_share *px_share_take(const char *key);
void px_share_drop(px_share *share);

/* One more link that is not a pool's first, of `most`; false if there is none left. */
bool px_share_claim(px_share *share, unsigned most);
void px_share_release(px_share *share);

#endif
