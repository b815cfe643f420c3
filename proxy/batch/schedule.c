#include "proxy/batch/schedule.h"

#include "proxy/backend/base/backend.h"
#include "proxy/base/shared.h"

#include <stdlib.h>

static uint64_t now_of(const px_schedule *schedule)
{
    return px_worker_now(schedule->worker);
}

static void on_timer(uv_timer_t *timer);

static uint64_t held_until(const px_queue *queue)
{
    return queue->waiting.first->arrived + queue->table->batch.wait_ms;
}

static void arm(px_schedule *schedule, uint64_t due)
{
    uint64_t now = now_of(schedule);
    uint64_t in = due > now ? due - now : 0;
    if (!uv_is_active((uv_handle_t *)schedule->timer) || uv_timer_get_due_in(schedule->timer) > in)
        uv_timer_start(schedule->timer, on_timer, in, 0);
}

static bool may_leave(const px_schedule *schedule, const px_queue *queue)
{
    bool any = !schedule->worker->server->backend->by_partition;
    return px_queue_may_leave(queue, now_of(schedule)) ||
           (any && px_queue_lane_may_leave(queue, now_of(schedule)));
}

static px_queue_state state_wanted(const px_schedule *schedule, const px_queue *queue)
{
    if (queue->flying > 0 && (queue->waiting.first == NULL || !may_leave(schedule, queue)))
        return PX_QUEUE_FLYING;
    if (queue->waiting.first == NULL)
        return PX_QUEUE_EMPTY;
    bool waits = queue->table->batch.wait_ms > 0 && now_of(schedule) < held_until(queue);
    return waits && !px_queue_is_full(queue) ? PX_QUEUE_HOLDING : PX_QUEUE_READY;
}

static void hold(px_schedule *schedule, px_queue *queue)
{
    queue->previous = NULL;
    queue->next = schedule->holding;
    if (queue->next != NULL)
        queue->next->previous = queue;
    schedule->holding = queue;
}

static void unhold(px_schedule *schedule, px_queue *queue)
{
    if (queue->previous != NULL)
        queue->previous->next = queue->next;
    else
        schedule->holding = queue->next;
    if (queue->next != NULL)
        queue->next->previous = queue->previous;
}

static void set_state(px_schedule *schedule, px_queue *queue, px_queue_state state)
{
    if (queue->state == PX_QUEUE_HOLDING)
        unhold(schedule, queue);
    if (queue->state == PX_QUEUE_READY)
        px_ready_remove(&queue->pool->ready, queue);
    queue->state = state;
    if (state == PX_QUEUE_HOLDING)
        hold(schedule, queue);
    if (state == PX_QUEUE_READY) {
        queue->ready_since = px_worker_clock(schedule->worker);
        px_ready_add(&queue->pool->ready, queue);
    }
    if (state == PX_QUEUE_EMPTY)
        queue->idle_since = now_of(schedule);
}

void px_schedule_place(px_schedule *schedule, px_queue *queue)
{
    px_queue_state state = state_wanted(schedule, queue);
    if (state != queue->state)
        set_state(schedule, queue, state);
    else if (state == PX_QUEUE_READY)
        px_ready_moved(&queue->pool->ready, queue);
    if (state == PX_QUEUE_HOLDING)
        arm(schedule, held_until(queue));
}

void px_schedule_flights(px_schedule *schedule, const px_pool *pool)
{
    for (const px_pool_link *link = pool->links; link != NULL; link = link->next)
        if (link->batch != NULL)
            px_schedule_place(schedule, link->batch->queue);
}

static void on_timer(uv_timer_t *timer)
{
    px_schedule *schedule = timer->data;
    for (px_queue *queue = schedule->holding, *next; queue != NULL; queue = next) {
        next = queue->next;
        px_schedule_place(schedule, queue);
    }
    schedule->due(schedule->owner);
}

void px_schedule_begin(px_schedule *schedule, px_worker *worker, void (*due)(void *owner),
                       void *owner)
{
    *schedule = (px_schedule){.worker = worker, .due = due, .owner = owner};
    schedule->timer = pgw_calloc(1, sizeof *schedule->timer);
    uv_timer_init(&worker->loop, schedule->timer);
    schedule->timer->data = schedule;
}

static void free_handle(uv_handle_t *handle)
{
    free(handle);
}

void px_schedule_end(px_schedule *schedule)
{
    uv_close((uv_handle_t *)schedule->timer, free_handle);
}
