/*
 * batch: the units that are on a link together: a first attempt in one transaction, then, if that
 * failed, each unit alone until every one has its own outcome.
 */
#ifndef PX_BATCH_H
#define PX_BATCH_H

#include "proxy/backend/base/writer.h"

typedef struct px_batch {
    struct px_queue *queue;
    struct px_pool_link *link;
    px_attempt attempt; /* units and count: those on the link now */
    px_unit **units;    /* attempt.units */
    size_t unit_cap;
    px_unit **again; /* failed without being to blame: the next attempt's */
    size_t again_count, again_cap;
    uint64_t rows, started;
    uint64_t since;    /* of a unit that is alone: when it, or what was sent before it, was done */
    bool first;        /* it is the first attempt */
    size_t returned;   /* bytes of rows that its units were given back */
    bool failed;       /* some unit did not commit in it */
    bool postponed;    /* … and is to be sent again later */
    bool refused_size; /* the first attempt failed with 54000 */
    bool doubted;      /* rows failed merged, for no reason that is known, and none has alone yet */
} px_batch;

void px_batch_add(px_batch *batch, px_unit *unit);
void px_batch_add_again(px_batch *batch, px_unit *unit);
/* Makes the units to be sent again those of the next attempt. */
void px_batch_next_attempt(px_batch *batch);
void px_batch_free(px_batch *batch); /* and what it owns */

#endif
