#include "proxy/ingest/owner.h"

#include "proxy/loop/stream.h"

#include <stdlib.h>

enum {
    ALONE_MS = 10000
}; /* how long units travel alone after a failed or slow one of their owner */

/* The bytes of `whole` from `from` to `to`; an empty slice may have no memory at all. */
static pgw_slice part(pgw_slice whole, size_t from, size_t to)
{
    return to > from ? (pgw_slice){whole.ptr + from, to - from} : (pgw_slice){"", 0};
}

pgw_slice px_outcome_notices(const px_outcome *outcome, size_t i)
{
    size_t from = i > 0 ? outcome->statements[i - 1].noticed : 0;
    size_t to = i < outcome->completed ? outcome->statements[i].noticed : outcome->notices.len;
    return part(outcome->notices, from, to);
}

pgw_slice px_outcome_returned(const px_outcome *outcome, size_t i)
{
    size_t from = i > 0 ? outcome->statements[i - 1].returned : 0;
    size_t to = i < outcome->completed ? outcome->statements[i].returned : outcome->returned.len;
    return part(outcome->returned, from, to);
}

void px_owner_go_on(px_owner *owner)
{
    owner->repeated = false;
    owner->since = 0;
    owner->locked_ms = 0;
}

void px_owner_drop_statement(px_owner *owner)
{
    for (size_t i = 0; i < owner->plan_count; i++)
        px_plan_drop(owner->plans[i]);
    if (owner->plan_count > 1)
        free(owner->plans);
    owner->plans = NULL;
    owner->plan_count = 0;
    px_text_drop(owner->text);
    owner->text = NULL;
}

void px_owner_add_plan(px_owner *owner, px_plan *plan)
{
    if (owner->plan_count == 0) {
        owner->plans = &owner->lone;
    } else {
        px_plan **old = owner->plan_count > 1 ? owner->plans : NULL;
        owner->plans = pgw_realloc(old, (owner->plan_count + 1) * sizeof(px_plan *));
        owner->plans[0] = old != NULL ? owner->plans[0] : owner->lone;
    }
    owner->plans[owner->plan_count++] = plan;
    px_plan_take(plan);
}

px_plan *px_outcome_plan(const px_owner *owner, const px_outcome *outcome, size_t i)
{
    size_t last = outcome->statement_count - 1;
    return owner->plans[outcome->statements[i < last ? i : last].prepared];
}

void px_owner_note_failure(px_owner *owner, const px_unit *unit)
{
    if (unit->failure == PX_FAILED_BY_ERROR)
        owner->failed_until = px_worker_now(owner->worker) + ALONE_MS;
}

void px_owner_note_locks(px_owner *owner, const px_unit *unit)
{
    if (unit->locked_ms > owner->locked_ms)
        owner->locked_ms = unit->locked_ms;
}

/* After a slow unit the owner's next ones travel without company; if one of these is slow, too,
 * rows go over the own link, where they hold up no others. Later a unit is tried alone again. */
void px_owner_note_time(px_owner *owner, const px_unit *unit)
{
    uint64_t now = px_worker_now(owner->worker);
    owner->suspected = unit->suspected;
    if (unit->returned.len > PX_STREAM_HIGH)
        owner->slow_until = now + ALONE_MS;
    if (!unit->slow) {
        owner->slow_before = owner->slow_before && !unit->send_alone;
        return;
    }
    if (owner->slow_before)
        owner->slow_until = now += ALONE_MS;
    owner->slow_before = true;
    owner->failed_until = now + ALONE_MS;
}
