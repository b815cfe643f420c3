#include "proxy/client/prepared/passthrough_renew.h"

#include "proxy/client/link/schema_probe.h"
#include "proxy/client/link/sync_state.h"
#include "proxy/client/standing/dirty.h"
#include "proxy/client/standing/passthrough_writes.h"
#include "proxy/ingest/plan_cache.h"
#include "rewrite/statement/script/script.h"

/* The statement's text; NULL: it was not kept. */
static pgw_slice text_of(const px_statement *statement)
{
    if (statement == NULL)
        return (pgw_slice){NULL, 0};
    if (statement->prepare.len > 0)
        return pgw_slice_buf(&statement->prepare);
    if (statement->lookups != NULL)
        return statement->lookups->text;
    return px_statements_kept_text(&statement->parse);
}

static bool sets_same(const px_passthrough *passthrough, const rw_statement *statement)
{
    bool same = statement->same_count == passthrough->same_count;
    for (size_t i = 0; same && i < passthrough->same_count; i++)
        same = statement->same[i].set == passthrough->same[i].set &&
               statement->same[i].where == passthrough->same[i].where &&
               statement->same[i].type == passthrough->same[i].type;
    return same;
}

/* Whether it would be refused or rewritten if it was sent now. */
static bool is_other(const px_session *session, const px_passthrough *passthrough, pgw_slice text,
                     const rw_catalog *view)
{
    pgw_arena arena = {0};
    rw_script script;
    rw_script_parse(pgw_arena_copy(&arena, text), view, &session->who.identity->env,
                    &session->worker->plans->shapes, &arena, &script);
    bool other = script.refused || script.inserts > 0;
    for (size_t i = 0; i < script.count && !other; i++)
        other =
            script.statements[i].change != NULL || !sets_same(passthrough, &script.statements[i]);
    pgw_arena_free(&arena);
    return other;
}

/* Whether the statement was read by these tables; `catalog` NULL: it can be told without looking at
 * them. */
static bool was_read_by(const px_session *session, const px_passthrough *passthrough,
                        const px_catalog *catalog)
{
    return passthrough->config == session->worker->config &&
           (passthrough->epoch == 0 || (catalog != NULL && passthrough->epoch == catalog->epoch));
}

px_step px_passthrough_migrated(px_session *session, px_statement *statement)
{
    rw_catalog view;
    rw_script script;
    const px_passthrough *passthrough = &statement->passthrough;
    pgw_slice text = px_statements_kept_text(&statement->parse);
    if (!passthrough->stores || text.len == 0 || was_read_by(session, passthrough, NULL))
        return PX_STEP_DONE;
    px_catalog *catalog;
    px_step step = px_schema_probe_now(session, &catalog);
    if (step != PX_STEP_DONE || was_read_by(session, passthrough, catalog))
        return step;
    step = px_sync_state(session, catalog);
    if (step != PX_STEP_DONE)
        return step;
    pgw_arena arena = {0};
    px_state_view(session, catalog, &view);
    rw_script_parse(pgw_arena_copy(&arena, text), &view, &session->who.identity->env,
                    &session->worker->plans->shapes, &arena, &script);
    bool migrated = !script.refused && script.count == 1 && script.inserts == 1 &&
                    script.statements[0].insert->table->migrated;
    pgw_arena_free(&arena);
    return migrated ? PX_STEP_PASS : PX_STEP_DONE;
}

px_step px_passthrough_renew(px_session *session, px_statement *statement, pgw_slice name,
                             bool behind)
{
    rw_catalog view;
    px_passthrough *passthrough = px_state_passthrough(session, statement, name);
    if (passthrough == NULL || !passthrough->stores || passthrough->changes_key ||
        passthrough->stale || was_read_by(session, passthrough, NULL))
        return PX_STEP_DONE;
    px_catalog *catalog;
    px_step step = px_schema_probe_now(session, &catalog);
    if (step != PX_STEP_DONE || (was_read_by(session, passthrough, catalog) && !behind))
        return step;
    step = px_sync_state(session, catalog);
    if (step != PX_STEP_DONE)
        return step;
    px_state_view(session, catalog, &view);
    pgw_slice text = text_of(statement);
    passthrough->stale = behind || text.len == 0 || is_other(session, passthrough, text, &view);
    if (!passthrough->stale)
        px_passthrough_writes_note(session, passthrough, RW_EFFECT_WRITES, text, catalog);
    return PX_STEP_DONE;
}
