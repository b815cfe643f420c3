#include "rewrite/statement/special/explain_query.h"

#include "rewrite/lex/quote.h"
#include "rewrite/statement/special/explain.h"

#include <string.h>

/* What EXPLAIN (PROXY) stands before; no pointer: it is another statement. */
static pgw_slice asked_about(pgw_slice statement, bool conforming)
{
    static const char *const tokens[] = {"explain", "(", "proxy", ")"};
    rw_lexer lexer;
    rw_lexer_init(&lexer, statement, conforming);
    for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++) {
        pgw_slice token = rw_token_text(statement, rw_lexer_next(&lexer));
        if (!pgw_slice_ieq_str(token, tokens[i]))
            return (pgw_slice){NULL, 0};
    }
    return (pgw_slice){statement.ptr + lexer.at, statement.len - lexer.at};
}

/* A SELECT that gives a row for each line, in a column with the name that EXPLAIN gives it. */
static pgw_slice select_of(pgw_slice lines, pgw_arena *arena)
{
    pgw_buf out = {0};
    const char *joint = "SELECT pg_catalog.unnest(ARRAY[";
    for (const char *at = lines.ptr, *end = at + lines.len; at < end;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        pgw_slice line = {at, (size_t)(stop - at)};
        at = stop + 1;
        if (pgw_slice_eq_str(line, "---"))
            continue; /* `---` ends the lines of a statement. */
        pgw_buf_add_str(&out, joint);
        rw_add_constant(&out, line);
        joint = ", ";
    }
    pgw_buf_add_str(&out, "]::pg_catalog.text[]) AS \"QUERY PLAN\"");
    return pgw_arena_keep(arena, &out);
}

static void answer(pgw_slice lines, pgw_arena *arena, rw_script *script)
{
    rw_statement *only = script->statements;
    rw_change *change = pgw_arena_alloc(arena, sizeof *change);
    *change = (rw_change){.cut = only->end - only->start, .text = select_of(lines, arena)};
    *only =
        (rw_statement){.start = only->start, .end = only->end, .stars = change, .star_count = 1};
    script->effects = 0;
    script->refused = false;
    script->inserts = 0;
    script->changes = true;
}

void rw_explain_query(pgw_slice text, const rw_catalog *catalog, const pgw_env *env,
                      pgw_arena *arena, rw_script *script)
{
    const rw_statement *only = script->count == 1 ? script->statements : NULL;
    if (only == NULL || only->end - only->start > RW_EXPLAINED_MAX)
        return;
    pgw_slice asked = asked_about(rw_statement_text(only, text), env->conforming);
    if (asked.len == 0 || asked_about(asked, env->conforming).ptr != NULL)
        return;
    pgw_buf lines = {0};
    rw_explain(asked, catalog, env, &lines);
    if (lines.len > 0)
        answer(pgw_slice_buf(&lines), arena, script);
    pgw_buf_free(&lines);
}
