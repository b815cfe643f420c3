#include "proxy/client/prepared/prepare_again.h"

#include "proxy/backend/schema/schema.h"
#include "proxy/client/link/schema_probe.h"
#include "proxy/client/link/sync_state.h"
#include "proxy/client/prepared/prepare.h"
#include "proxy/client/prepared/passthrough_renew.h"
#include "proxy/client/standing/describe.h"
#include "proxy/client/standing/dirty.h"
#include "proxy/client/standing/names.h"
#include "rewrite/insert/returned.h"

#include <stdlib.h>

/* Refuses a statement with other results: its client would read them as they were described. */
static px_step refuse_other_result(px_session *session)
{
    pgw_error error;
    pgw_fail(&error, "0A000", "cached plan must not change result type");
    pgw_error_stale(&error);
    return px_prepare_refuse(session, NULL, &error);
}

/* The types of a statement's parameters are those it was prepared with, also those that were
 * inferred: columns may change theirs, what its client sends does not. Returns how many. */
static size_t types_of(const px_plan *plan, pgw_buf *types)
{
    size_t asked =
        plan->client_count < plan->declared_count ? plan->client_count : plan->declared_count;
    size_t known = plan->types != NULL ? px_plan_client_parameters(plan) : 0;
    size_t count = asked > known ? asked : known;
    for (size_t i = 0; i < count; i++) {
        uint32_t type = i < known ? plan->types[i] : 0;
        pgw_buf_add_i32(types, (int32_t)(type == 0 && i < asked ? plan->declared[i] : type));
    }
    return count;
}

/* The link may have a statement of this name, which is about to be another. */
static void close_on_link(px_session *session, pgw_slice name)
{
    const px_statement *statement = px_statements_find(&session->names.statements, name);
    if (statement == NULL || !px_statements_on_link(&session->names.statements, statement))
        return;
    if (px_session_idle(session))
        px_names_close(session, name);
    else
        px_names_close_unsynced(session, name);
}

/* Keeps the client's own text as a statement without a plan, for the server to judge. */
static void keep_as_passthrough(px_session *session, const pgw_parse *parse, px_plan *was)
{
    pgw_buf message = {0};
    uint32_t *types = px_prepare_types(parse);
    pgw_certainly(pgw_write_parse(parse->name, parse->query, types, parse->type_count, &message));
    free(types);
    close_on_link(session, parse->name);
    px_plan_take(was);
    px_statement *statement =
        px_statements_put(&session->names.statements, parse->name, NULL, false);
    px_statements_keep(&session->names.statements, statement, pgw_slice_buf(&message));
    statement->passthrough = session->known.parsed;
    statement->passthrough.moving = true;
    px_state_note_moving(session, true);
    statement->was = was;
    pgw_buf_free(&message);
}

/* The server looks names up again where the table has gone; but not for another one's sake. */
static px_step become_passthrough(px_session *session, const pgw_parse *parse, px_plan *old,
                                  const px_catalog *catalog)
{
    pgw_error error;
    const px_passthrough moved = {.moving = true, .generation = session->known.generation + 1};
    for (size_t i = 0; i < catalog->count; i++)
        if (catalog->tables[i]->oid == old->insert->table->oid &&
            px_state_has_moved(session, &moved, &error))
            return px_prepare_refuse(session, NULL, &error);
    keep_as_passthrough(session, parse, old);
    return PX_STEP_DONE;
}

/* Whether the types of its parameters have to be asked, or were, but nothing has answered. */
static bool is_unsure(const px_statement *statement)
{
    return statement->unsure && (statement->plan->origin == NULL || !statement->plan->described);
}

/* Without a list of the client's own the types are those of the columns in their places, whatever
 * these are called; the text on the link has a list, and the names of then. */
static bool infers_by_place(const rw_insert *old, const rw_insert *fresh)
{
    const rw_table *was = old->table, *table = fresh->table;
    bool same = old->list_end == 0 && was->column_count == table->column_count;
    for (size_t i = 0; same && i < was->column_count; i++)
        same = was->columns[i].attnum == table->columns[i].attnum &&
               was->columns[i].type == table->columns[i].type;
    return same;
}

/* The statement has this plan from now on. DONE, unless it must wait or be refused. */
static px_step settle_again(px_session *session, const pgw_parse *parse, px_plan *old,
                            px_plan *fresh)
{
    px_statements *statements = &session->names.statements;
    px_statement *statement = px_statements_find(statements, parse->name);
    bool ours = statement != NULL && statement->plan != NULL;
    if (!rw_insert_returns_same(old->insert, fresh->insert) || !px_plan_keeps_rows(fresh, old))
        return refuse_other_result(session);
    if (ours && px_statements_on_link(statements, statement) && is_unsure(statement) &&
        !infers_by_place(old->insert, fresh->insert) && !px_session_aborted(session))
        return px_describe_again(session, statement);
    close_on_link(session, parse->name);
    px_statements_put(statements, parse->name, fresh, false)->generation =
        session->known.generation;
    return PX_STEP_DONE;
}

/* The statement's plan, or the one that it once had; NULL: it never had one. */
static px_plan *plan_of(const px_statement *statement)
{
    return statement == NULL ? NULL : statement->plan != NULL ? statement->plan : statement->was;
}

static bool is_as_it_was(const px_session *session, const px_statement *statement,
                         const px_catalog *catalog)
{
    const px_plan *plan = statement->plan;
    return plan != NULL && plan->catalog == catalog &&
           statement->generation == session->known.generation &&
           px_plan_is_in_zone(plan, session->who.identity) &&
           (px_statements_on_link(&session->names.statements, statement) ||
            px_identity_shares(plan->identity, session->who.identity));
}

