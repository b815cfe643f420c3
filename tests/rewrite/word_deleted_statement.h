/*
 * word_deleted_statement: a text of statements is judged, before a catalog, with all that is made
 * of it.
 */
#ifndef TEST_WORD_DELETED_STATEMENT_H
#define TEST_WORD_DELETED_STATEMENT_H

#include "rewrite/lex/splitter.h"
#include "rewrite/statement/special/explain.h"
#include "rewrite/statement/special/function_once.h"

#include "statement_holds.h"

static const rw_catalog *catalog;
static const pgw_env *env;

static void add_changes(const rw_change *changes, size_t count, pgw_buf *out)
{
    for (size_t i = 0; i < count; i++)
        pgw_buf_addf(out, "; %zu-%zu: %.*s", changes[i].at, changes[i].cut,
                     (int)changes[i].text.len, changes[i].text.ptr);
}

/* What is sent for it, by a Query or a Parse. */
static void add_sent(const rw_statement *it, pgw_slice text, bool prepared, pgw_arena *arena,
                     pgw_buf *out)
{
    pgw_error error = PGW_ERROR_NONE;
    rw_prepared statement = {text, {NULL, 0}, rw_highest_parameter(text, true)};
    rw_conditions conditions;
    pgw_buf sent = {0};
    rw_conditions_of(it, prepared ? &statement : NULL, &(pgw_reading){env, arena, &error},
                     &conditions);
    rw_conditions_render(&conditions, text, &sent);
    pgw_buf_addf(out, "%zu %zu $%u+%u %d: %.*s", conditions.count, conditions.lookup_count,
                 conditions.own, conditions.parameters, conditions.in_text, (int)sent.len,
                 sent.ptr != NULL ? sent.ptr : "");
    holds_of_conditions(&conditions, text, pgw_slice_buf(&sent), env);
    pgw_buf_free(&sent);
}

static void add_statement(const rw_statement *it, pgw_slice text, pgw_arena *arena, pgw_buf *out)
{
    pgw_slice own = {text.ptr + it->start, it->end - it->start};
    if (it->kind == RW_STATEMENT_FORWARD)
        for (int prepared = 0; prepared < 2; prepared++)
            add_sent(it, own, prepared == 1, arena, out);

    pgw_buf_addf(out, "%d %x %zu-%zu", it->kind, it->effects, it->start, it->end);
    const pgw_slice words[] = {it->name, it->setting, it->setting_value, it->makes,
                               it->path, it->before,  it->behind};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        pgw_buf_addf(out, ", %.*s", (int)words[i].len, words[i].ptr != NULL ? words[i].ptr : "");
    for (size_t i = 0; i < it->same_count; i++)
        pgw_buf_addf(out, " $%u=$%u %u", it->same[i].set, it->same[i].where, it->same[i].type);
    pgw_buf_addf(out, " %d %d %zu %d %d", it->setting_simple, it->defines, it->lookup_count,
                 it->change != NULL, it->otherwise != NULL);
    add_changes(it->stars, it->star_count, out);
    if (it->kind == RW_STATEMENT_REFUSED)
        pgw_buf_addf(out, " %zu %s|%s|%s|%s %d", it->error->position, it->error->sqlstate,
                     it->error->message, it->error->detail, it->error->hint, it->insert != NULL);
    pgw_buf_add_byte(out, '\n');
}

static void judge(pgw_slice text, pgw_buf *out)
{
    pgw_arena arena = {0};
    rw_script script;
    rw_explain(text, catalog, env, out);
    rw_script_parse(text, catalog, env, NULL, &arena, &script);
    holds_of_script(&script, text, catalog, env);
    rw_function_once(text, catalog, env, &arena, &script);
    for (size_t i = 0; i < script.count; i++)
        add_statement(&script.statements[i], text, &arena, out);
    pgw_arena_free(&arena);
}

#endif
