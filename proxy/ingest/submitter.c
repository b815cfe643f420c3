#include "proxy/ingest/submitter.h"

#include "proxy/loop/stream.h"

#include <stdlib.h>

enum {
    ALONE_MS = 10000
}; /* how long write groups travel alone after a failed or slow one of their submitter */

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

void px_submitter_go_on(px_submitter *submitter)
{
    submitter->repeated = false;
    submitter->since = 0;
    submitter->locked_ms = 0;
}

void px_submitter_drop_statement(px_submitter *submitter)
{
    for (size_t i = 0; i < submitter->plan_count; i++)
        px_plan_drop(submitter->plans[i]);
    if (submitter->plan_count > 1)
        free(submitter->plans);
    submitter->plans = NULL;
    submitter->plan_count = 0;
    px_text_drop(submitter->text);
    submitter->text = NULL;
}

void px_submitter_add_plan(px_submitter *submitter, px_plan *plan)
{
    if (submitter->plan_count == 0) {
        submitter->plans = &submitter->lone;
    } else {
        px_plan **old = submitter->plan_count > 1 ? submitter->plans : NULL;
        submitter->plans = pgw_realloc(old, (submitter->plan_count + 1) * sizeof(px_plan *));
        submitter->plans[0] = old != NULL ? submitter->plans[0] : submitter->lone;
    }
    submitter->plans[submitter->plan_count++] = plan;
    px_plan_take(plan);
}

px_plan *px_outcome_plan(const px_submitter *submitter, const px_outcome *outcome, size_t i)
{
    size_t last = outcome->statement_count - 1;
    return submitter->plans[outcome->statements[i < last ? i : last].prepared];
}

void px_submitter_note_failure(px_submitter *submitter, const px_write_group *write_group)
{
    if (write_group->failure == PX_FAILED_BY_ERROR)
        submitter->failed_until = px_worker_now(submitter->worker) + ALONE_MS;
}

void px_submitter_note_locks(px_submitter *submitter, const px_write_group *write_group)
{
    if (write_group->locked_ms > submitter->locked_ms)
        submitter->locked_ms = write_group->locked_ms;
}

/* After a slow write group the submitter's next ones travel without company; if one of these is
 * slow, too, rows go over the own link, where they hold up no others. Later a write group is tried
 * alone again. */
void px_submitter_note_time(px_submitter *submitter, const px_write_group *write_group)
{
    uint64_t now = px_worker_now(submitter->worker);
    submitter->suspected = write_group->suspected;
    if (write_group->returned.len > PX_STREAM_HIGH)
        submitter->slow_until = now + ALONE_MS;
    if (!write_group->slow) {
        submitter->slow_before = submitter->slow_before && !write_group->send_alone;
        return;
    }
    if (submitter->slow_before)
        submitter->slow_until = now += ALONE_MS;
    submitter->slow_before = true;
    submitter->failed_until = now + ALONE_MS;
}