/* Whether the statement, prepared anew, would read its constants otherwise, even if only other
 * tables have changed: DateStyle, IntervalStyle and TimeZone are those of when it was prepared. */
static bool reads_constants_otherwise(const px_session *session, const px_statement *statement)
{
    return statement->plan != NULL && px_statement_reads(statement) &&
           !px_identity_reads_alike(statement->plan->identity, session->who.identity);
}

/* Whether what the link has is still right: its table is what it was, and its name means it. */
static bool is_right_there(const px_session *session, const px_statement *statement,
                           const px_catalog *catalog)
{
    const rw_table *table = statement->plan->insert->table;
    bool same = false;
    for (size_t i = 0; i < catalog->count && !same; i++)
        same = catalog->tables[i]->oid == table->oid && px_schema_same(catalog->tables[i], table);
    return same && statement->generation == session->known.generation &&
           px_plan_is_in_zone(statement->plan, session->who.identity) &&
           px_statements_on_link(&session->names.statements, statement);
}

static px_step refuse_constants(px_session *session)
{
    pgw_error error;
    pgw_fail(
        &error, "0A000",
        "DateStyle, IntervalStyle or TimeZone is another than when the statement was prepared");
    pgw_error_hint(&error, "Prepare it again, or give its dates and times as parameters.");
    return px_prepare_refuse(session, NULL, &error);
}

/* Makes another plan in place of `old`, or none; DONE, unless it must wait or be refused. */
static px_step plan_again(px_session *session, pgw_slice name, px_plan *old,
                          const px_catalog *catalog)
{
    pgw_buf types = {0};
    size_t count = types_of(old, &types);
    pgw_parse parse = {name, px_plan_client_text(old), pgw_slice_buf(&types), count};
    px_state_parse(session, PX_UNREAD)->moving = true;
    px_plan *fresh = old;
    bool rechecked = session->hand.rechecked; /* the Bind at hand goes on, and keeps its mark */
    px_step step = px_prepare(session, &parse, &fresh);
    if (rechecked)
        px_session_set_rechecked(session, true);
    bool passes = fresh == NULL && step == PX_STEP_PASS;
    if (passes)
        step = session->hand.replans == 0 ? px_prepare_link(session) : PX_STEP_DONE;
    if (fresh != NULL)
        step = settle_again(session, &parse, old, fresh);
    else if (passes && step == PX_STEP_DONE)
        step = become_passthrough(session, &parse, old, catalog);
    px_plan_drop(fresh);
    pgw_buf_free(&types);
    return step;
}

/* A text of which there is a plan names a table of the configuration that it was made by. */
static px_step find_catalog(px_session *session, const px_statement *statement, const px_plan *plan,
                            px_catalog **catalog)
{
    bool named = statement->plan != NULL && plan->catalog->config == session->worker->config;
    return named ? px_schema_probe_now(session, catalog)
                 : px_schema_probe_catalog(session, px_plan_client_text(plan), catalog);
}

/* A statement that was prepared when its table had no hash gets a plan, by the Parse that was kept
 * of it. */
static px_step plan_migrated(px_session *session, pgw_slice name, px_statement **statement)
{
    pgw_parse parse;
    px_plan *fresh = NULL;
    px_step step = *statement != NULL && !px_prepare_is_unsynced(session)
                       ? px_passthrough_migrated(session, *statement)
                       : PX_STEP_DONE;
    if (step != PX_STEP_PASS)
        return step;
    pgw_arena arena = {0};
    pgw_slice kept = pgw_arena_copy(&arena, pgw_slice_buf(&(*statement)->parse)),
              own = pgw_arena_copy(&arena, name);
    kept = (pgw_slice){kept.ptr + PGW_HEADER, kept.len - PGW_HEADER};
    bool rechecked = session->hand.rechecked; /* the Bind at hand goes on, and keeps its mark */
    step = pgw_parse_decode(kept, &parse) ? px_prepare(session, &parse, &fresh) : PX_STEP_DONE;
    px_session_set_rechecked(session, session->hand.rechecked || rechecked);
    if (fresh != NULL) {
        close_on_link(session, own);
        px_statements_put(&session->names.statements, own, fresh, false)->generation =
            session->known.generation;
        px_plan_drop(fresh);
    }
    *statement = px_statements_find(&session->names.statements, own);
    pgw_arena_free(&arena);
    return step == PX_STEP_PASS ? PX_STEP_DONE : step;
}

px_step px_prepare_again(px_session *session, pgw_slice name, px_statement **statement)
{
    px_plan *old = plan_of(*statement);
    if (old == NULL)
        return plan_migrated(session, name, statement);
    px_catalog *catalog;
    px_step step = find_catalog(session, *statement, old, &catalog);
    if (step == PX_STEP_DONE && px_prepare_is_unsynced(session))
        return px_prepare_refuse_unsynced(session, NULL);
    if (step == PX_STEP_DONE)
        step = px_sync_state(session, catalog);
    if (step != PX_STEP_DONE || is_as_it_was(session, *statement, catalog))
        return step;
    if (reads_constants_otherwise(session, *statement))
        return is_right_there(session, *statement, catalog) ? PX_STEP_DONE
                                                            : refuse_constants(session);
    px_plan_take(old);
    pgw_arena arena = {0};
    pgw_slice kept =
        pgw_arena_copy(&arena, name); /* a refusal drops the group, and the name in it */
    step = plan_again(session, kept, old, catalog);
    *statement = px_statements_find(&session->names.statements, kept);
    pgw_arena_free(&arena);
    px_plan_drop(old);
    return step;
}
