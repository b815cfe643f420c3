#include "proxy/ingest/blockers.h"

#include "protocol/utf8.h"
#include "proxy/backend/places/maps.h"
#include "rewrite/insert/key.h"

#include <stdlib.h>

/* Whether what is stored in `table` may depend on a setting that keyspread cannot follow: one with
 * a dot in its name, which no list shows. */
static bool is_hidden_from(const px_standing *standing, const rw_table *table)
{
    const unsigned hidden =
        RW_EFFECT_SETTINGS | RW_EFFECT_CALLS | RW_EFFECT_OUTPUT | RW_EFFECT_STATE;
    const unsigned stored = RW_EFFECT_RUNS | RW_EFFECT_READS;
    return table->reads_settings && (standing->touched & (hidden | (stored & ~table->quiet))) != 0;
}

bool px_blocker_has_names(const px_standing *standing, const rw_insert *insert)
{
    const unsigned named = RW_EFFECT_SETTINGS | RW_EFFECT_NAMES | RW_EFFECT_CALLS | RW_EFFECT_STATE;
    const unsigned stored = RW_EFFECT_RUNS | RW_EFFECT_READS;
    unsigned naming = named | (stored & ~insert->table->quiet);
    return insert->reads_names && (standing->touched & naming) != 0;
}

/* Whether a batch link reads the statement's bytes as the session's own link does. */
static bool is_plain(const px_identity *identity, const rw_insert *insert)
{
    return identity->env.utf8 || (identity->ascii && pgw_is_ascii(insert->text));
}

px_counter px_blocker(const px_submitter *submitter, const px_standing *standing,
                      const px_identity *identity, const rw_insert *insert)
{
    if (standing->private_session || (standing->output_changed && insert->shows) ||
        is_hidden_from(standing, insert->table) || px_blocker_has_names(standing, insert))
        return PX_UNBATCHED_SETTINGS;
    if (!identity->env.conforming || !is_plain(identity, insert))
        return PX_UNBATCHED_ENCODING;
    if (px_worker_now(submitter->worker) < submitter->slow_until)
        return PX_UNBATCHED_SLOW;
    return submitter->rerouted ? PX_UNBATCHED_LOCK : PX_NO_BLOCKER;
}

static px_counter reason_of(const px_submitter *submitter, const px_standing *standing,
                            const px_identity *identity, const rw_insert *insert)
{
    static const px_counter reasons[] = {
        [RW_BLOCKER_RETURNING] = PX_UNBATCHED_RETURNING,
        [RW_BLOCKER_SEQUENCE] = PX_UNBATCHED_SEQUENCE,
        [RW_BLOCKER_TRIGGER] = PX_UNBATCHED_TRIGGER,
        [RW_BLOCKER_EXPRESSION] = PX_UNBATCHED_EXPRESSION,
        [RW_BLOCKER_UNCOMPUTABLE] = PX_UNBATCHED_UNCOMPUTABLE,
        [RW_BLOCKER_FORM] = PX_UNBATCHED_FORM,
    };
    px_counter own = px_blocker(submitter, standing, identity, insert);
    if (insert->blocker != RW_BATCHABLE)
        return reasons[insert->blocker];
    if (own != PX_NO_BLOCKER)
        return own;
    return standing->in_transaction ? PX_UNBATCHED_TRANSACTION : PX_UNBATCHED_GROUP;
}

/* Counts the INSERT's rows by the partitions they go to. `keys` NULL: nothing is known of the
 * rows. */
static void count_rows(const px_worker *worker, const rw_insert *insert, const rw_key *keys)
{
    if (keys == NULL)
        return;
    const rw_table *table = insert->table;
    const cfg_table *pattern =
        table->by_pattern ? cfg_find_pattern(worker->config, table->schema, table->name) : NULL;
    pgw_buf name = {0};
    pgw_buf_addf(&name, "%s.%s", table->schema, table->name);
    pgw_buf_add_byte(&name, '\0');
    uint32_t *numbers = pgw_alloc(insert->row_count * sizeof *numbers);
    size_t rows = 0;
    for (size_t r = 0; r < insert->row_count; r++)
        if (!insert->rows[r].superseded)
            numbers[rows++] = keys[r].partition;
    px_count_request(worker->metrics, px_write_group_table_counted(name.ptr, pattern),
                     px_map_count(worker, table), numbers, rows);
    free(numbers);
    pgw_buf_free(&name);
}

void px_blocker_count_text(const px_submitter *submitter, const px_standing *standing,
                           const px_text *text)
{
    px_metrics *metrics = submitter->worker->metrics;
    for (size_t i = 0; i < text->script.count; i++) {
        const rw_insert *insert = text->script.statements[i].insert;
        if (insert == NULL || text->refusals[i] != NULL)
            continue;
        px_count(metrics, reason_of(submitter, standing, standing->identity, insert), 1);
        count_rows(submitter->worker, insert, text->keys[i]);
    }
}

void px_blocker_count_bind(const px_submitter *submitter, const px_standing *standing,
                           const px_plan *plan, const px_bound *bound)
{
    px_metrics *metrics = submitter->worker->metrics;
    if (plan->refusal != NULL)
        return;
    px_count(metrics, reason_of(submitter, standing, plan->identity, plan->insert), 1);
    count_rows(submitter->worker, plan->insert, bound->keys);
}
