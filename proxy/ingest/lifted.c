#include "proxy/ingest/lifted.h"

#include "proxy/ingest/plan_cache.h"
#include "proxy/ingest/write_groups.h"
#include "rewrite/insert/lift.h"
#include "rewrite/insert/parse.h"

/* Whether the text is worth a plan: those that differ in more than lifted values, as in a comment,
 * would fill the caches of keyspread and of the server. */
static bool came_before(px_plan_cache *cache, px_plan_id id)
{
    uint64_t *seen = &cache->seen[id.high % PX_PLANS_SEEN];
    bool before = *seen == id.low;
    *seen = id.low;
    return before;
}

/* The statement with parameters, or NULL. Counted. */
static px_plan *plan_of(pgw_slice lifted, const px_text *text, px_identity *identity)
{
    const rw_insert *like = text->script.statements[0].insert;
    const rw_meaning ours = RW_MEANS_OURS;
    const rw_catalog view = {.tables = &like->table, .count = 1, .unqualified = &ours};
    pgw_arena arena = {0};
    rw_insert *insert = NULL;
    pgw_error error;
    bool good = rw_insert_parse(pgw_arena_copy(&arena, lifted), &view, &identity->env, &arena,
                                &insert, &error);
    if (good && insert != NULL && insert->param_count == like->lift_count)
        return px_plan_new(arena, insert, text->catalog, identity, (px_declared){NULL, 0}, &error);
    pgw_arena_free(&arena);
    return NULL;
}

/* The plan for the lifted text, not counted; NULL: there is none. */
static px_plan *plan_for(px_worker *worker, pgw_slice lifted, const px_text *text,
                         px_identity *identity)
{
    /* No client declares such types. The oid is there because names may mean other tables. */
    const uint32_t mark[] = {UINT32_MAX, text->script.statements[0].insert->table->oid};
    px_plan_id id = px_plan_id_of(lifted, mark, 2, identity, text->catalog);
    px_plan *plan = px_plan_find(worker->plans, id);
    if (plan != NULL || !came_before(worker->plans, id))
        return plan;
    plan = plan_of(lifted, text, identity);
    if (plan != NULL)
        px_plan_remember(worker->plans, id, plan);
    px_plan_drop(plan);
    return px_plan_find(worker->plans, id);
}

/* The row's values where they stand in the text, and its hash behind them. */
static px_write_group_lifted values_of(const px_plan *plan, const px_text *text, pgw_arena *arena)
{
    const rw_insert *insert = text->script.statements[0].insert;
    size_t count = insert->lift_count;
    pgw_slice *values = pgw_arena_alloc(arena, (count + 1) * sizeof *values);
    for (size_t i = 0; i < count; i++)
        if (!insert->lifts[i].null)
            values[i] = insert->lifts[i].value;
    pgw_buf hash = {0};
    pgw_buf_add_decimal(&hash, (int64_t)text->hashes[0][0]);
    if (plan->form == RW_HASH_PARAMETER)
        values[count++] = pgw_arena_copy(arena, pgw_slice_buf(&hash));
    pgw_buf_free(&hash);
    return (px_write_group_lifted){values, count, .returns = insert->returning > 0};
}

/* Whether there is a statement of one row, all of which may be lifted, and a guard in it for the
 * types that it is then of. */
static bool may_be_lifted(const px_text *text)
{
    const rw_insert *insert = text->script.statements[0].insert;
    return text->script.count == 1 && insert->row_count == 1 && insert->lifts != NULL &&
           insert->table->oid != 0;
}

const px_plan *px_lift(px_worker *worker, const px_text *text, px_write_group *write_group)
{
    if (!may_be_lifted(text))
        return NULL;
    const rw_insert *insert = text->script.statements[0].insert;
    pgw_buf lifted = {0};
    rw_lift_text(insert, &lifted);
    px_plan *plan = plan_for(worker, pgw_slice_buf(&lifted), text, write_group->identity);
    if (plan != NULL) {
        px_write_group_prepare(write_group, plan);
        write_group->lifted = values_of(plan, text, &write_group->arena);
    }
    pgw_buf_free(&lifted);
    return plan;
}
