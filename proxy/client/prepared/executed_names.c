#include "proxy/client/prepared/executed_names.h"

#include "proxy/client/link/schema_probe.h"
#include "proxy/client/link/sync_state.h"
#include "proxy/client/standing/dirty.h"
#include "rewrite/lex/lexer_text.h"

static bool has_same_columns(const rw_table *was, const rw_table *is)
{
    bool same = was->column_count == is->column_count;
    for (size_t i = 0; same && i < was->column_count; i++)
        same = was->columns[i].attnum == is->columns[i].attnum &&
               was->columns[i].type == is->columns[i].type;
    return same;
}

/* Whether the text that the link has of it is right for the table of now. Bind has it made anew. */
static bool is_right(const px_plan *plan, const px_catalog *catalog)
{
    const rw_catalog tables = {.tables = (const rw_table *const *)catalog->tables,
                               .count = catalog->count};
    const rw_insert *insert = plan->insert;
    const rw_table *was = insert->table;
    const rw_table *is =
        rw_catalog_find(&tables, pgw_slice_str(was->schema), pgw_slice_str(was->name));
    return is != NULL && was->oid == is->oid && rw_table_keeps_hashes(was, is) &&
           (insert->list_end > 0 || has_same_columns(was, is));
}

px_step px_executed_names_renew(px_session *session, px_statement *statement, bool behind)
{
    if (statement == NULL || (statement->plan == NULL && !statement->passthrough.moving))
        return PX_STEP_DONE;
    px_catalog *catalog;
    px_step step = px_schema_probe_verified(session, &catalog);
    if (step != PX_STEP_DONE)
        return step;
    if (statement->plan != NULL)
        statement->passthrough.stale = behind || !is_right(statement->plan, catalog);
    else
        statement->passthrough.stale = statement->passthrough.stale || behind;
    return PX_STEP_DONE;
}

bool px_executed_names_moved(const px_session *session, const px_statement *statement,
                             pgw_error *error)
{
    const px_passthrough ours = {.moving = true, .generation = statement->generation};
    return px_state_has_moved(session, statement->plan != NULL ? &ours : &statement->passthrough,
                              error);
}

bool px_executed_names_move_by(const px_session *session, pgw_slice text, rw_token first)
{
    const char *const always[] = {"set", "reset", "discard"};
    const char *const ends[] = {"commit", "end", "rollback", "abort"};
    bool any = false;
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        any = any || rw_token_is(text, first, always[i]);
    for (size_t i = 0; i < sizeof ends / sizeof *ends && session->known.here != 0; i++)
        any = any || rw_token_is(text, first, ends[i]);
    return any || (rw_token_is(text, first, "select") && rw_text_mentions(text, "set_config"));
}
