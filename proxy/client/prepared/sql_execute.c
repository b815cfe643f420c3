#include "proxy/client/prepared/sql_execute.h"

#include "proxy/client/link/schema_probe.h"
#include "proxy/client/link/sync_state.h"
#include "proxy/client/prepared/passthrough_renew.h"
#include "proxy/client/standing/changes.h"
#include "proxy/client/standing/dirty.h"
#include "proxy/client/standing/names.h"
#include "rewrite/lex/executed.h"
#include "rewrite/lex/lexer_text.h"

static bool is_sql_execute(const px_statement *statement)
{
    return statement != NULL && statement->lookups != NULL && statement->lookups->sql_execute;
}

/* Whether what begins with the word may change what a table, its key or its rows are. */
static bool changes_tables(pgw_slice text, rw_token first)
{
    const char *const words[] = {"alter", "create", "drop", "do", "call"};
    bool any = false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        any = any || rw_token_is(text, first, words[i]);
    return any;
}

/* Whether names may come to mean others by what begins with the word. */
static bool moves_names(const px_session *session, pgw_slice text, rw_token first)
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

/* Renews the statement by the tables of now, and by what names mean. One whose table may be another
 * is stale anyway if `behind`: what stands in front of it, and is not sent yet, may change either.
 */
static px_step renew_by_tables(px_session *session, px_statement *statement, bool behind)
{
    bool planned = statement->plan != NULL, executed = is_sql_execute(statement);
    bool named = planned || statement->passthrough.moving;
    if (!named && !executed)
        return PX_STEP_DONE;
    px_catalog *catalog;
    px_step step = px_schema_probe_verified(session, &catalog);
    if (step != PX_STEP_DONE)
        return step;
    bool wrong = planned ? !is_right(statement->plan, catalog) : statement->passthrough.stale;
    if (named)
        statement->passthrough.stale = wrong || behind;
    if (executed && (!px_lookups_hold(statement->lookups, catalog) || px_changes_unseen(session) ||
                     statement->passthrough.generation != session->known.generation))
        px_names_forget_lookups(session, pgw_slice_str(statement->name));
    return PX_STEP_DONE;
}

px_step px_sql_execute_renew_one(px_session *session, px_statement *statement)
{
    return is_sql_execute(statement) ? renew_by_tables(session, statement, false) : PX_STEP_DONE;
}

bool px_sql_execute_has_moved(const px_session *session, const px_statement *statement,
                              pgw_error *error)
{
    const px_passthrough ours = {.moving = true, .generation = statement->generation};
    return px_state_has_moved(session, statement->plan != NULL ? &ours : &statement->passthrough,
                              error);
}

/* What an EXECUTE finds behind such a statement of its text is not known before the text is sent.
 */
static px_step renew(px_session *session, pgw_slice name, bool behind, bool moved)
{
    px_statement *statement = px_statements_find(&session->names.statements, name);
    if (behind && is_sql_execute(statement))
        px_names_forget_lookups(session, name);
    px_step step = px_passthrough_renew(session, statement, name, behind);
    return step == PX_STEP_DONE && statement != NULL
               ? renew_by_tables(session, statement, behind || moved)
               : step;
}

px_step px_sql_execute_renew(px_session *session, pgw_slice text)
{
    pgw_arena arena = {0};
    px_step step = PX_STEP_DONE;
    rw_lexer lexer;
    rw_lexer_init(&lexer, text, session->who.identity->env.conforming);
    rw_token token = rw_lexer_next(&lexer);
    bool changes = changes_tables(text, token), behind = false;
    bool moves = moves_names(session, text, token), moved = false;
    while (step == PX_STEP_DONE && token.kind != RW_TOKEN_END && token.kind != RW_TOKEN_BAD) {
        bool execute = rw_token_is(text, token, "execute");
        bool ends = token.kind == RW_TOKEN_CHAR && text.ptr[token.start] == ';';
        token = rw_lexer_next(&lexer);
        behind = behind || (ends && changes);
        moved = moved || (ends && moves);
        changes = changes || (ends && changes_tables(text, token));
        moves = moves || (ends && moves_names(session, text, token));
        if (execute && (token.kind == RW_TOKEN_WORD || token.kind == RW_TOKEN_QUOTED))
            step = renew(session, rw_token_name(text, token, &arena), behind, moved);
    }
    pgw_arena_free(&arena);
    return step;
}

bool px_sql_execute_is_executed(const px_session *session, pgw_slice text)
{
    pgw_arena arena = {0};
    pgw_slice name;
    bool any = false;
    rw_executed executed = rw_executed_in(text, session->who.identity->env.conforming);
    while (!any && rw_executed_next(&executed, &arena, &name))
        any = is_sql_execute(px_statements_find(&session->names.statements, name));
    pgw_arena_free(&arena);
    return any;
}
