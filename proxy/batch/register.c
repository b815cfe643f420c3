#include "proxy/batch/register.h"

#include "proxy/base/log.h"
#include "proxy/base/shared.h"
#include "proxy/loop/worker.h"

#include <inttypes.h>
#include <stdlib.h>

/* Units that were submitted and not delivered, and what they weigh. */
static _Atomic uint64_t units_under_way, bytes_under_way;

/* ---- the register ---- */

static px_unit **slot_of(const px_register *home, uint64_t ticket)
{
    uint64_t mixed = ticket * UINT64_C(0x9e3779b97f4a7c15);
    return &home->slots[(mixed >> 32) & (home->slot_count - 1)];
}

static void grow(px_register *home)
{
    px_unit **old = home->slots;
    size_t old_count = home->slot_count;
    home->slot_count = old_count == 0 ? 64 : 2 * old_count;
    home->slots = pgw_calloc(home->slot_count, sizeof *home->slots);
    for (size_t i = 0; i < old_count; i++)
        for (px_unit *unit = old[i], *next; unit != NULL; unit = next) {
            next = unit->registered;
            px_unit **slot = slot_of(home, unit->ticket);
            unit->registered = *slot;
            *slot = unit;
        }
    free(old);
}

void px_register_add(px_register *home, px_unit *unit)
{
    if (home->count >= home->slot_count)
        grow(home);
    px_unit **slot = slot_of(home, unit->ticket);
    unit->registered = *slot;
    *slot = unit;
    home->count++;
    unit->submitted = px_worker_clock(home->worker);
    atomic_fetch_add_explicit(&bytes_under_way, unit->bytes, memory_order_relaxed);
    atomic_fetch_add(&units_under_way, 1);
}

/* The unit that `unit` points to may have been freed. */
px_unit *px_register_find(const px_register *home, const px_unit *unit, uint64_t ticket)
{
    if (home->slot_count == 0)
        return NULL;
    px_unit *found = *slot_of(home, ticket);
    while (found != NULL && (found != unit || found->ticket != ticket))
        found = found->registered;
    return found;
}

static void unregister(px_register *home, px_unit *unit)
{
    px_unit **at = slot_of(home, unit->ticket);
    while (*at != unit)
        at = &(*at)->registered;
    *at = unit->registered;
    home->count--;
    atomic_fetch_sub_explicit(&bytes_under_way, unit->bytes, memory_order_relaxed);
}

static void count_outcome(px_worker *home, const px_unit *unit)
{
    static const px_counter failures[] = {
        [PX_FAILED_BY_ERROR] = PX_UNITS_FAILED,     [PX_FAILED_UNSENT] = PX_UNITS_FAILED,
        [PX_FAILED_UNKNOWN] = PX_UNITS_UNKNOWN,     [PX_FAILED_EXPIRED] = PX_UNITS_EXPIRED,
        [PX_FAILED_WITHDRAWN] = PX_UNITS_WITHDRAWN,
    };
    px_metrics *metrics = home->metrics;
    px_observe(metrics, PX_UNIT_DURATION, px_worker_clock(home) - unit->submitted);
    switch (unit->outcome) {
    case PX_UNIT_COMMITTED:
        px_count(metrics, PX_UNITS_COMMITTED, 1);
        px_count(metrics, PX_BATCHED_STATEMENTS, unit->statement_count);
        px_count(metrics, PX_BATCHED_ROWS, unit->row_count);
        break;
    case PX_UNIT_FAILED:
        px_count(metrics, failures[unit->failure], 1);
        break;
    case PX_UNIT_REROUTED:
        px_count(metrics, PX_UNITS_REROUTED, 1);
        break;
    }
}

void px_register_deliver(px_register *home, px_unit *unit)
{
    if (unit->pins > 0) {
        unit->came_back = true;
        return;
    }
    unregister(home, unit);
    count_outcome(home->worker, unit);
    unit->done(unit);
    atomic_fetch_sub(&units_under_way, 1);
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
    return atomic_load(&units_under_way) == 0;
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
           batches, rows, sum_of(sum, PX_UNITS_COMMITTED, PX_UNITS_WITHDRAWN), average,
           count_of(sum, PX_UNITS_COMMITTED), sum_of(sum, PX_UNITS_FAILED, PX_UNITS_WITHDRAWN),
           count_of(sum, PX_UNITS_UNKNOWN), count_of(sum, PX_UNITS_REPEATED),
           count_of(sum, PX_UNITS_REROUTED), count_of(sum, PX_UNITS_EXPIRED),
           count_of(sum, PX_UNITS_WITHDRAWN), count_of(sum, PX_NOTICES_DROPPED));
    px_metrics_free(sum);
}
