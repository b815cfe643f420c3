#include "proxy/batcher_parts.h"

#include "proxy/log.h"

#include <inttypes.h>
#include <stdlib.h>

px_batch_counters px_batch_totals;

/* Units that were submitted and not delivered, and what they weigh. */
static _Atomic uint64_t units_under_way, bytes_under_way;

/* ---- the register ---- */

static px_unit **slot_of(const px_batcher *home, uint64_t ticket)
{
    uint64_t mixed = ticket * UINT64_C(0x9e3779b97f4a7c15);
    return &home->registered[(mixed >> 32) & (home->registered_slots - 1)];
}

static void grow(px_batcher *home)
{
    px_unit **old = home->registered;
    size_t old_slots = home->registered_slots;
    home->registered_slots = old_slots == 0 ? 64 : 2 * old_slots;
    home->registered = pgw_calloc(home->registered_slots, sizeof *home->registered);
    for (size_t i = 0; i < old_slots; i++)
        for (px_unit *unit = old[i], *next; unit != NULL; unit = next) {
            next = unit->registered;
            px_unit **slot = slot_of(home, unit->ticket);
            unit->registered = *slot;
            *slot = unit;
        }
    free(old);
}

void px_home_register(px_batcher *home, px_unit *unit)
{
    if (home->registered_count >= home->registered_slots)
        grow(home);
    px_unit **slot = slot_of(home, unit->ticket);
    unit->registered = *slot;
    *slot = unit;
    home->registered_count++;
    px_count(&px_batch_totals.units, 1);
    px_count(&bytes_under_way, unit->bytes);
    atomic_fetch_add(&units_under_way, 1);
}

/* `unit` may be a pointer to nothing any more: it is compared only. */
px_unit *px_home_find(const px_batcher *home, const px_unit *unit, uint64_t ticket)
{
    if (home->registered_slots == 0)
        return NULL;
    px_unit *found = *slot_of(home, ticket);
    while (found != NULL && (found != unit || found->ticket != ticket))
        found = found->registered;
    return found;
}

static void unregister(px_batcher *home, px_unit *unit)
{
    px_unit **at = slot_of(home, unit->ticket);
    while (*at != unit)
        at = &(*at)->registered;
    *at = unit->registered;
    home->registered_count--;
    atomic_fetch_sub_explicit(&bytes_under_way, unit->bytes, memory_order_relaxed);
}

static void count_outcome(const px_unit *unit)
{
    switch (unit->outcome) {
    case PX_UNIT_COMMITTED:
        px_count(&px_batch_totals.committed, 1);
        break;
    case PX_UNIT_FAILED:
        px_count(&px_batch_totals.failed, 1);
        break;
    case PX_UNIT_REROUTED:
        px_count(&px_batch_totals.rerouted, 1);
        break;
    }
}

void px_home_deliver(px_batcher *home, px_unit *unit)
{
    if (unit->pins > 0) {
        unit->came_back = true;
        return;
    }
    unregister(home, unit);
    count_outcome(unit);
    unit->done(unit);
    atomic_fetch_sub(&units_under_way, 1);
}

bool px_batcher_has_room(const px_worker *worker)
{
    return atomic_load_explicit(&bytes_under_way, memory_order_relaxed) <
           worker->config->limits.queue_bytes;
}

bool px_batcher_all_idle(void)
{
    return atomic_load(&units_under_way) == 0;
}

/* ---- totals ---- */

void px_batcher_log_totals(void)
{
    const px_batch_counters *c = &px_batch_totals;
    uint64_t batches = c->batches, rows = c->rows;
    double average = batches == 0 ? 0 : (double)rows / (double)batches;
    px_log(CFG_LOG_INFO, "batches",
           "batches=%" PRIu64 " rows=%" PRIu64 " units=%" PRIu64 " rows_per_batch=%.1f"
           " committed=%" PRIu64 " failed=%" PRIu64 " unknown=%" PRIu64 " repeated=%" PRIu64
           " rerouted=%" PRIu64 " expired=%" PRIu64 " withdrawn=%" PRIu64 " notices=%" PRIu64,
           batches, rows, (uint64_t)c->units, average, (uint64_t)c->committed, (uint64_t)c->failed,
           (uint64_t)c->unknown, (uint64_t)c->repeated, (uint64_t)c->rerouted, (uint64_t)c->expired,
           (uint64_t)c->withdrawn, (uint64_t)c->notices);
}
