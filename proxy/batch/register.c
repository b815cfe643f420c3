#include "proxy/batch/register.h"

#include "proxy/base/log.h"
#include "proxy/base/shared.h"
#include "proxy/loop/worker.h"

#include <inttypes.h>
#include <stdlib.h>

/* Units that were submitted and not delivered, and what they weigh. */
static _Atomic uint64_t write_groups_under_way, bytes_under_way;

/* ---- the register ---- */

static px_write_group **slot_of(const px_register *home, uint64_t ticket)
{
    uint64_t mixed = ticket * UINT64_C(0x9e3779b97f4a7c15);
    return &home->slots[(mixed >> 32) & (home->slot_count - 1)];
}

static void grow(px_register *home)
{
    px_write_group **old = home->slots;
    size_t old_count = home->slot_count;
    home->slot_count = old_count == 0 ? 64 : 2 * old_count;
    home->slots = pgw_calloc(home->slot_count, sizeof *home->slots);
    for (size_t i = 0; i < old_count; i++)
        for (px_write_group *write_group = old[i], *next; write_group != NULL; write_group = next) {
            next = write_group->registered;
            px_write_group **slot = slot_of(home, write_group->ticket);
            write_group->registered = *slot;
            *slot = write_group;
        }
    free(old);
}

void px_register_add(px_register *home, px_write_group *write_group)
{
    if (home->count >= home->slot_count)
        grow(home);
    px_write_group **slot = slot_of(home, write_group->ticket);
    write_group->registered = *slot;
    *slot = write_group;
    home->count++;
    write_group->submitted = px_worker_clock(home->worker);
    atomic_fetch_add_explicit(&bytes_under_way, write_group->bytes, memory_order_relaxed);
    atomic_fetch_add(&write_groups_under_way, 1);
}

/* The write group that `write group` points to may have been freed. */
px_write_group *px_register_find(const px_register *home, const px_write_group *write_group,
                                 uint64_t ticket)
{
    if (home->slot_count == 0)
        return NULL;
    px_write_group *found = *slot_of(home, ticket);
    while (found != NULL && (found != write_group || found->ticket != ticket))
        found = found->registered;
    return found;
}

static void unregister(px_register *home, px_write_group *write_group)
{
    px_write_group **at = slot_of(home, write_group->ticket);
    while (*at != write_group)
        at = &(*at)->registered;
    *at = write_group->registered;
    home->count--;
    atomic_fetch_sub_explicit(&bytes_under_way, write_group->bytes, memory_order_relaxed);
}

static void count_outcome(px_worker *home, const px_write_group *write_group)
{
    static const px_counter failures[] = {
        [PX_FAILED_BY_ERROR] = PX_WRITE_GROUPS_FAILED,
        [PX_FAILED_UNSENT] = PX_WRITE_GROUPS_FAILED,
        [PX_FAILED_UNKNOWN] = PX_WRITE_GROUPS_UNKNOWN,
        [PX_FAILED_EXPIRED] = PX_WRITE_GROUPS_EXPIRED,
        [PX_FAILED_WITHDRAWN] = PX_WRITE_GROUPS_WITHDRAWN,
    };
    px_metrics *metrics = home->metrics;
    px_observe(metrics, PX_WRITE_GROUP_DURATION, px_worker_clock(home) - write_group->submitted);
    switch (write_group->outcome) {
    case PX_WRITE_GROUP_COMMITTED:
        px_count(metrics, PX_WRITE_GROUPS_COMMITTED, 1);
        px_count(metrics, PX_BATCHED_STATEMENTS, write_group->statement_count);
        px_count(metrics, PX_BATCHED_ROWS, write_group->row_count);
        break;
    case PX_WRITE_GROUP_FAILED:
        px_count(metrics, failures[write_group->failure], 1);
        break;
    case PX_WRITE_GROUP_REROUTED:
        px_count(metrics, PX_WRITE_GROUPS_REROUTED, 1);
        break;
    }
}

void px_register_deliver(px_register *home, px_write_group *write_group)
{
    if (write_group->pins > 0) {
        write_group->came_back = true;
        return;
    }
    unregister(home, write_group);
    count_outcome(home->worker, write_group);
    write_group->done(write_group);
    atomic_fetch_sub(&write_groups_under_way, 1);
}

void px_register_free(px_register *home)
{
    free(home->slots);
    home->slots = NULL;
}

bool px_register_has_room(const px_worker *worker)
{
    return atomic_load_explicit(&bytes_under_way, memory_order_relaxed) <
           worker->config->limits.queue_bytes;
}

bool px_register_may_keep(const px_worker *worker)
{
    return px_register_bytes() < worker->config->limits.queue_bytes / 2;
}

void px_register_keep(size_t bytes)
{
    atomic_fetch_add_explicit(&bytes_under_way, bytes, memory_order_relaxed);
}

void px_register_let_go(size_t bytes)
{
    atomic_fetch_sub_explicit(&bytes_under_way, bytes, memory_order_relaxed);
}

uint64_t px_register_bytes(void)
{
    return atomic_load_explicit(&bytes_under_way, memory_order_relaxed);
}

bool px_register_all_idle(void)
{
    return atomic_load(&write_groups_under_way) == 0;
}

/* ---- totals ---- */

static uint64_t sum_of(const px_metrics *sum, px_counter first, px_counter last)
{
    uint64_t total = 0;
    for (px_counter i = first; i <= last; i++)
        total += px_number_get(&sum->counters[i]);
    return total;
}

static uint64_t count_of(const px_metrics *sum, px_counter counter)
{
    return px_number_get(&sum->counters[counter]);
}

void px_register_log_totals(const px_server *server)
{
    px_metrics *sum = px_metrics_new(server->metrics);
    for (unsigned i = 0; i < server->worker_count; i++)
        px_metrics_add(sum, server->workers[i].metrics);
    uint64_t batches = 0, rows = px_number_get(&sum->sums[PX_BATCH_ROWS]);
    for (size_t i = 0; i <= PX_BUCKETS; i++)
        batches += px_number_get(&sum->buckets[PX_BATCH_ROWS][i]);
    double average = batches == 0 ? 0 : (double)rows / (double)batches;
    px_log(CFG_LOG_INFO, "batches",
           "batches=%" PRIu64 " rows=%" PRIu64 " units=%" PRIu64 " rows_per_batch=%.1f"
           " committed=%" PRIu64 " failed=%" PRIu64 " unknown=%" PRIu64 " repeated=%" PRIu64
           " rerouted=%" PRIu64 " expired=%" PRIu64 " withdrawn=%" PRIu64 " notices=%" PRIu64,
           batches, rows, sum_of(sum, PX_WRITE_GROUPS_COMMITTED, PX_WRITE_GROUPS_WITHDRAWN),
           average, count_of(sum, PX_WRITE_GROUPS_COMMITTED),
           sum_of(sum, PX_WRITE_GROUPS_FAILED, PX_WRITE_GROUPS_WITHDRAWN),
           count_of(sum, PX_WRITE_GROUPS_UNKNOWN), count_of(sum, PX_WRITE_GROUPS_REPEATED),
           count_of(sum, PX_WRITE_GROUPS_REROUTED), count_of(sum, PX_WRITE_GROUPS_EXPIRED),
           count_of(sum, PX_WRITE_GROUPS_WITHDRAWN), count_of(sum, PX_NOTICES_DROPPED));
    px_metrics_free(sum);
}
