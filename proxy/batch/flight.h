/*
 * flight: a batch's way over a link and back, until each of its write groups has its outcome.
 * Queues that wait for a link get one; what becomes of write groups and queues is told to the
 * batcher.
 */
#ifndef PX_FLIGHT_H
#define PX_FLIGHT_H

#include "proxy/batch/pool.h"

/* What flights tell the batcher. */
typedef struct px_flight_ops {
    /* The write group has its outcome. */
    void (*finish)(void *owner, px_write_group *write_group);
    /* Finishes the write group and returns true if it expired or was withdrawn. */
    bool (*give_up)(void *owner, px_write_group *write_group);
    /* The write group is about to wait in its queue again. */
    void (*back)(void *owner, px_write_group *write_group);
    /* The write group is to wait in its queue again after a pause of `ms` milliseconds. */
    void (*later)(void *owner, px_write_group *write_group, uint32_t ms);
    /* Units, or a batch, have come into the queue or gone from it. */
    void (*moved)(void *owner, px_queue *queue);
    /* All that was to be told was told. */
    void (*wind_up)(void *owner);
} px_flight_ops;

/* The flights of one worker. */
typedef struct px_flights {
    px_worker *worker;
    const px_flight_ops *ops;
    void *owner;
    pgw_buf scratch;
} px_flights;

/* The functions of pools whose owner is a px_flights. */
extern const px_pool_ops px_flight_pool_ops;
/* Gives the pool's links to the queues that wait longest. */
void px_flight_dispatch(px_pool *pool);

#endif
