#include "proxy/batch/pauses.h"

#include <stdlib.h>

static void on_timer(uv_timer_t *timer);

static void arm(px_pauses *pauses, uint64_t due)
{
    uint64_t now = px_worker_now(pauses->worker);
    uint64_t in = due > now ? due - now : 0;
    if (!uv_is_active((uv_handle_t *)pauses->timer) || uv_timer_get_due_in(pauses->timer) > in)
        uv_timer_start(pauses->timer, on_timer, in, 0);
}

/* Goes from the last unit to the first: each is put in front of its queue, so they keep their
 * order. */
static void on_timer(uv_timer_t *timer)
{
    px_pauses *pauses = timer->data;
    for (px_unit *unit = pauses->units.last, *previous; unit != NULL; unit = previous) {
        previous = unit->previous;
        if (unit->again_at > px_worker_now(pauses->worker)) {
            arm(pauses, unit->again_at);
            continue;
        }
        px_pauses_remove(pauses, unit);
        pauses->ops->over(pauses->owner, unit);
    }
    pauses->ops->due(pauses->owner);
}

void px_pauses_begin(px_pauses *pauses, px_worker *worker, const px_pauses_ops *ops, void *owner)
{
    *pauses = (px_pauses){.worker = worker, .ops = ops, .owner = owner};
    pauses->timer = pgw_calloc(1, sizeof *pauses->timer);
    uv_timer_init(&worker->loop, pauses->timer);
    pauses->timer->data = pauses;
}

static void free_handle(uv_handle_t *handle)
{
    free(handle);
}

void px_pauses_end(px_pauses *pauses)
{
    uv_close((uv_handle_t *)pauses->timer, free_handle);
}

void px_pauses_add(px_pauses *pauses, px_unit *unit, uint32_t ms)
{
    unit->again_at = px_worker_now(pauses->worker) + ms;
    px_unit_chain_add(&pauses->units, unit);
    arm(pauses, unit->again_at);
}

void px_pauses_remove(px_pauses *pauses, px_unit *unit)
{
    px_unit_chain_remove(&pauses->units, unit);
}
