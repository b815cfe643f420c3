/*
 * batch: the write groups that are on a link together: a first attempt in one transaction, then, if
 * that failed, each write group alone until every one has its own outcome.
 */
#ifndef PX_BATCH_H
#define PX_BATCH_H

#include "proxy/backend/base/writer.h"

typedef struct px_batch {
    struct px_queue *queue;
    struct px_pool_link *link;
    px_attempt attempt;            /* `write groups` and `count` are those on the link now */
    px_write_group **write_groups; /* attempt.write groups */
    size_t write_group_cap;
    px_write_group **again; /* write groups to be sent again in the next attempt */
    size_t again_count, again_cap;
    px_write_group *lone[1]; /* room for the only write group of most batches */
    uint64_t rows, started;
    uint64_t since;    /* The time when the attempt was sent, or a write group alone in it was last
                          answered. */
    bool first;        /* this is the first attempt */
    size_t returned;   /* bytes of rows that its write groups were given back */
    bool failed;       /* some write group did not commit in the batch */
    bool postponed;    /* some write group is to be sent again after a pause, in another batch */
    bool refused_size; /* the first attempt failed with 54000 */
    bool doubted; /* merged rows failed for no known reason, and no write group has failed alone
                     since */
} px_batch;

px_batch *px_batch_new(void); /* without write groups; the caller frees it with px_batch_free() */
void px_batch_add(px_batch *batch, px_write_group *write_group);
void px_batch_add_again(px_batch *batch, px_write_group *write_group);
/* Makes the write groups to be sent again those of the next attempt. */
void px_batch_next_attempt(px_batch *batch);
/* Makes the batch one without write groups again. */
void px_batch_clear(px_batch *batch);
void px_batch_free(px_batch *batch); /* frees the batch and what it owns; NULL is fine */

#endif
