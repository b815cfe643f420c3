/*
 * schedule: where each queue of a worker stands: empty, held until its first write group has waited
 * for wait_ms, ready for a link of its pool, or under way.
 */
#ifndef PX_SCHEDULE_H
#define PX_SCHEDULE_H

#include "proxy/batch/pool.h"

typedef struct px_schedule {
    px_worker *worker;
    px_queue *holding; /* queues whose first write group waits for wait_ms */
    uv_timer_t *timer;
    void (*due)(void *owner);
    void *owner;
} px_schedule;

/* `due`: some queues were held long enough, and are ready now. */
void px_schedule_begin(px_schedule *schedule, px_worker *worker, void (*due)(void *owner),
                       void *owner);
/* Closes the timer, which is all that a schedule owns. */
void px_schedule_end(px_schedule *schedule);
/* Puts the queue where it belongs now. */
void px_schedule_place(px_schedule *schedule, px_queue *queue);
/* Places queues with a batch under way in the pool: behind a slow batch another may leave. */
void px_schedule_flights(px_schedule *schedule, const px_pool *pool);

#endif
