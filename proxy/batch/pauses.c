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

/* Goes from the last write group to the first: each is put in front of its queue, so they keep
 * their order. */
static void on_timer(uv_timer_t *timer)
{
    px_pauses *pauses = timer->data;
    for (px_write_group *write_group = pauses->write_groups.last, *previous; write_group != NULL;
         write_group = previous) {
        previous = write_group->previous;
        if (write_group->again_at > px_worker_now(pauses->worker)) {
            arm(pauses, write_group->again_at);
            continue;
        }
        px_pauses_remove(pauses, write_group);
        pauses->ops->over(pauses->owner, write_group);
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

void px_pauses_add(px_pauses *pauses, px_write_group *write_group, uint32_t ms)
{
    write_group->again_at = px_worker_now(pauses->worker) + ms;
    px_write_group_chain_add(&pauses->write_groups, write_group);
    arm(pauses, write_group->again_at);
}

void px_pauses_remove(px_pauses *pauses, px_write_group *write_group)
{
    px_write_group_chain_remove(&pauses->write_groups, write_group);
}
