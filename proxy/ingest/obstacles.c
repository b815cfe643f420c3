#include "proxy/ingest/obstacles.h"

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

bool px_obstacle_has_names(const px_standing *standing, const rw_insert *insert)
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

px_counter px_obstacle(const px_owner *owner, const px_standing *standing,
                       const px_identity *identity, const rw_insert *insert)
{
    if (standing->private_session || (standing->output_changed && insert->shows) ||
        is_hidden_from(standing, insert->table) || px_obstacle_has_names(standing, insert))
        return PX_UNBATCHED_SETTINGS;
    if (!identity->env.conforming || !is_plain(identity, insert))
        return PX_UNBATCHED_ENCODING;
    if (px_worker_now(owner->worker) < owner->slow_until)
        return PX_UNBATCHED_SLOW;
    return owner->rerouted ? PX_UNBATCHED_LOCK : PX_COUNTERS;
}

static px_counter reason_of(const px_owner *owner, const px_standing *standing,
                            const px_identity *identity, const rw_insert *insert)
{
    static const px_counter reasons[] = {
        [RW_OBSTACLE_RETURNING] = PX_UNBATCHED_RETURNING,
        [RW_OBSTACLE_SEQUENCE] = PX_UNBATCHED_SEQUENCE,
        [RW_OBSTACLE_TRIGGER] = PX_UNBATCHED_TRIGGER,
        [RW_OBSTACLE_EXPRESSION] = PX_UNBATCHED_EXPRESSION,
        [RW_OBSTACLE_UNCOMPUTABLE] = PX_UNBATCHED_UNCOMPUTABLE,
        [RW_OBSTACLE_FORM] = PX_UNBATCHED_FORM,
    };
    px_counter own = px_obstacle(owner, standing, identity, insert);
    if (insert->obstacle != RW_BATCHABLE)
        return reasons[insert->obstacle];
    if (own != PX_COUNTERS)
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
    px_count_request(worker->metrics, px_unit_table_counted(name.ptr, pattern),
                     px_map_count(worker, table), numbers, rows);
    free(numbers);
    pgw_buf_free(&name);
}

void px_obstacle_count_text(const px_owner *owner, const px_standing *standing, const px_text *text)
{
    px_metrics *metrics = owner->worker->metrics;
    for (size_t i = 0; i < text->script.count; i++) {
        const rw_insert *insert = text->script.statements[i].insert;
        if (insert == NULL || text->refusals[i] != NULL)
            continue;
        px_count(metrics, reason_of(owner, standing, standing->identity, insert), 1);
        count_rows(owner->worker, insert, text->keys[i]);
    }
}

void px_obstacle_count_bind(const px_owner *owner, const px_standing *standing, const px_plan *plan,
                            const px_bound *bound)
{
    px_metrics *metrics = owner->worker->metrics;
    if (plan->refusal != NULL)
        return;
    px_count(metrics, reason_of(owner, standing, plan->identity, plan->insert), 1);
    count_rows(owner->worker, plan->insert, bound->keys);
}
