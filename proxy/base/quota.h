/*
 * quota: the links for batches of the process, over all workers and identities: how many there are,
 * and who waits for one. Whoever has none comes before who wants more.
 */
#ifndef PX_QUOTA_H
#define PX_QUOTA_H

#include "config/config.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Eight batches that end within a second make the process busy with rows of INSERTs. */
enum { PX_QUOTA_FEW = 8 };

typedef struct px_quota {
    _Atomic unsigned links;    /* open or being opened */
    _Atomic unsigned pools;    /* pools that have links, or rows that wait for one */
    _Atomic unsigned wanting;  /* pools that have less than their part, and found no more */
    _Atomic unsigned starving; /* pools that have no link, and found none */
    _Atomic unsigned flying;   /* batches that are on their way */
    _Atomic unsigned landings; /* how many are back */
    _Atomic uint64_t landed[PX_QUOTA_FEW]; /* px_worker_now() when the last ones came: a ring */
} px_quota;

/* The most links for batches: backend.batch_links, one a worker at least, and never more than half
 * of backend.max_links. */
unsigned px_quota_most(const cfg_config *config, unsigned workers);
/* How many links a pool may have when all want some: an even share, at least one. */
unsigned px_quota_part(const px_quota *quota, unsigned most);
/* Takes one more link for a pool that has `count`; false if none is left for it. Any thread; given
 * back by px_quota_release(). */
bool px_quota_claim(px_quota *quota, unsigned most, size_t count);
void px_quota_release(px_quota *quota);
/* Sets `*is` to `now`, and counts the change in one of the counters. */
void px_quota_count(_Atomic unsigned *counter, bool *is, bool now);

/* Notes that a batch is on its way, and that it is back; `now` is px_worker_now(). Any thread. */
void px_quota_fly(px_quota *quota);
void px_quota_land(px_quota *quota, uint64_t now);
/* Whether a batch is on its way, or PX_QUOTA_FEW were back within the last second. Any thread. */
bool px_quota_is_busy(const px_quota *quota, uint64_t now);

#endif
