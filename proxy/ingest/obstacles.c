#include "proxy/ingest/obstacles.h"

#include <stdlib.h>

px_counter px_session_obstacle(const px_session *session, const px_identity *identity,
                               const rw_insert *insert)
{
    if (session->private_session || (session->output_changed && insert->shows) ||
        px_state_hides(session, insert->table))
        return PX_UNBATCHED_SETTINGS;
    if (!identity->env.utf8 || !identity->env.conforming)
        return PX_UNBATCHED_ENCODING;
    if (px_worker_now(session->worker) < session->slow_until)
        return PX_UNBATCHED_SLOW;
    return session->rerouted ? PX_UNBATCHED_LOCK : PX_COUNTERS;
}

static px_counter reason_of(const px_session *session, const px_identity *identity,
                            const rw_insert *insert)
{
    static const px_counter reasons[] = {
        [RW_OBSTACLE_RETURNING] = PX_UNBATCHED_RETURNING,
        [RW_OBSTACLE_SEQUENCE] = PX_UNBATCHED_SEQUENCE,
        [RW_OBSTACLE_TRIGGER] = PX_UNBATCHED_TRIGGER,
        [RW_OBSTACLE_EXPRESSION] = PX_UNBATCHED_EXPRESSION,
        [RW_OBSTACLE_UNCOMPUTABLE] = PX_UNBATCHED_UNCOMPUTABLE,
        [RW_OBSTACLE_FORM] = PX_UNBATCHED_FORM,
    };
    px_counter own = px_session_obstacle(session, identity, insert);
    if (insert->obstacle != RW_BATCHABLE)
        return reasons[insert->obstacle];
    if (own != PX_COUNTERS)
        return own;
    return session->status != 'I' ? PX_UNBATCHED_TRANSACTION : PX_UNBATCHED_GROUP;
}

/* `keys` may be NULL: nothing is known of the rows. */
static void count(px_session *session, const px_identity *identity, const rw_insert *insert,
                  const rw_key *keys)
{
    px_metrics *metrics = session->worker->metrics;
    px_count(metrics, reason_of(session, identity, insert), 1);
    if (keys == NULL)
        return;
    const rw_table *table = insert->table;
    pgw_buf name = {0};
    pgw_buf_addf(&name, "%s.%s", table->schema, table->name);
    pgw_buf_add_byte(&name, '\0');
    uint32_t *numbers = pgw_alloc(insert->row_count * sizeof *numbers);
    size_t rows = 0;
    for (size_t r = 0; r < insert->row_count; r++)
        if (!insert->rows[r].superseded)
            numbers[rows++] = keys[r].partition;
    px_count_request(metrics, name.ptr, table->partitions.count, numbers, rows);
    free(numbers);
    pgw_buf_free(&name);
}

void px_count_unbatched_text(px_session *session, const px_text *text)
{
    for (size_t i = 0; i < text->script.count; i++)
        if (text->script.statements[i].insert != NULL && text->refusals[i] == NULL)
            count(session, session->identity, text->script.statements[i].insert, text->keys[i]);
}

void px_count_unbatched_bind(px_session *session, const px_plan *plan, const px_bound *bound)
{
    if (plan->refusal == NULL)
        count(session, plan->identity, plan->insert, bound->keys);
}
