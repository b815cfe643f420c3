#include "proxy/client/prepared/sql_execute.h"

#include "proxy/client/link/schema_probe.h"
#include "proxy/client/link/sync_state.h"
#include "proxy/client/prepared/executed_names.h"
#include "proxy/client/prepared/passthrough_renew.h"
#include "proxy/client/standing/changes.h"
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

px_step px_sql_execute_renew_one(px_session *session, px_statement *statement)
{
    if (!is_sql_execute(statement))
        return PX_STEP_DONE;
    px_catalog *catalog;
    px_step step = px_schema_probe_verified(session, &catalog);
    if (step != PX_STEP_DONE)
        return step;
    if (!px_lookups_hold(statement->lookups, catalog) || px_changes_unseen(session) ||
        statement->passthrough.generation != session->known.generation)
        px_names_forget_lookups(session, pgw_slice_str(statement->name));
    return PX_STEP_DONE;
}

/* What an EXECUTE finds behind such a statement of its text is not known before the text is sent.
 */
static px_step renew(px_session *session, pgw_slice name, bool behind, bool moved)
{
    px_statement *statement = px_statements_find(&session->names.statements, name);
    if (behind && is_sql_execute(statement))
        px_names_forget_lookups(session, name);
    px_step step = px_passthrough_renew(session, statement, name, behind);
    if (step == PX_STEP_DONE)
        step = px_executed_names_renew(session, statement, behind || moved);
    return step == PX_STEP_DONE ? px_sql_execute_renew_one(session, statement) : step;
}

px_step px_sql_execute_renew(px_session *session, pgw_slice text)
{
    pgw_arena arena = {0};
    px_step step = PX_STEP_DONE;
    rw_lexer lexer;
    rw_lexer_init(&lexer, text, session->who.identity->env.conforming);
    rw_token token = rw_lexer_next(&lexer);
    bool changes = changes_tables(text, token), behind = false;
    bool moves = px_executed_names_move_by(session, text, token), moved = false;
    while (step == PX_STEP_DONE && token.kind != RW_TOKEN_END && token.kind != RW_TOKEN_BAD) {
        bool execute = rw_token_is(text, token, "execute");
        bool ends = token.kind == RW_TOKEN_CHAR && text.ptr[token.start] == ';';
        token = rw_lexer_next(&lexer);
        behind = behind || (ends && changes);
        moved = moved || (ends && moves);
        changes = changes || (ends && changes_tables(text, token));
        moves = moves || (ends && px_executed_names_move_by(session, text, token));
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
