/*
 * schedule: where each queue of a worker stands: empty, held until its first unit has waited for
 * wait_ms, ready for a link of its pool, or under way.
 */
#ifndef PX_SCHEDULE_H
#define PX_SCHEDULE_H

#include "proxy/batch/pool.h"

typedef struct px_schedule {
    px_worker *worker;
    px_queue *holding; /* for wait_ms */
    uv_timer_t *timer;
    void (*due)(void *owner);
    void *owner;
} px_schedule;

/* `due`: some queues were held long enough, and are ready now. */
void px_schedule_begin(px_schedule *schedule, px_worker *worker, void (*due)(void *owner),
                       void *owner);
/* Its timer goes; nothing else of it is there. */
void px_schedule_end(px_schedule *schedule);
/* Puts the queue where it belongs now. */
void px_schedule_place(px_schedule *schedule, px_queue *queue);
/* … each of which the pool has a batch under way: behind one that takes long, another may leave. */
void px_schedule_flights(px_schedule *schedule, const px_pool *pool);

#endif
