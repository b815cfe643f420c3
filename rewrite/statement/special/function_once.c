#define _GNU_SOURCE
#include "rewrite/statement/special/function_once.h"

#include "rewrite/lex/quote.h"
#include "rewrite/statement/special/function_insert.h"

#include <string.h>

enum { MAKES, CALLS, DROPS, STATEMENTS };

/* What the three statements of the Query say. */
typedef struct once {
    pgw_slice text; /* text of the Query */
    const rw_catalog *catalog;
    const pgw_env *env;
    pgw_arena *arena;
    pgw_slice name;   /* name of the function, as it is written */
    pgw_slice body;   /* body of the function, between its dollar quotes */
    pgw_slice quote;  /* dollar quote of the body */
    pgw_slice insert; /* the INSERT in the body */
    pgw_slice hashed; /* the INSERT with the hash, which stands in its place */
    pgw_slice told;   /* the variable that gets an error's detail; empty: none */
    size_t told_end;  /* byte of the body at which the statement that sets `told` ends */
    const rw_table *table;
} once;

/* ---- the statements ---- */

static bool take_function(once *it, rw_token_walk *walk)
{
    size_t from = walk->at + 2;
    if (!rw_walk_take(walk, "pg_temp .") || !rw_walk_take_name(walk))
        return false;
    pgw_slice name = rw_walk_taken(walk, from);
    bool first = it->name.len == 0;
    it->name = first ? name : it->name;
    return first || pgw_slice_eq(name, it->name);
}

static bool cut_quotes(once *it, pgw_slice string)
{
    const char *end = string.len > 1 ? memchr(string.ptr + 1, '$', string.len - 1) : NULL;
    if (end == NULL || string.ptr[0] != '$')
        return false;
    size_t len = (size_t)(end + 1 - string.ptr);
    it->quote = (pgw_slice){string.ptr, len};
    it->body = (pgw_slice){string.ptr + len, string.len - 2 * len};
    return true;
}

/* Whether the statement makes the function, without a clause that has it run by other settings or
 * rights. */
static bool makes(once *it, rw_token_walk walk)
{
    if (!rw_walk_take(&walk, "create or replace function") &&
        !rw_walk_take(&walk, "create function"))
        return false;
    if (!take_function(it, &walk) || !rw_walk_take_brackets(&walk) ||
        !rw_walk_take(&walk, "returns") || !rw_walk_take_name(&walk) || !rw_walk_take(&walk, "as"))
        return false;
    size_t string = walk.at;
    return rw_walk_take_kind(&walk, RW_TOKEN_STRING) &&
           cut_quotes(it, rw_walk_taken(&walk, string)) &&
           rw_walk_take(&walk, "language plpgsql") && rw_walk_ends(&walk);
}

/* Whether the statement only selects columns FROM the function, and so calls nothing before it. */
static bool calls(once *it, rw_token_walk walk)
{
    if (!rw_walk_take(&walk, "select"))
        return false;
    while (!rw_walk_take(&walk, "from"))
        if (!rw_walk_take_name(&walk) && !rw_walk_take(&walk, ".") && !rw_walk_take(&walk, ",") &&
            !rw_walk_take(&walk, "(") && !rw_walk_take(&walk, ")"))
            return false;
    return take_function(it, &walk) && rw_walk_take(&walk, "( )") && rw_walk_ends(&walk);
}

static bool drops(once *it, rw_token_walk walk)
{
    return (rw_walk_take(&walk, "drop function if exists") ||
            rw_walk_take(&walk, "drop function")) &&
           take_function(it, &walk) && rw_walk_take(&walk, "( )") && rw_walk_ends(&walk);
}

/* ---- the body ---- */

/* Takes EXCEPTION, if it does no more than keep the error's detail. */
static bool take_exception(once *it, rw_token_walk *body)
{
    if (!rw_walk_take(body, "exception"))
        return true;
    if (!rw_walk_take(body, "when") || !rw_walk_take_name(body) ||
        !rw_walk_take(body, "then get stacked diagnostics"))
        return false;
    size_t from = body->at;
    if (!rw_walk_take_name(body))
        return false;
    it->told = rw_walk_taken(body, from);
    if ((!rw_walk_take(body, "=") && !rw_walk_take(body, ":=")) ||
        !rw_walk_take(body, "pg_exception_detail ;"))
        return false;
    it->told_end = body->tokens[body->at - 1].end;
    return true;
}

static bool read_body(once *it)
{
    rw_token_walk body = rw_walk_tokens(it->body, it->env->conforming, it->arena);
    if (!rw_walk_take(&body, "begin"))
        return false;
    size_t from = body.at;
    it->hashed = rw_function_insert(&body, it->catalog, it->env, it->arena, &it->table);
    if (it->hashed.len == 0)
        return false;
    it->insert = rw_walk_taken(&body, from);
    if (rw_walk_take(&body, "returning * into") && !rw_walk_take_name(&body))
        return false;
    if (!rw_walk_take(&body, ";") || !take_exception(it, &body) || !rw_walk_take(&body, "end"))
        return false;
    (void)rw_walk_take(&body, ";");
    return rw_walk_ends(&body);
}

/* ---- what is put in ---- */

/* A name that means itself in a regular expression, and in no quotes. */
static bool is_plain(const char *name)
{
    return name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_")] == '\0' &&
           !(name[0] >= '0' && name[0] <= '9');
}

/* The detail of a key that is there already is without the hash, as it is told to clients: it is
 * the first or the last of the key. */
static void hide_hash(const once *it, pgw_buf *out)
{
    const char *hash = it->table->columns[it->table->hash_column].name;
    if (it->told.len == 0)
        return;
    pgw_buf_addf(out,
                 " %.*s := pg_catalog.regexp_replace(pg_catalog.regexp_replace(%.*s, "
                 "'^Key [(]%s, (.*?)[)]=[(]-?[0-9]+, ', E'Key (\\\\1)=('), "
                 "'^Key [(](.*), %s[)]=[(](.*), -?[0-9]+[)] ', E'Key (\\\\1)=(\\\\2) ');",
                 (int)it->told.len, it->told.ptr, (int)it->told.len, it->told.ptr, hash, hash);
}

static pgw_slice changed_body(const once *it)
{
    pgw_buf out = {0};
    const char *end = it->body.ptr + it->body.len, *behind = it->insert.ptr + it->insert.len;
    const char *told = it->told.len > 0 ? it->body.ptr + it->told_end : behind;
    pgw_buf_add(&out, it->body.ptr, (size_t)(it->insert.ptr - it->body.ptr));
    pgw_buf_add_slice(&out, it->hashed);
    pgw_buf_add(&out, behind, (size_t)(told - behind));
    hide_hash(it, &out);
    pgw_buf_add(&out, told, (size_t)(end - told));
    return pgw_arena_keep(it->arena, &out);
}

static void change(const once *it, rw_script *script)
{
    rw_statement *statement = &script->statements[MAKES];
    pgw_slice body = changed_body(it);
    if (memmem(body.ptr, body.len, it->quote.ptr, it->quote.len) != NULL)
        return;
    rw_change *made = pgw_arena_alloc(it->arena, sizeof *made);
    *made = (rw_change){.at = (size_t)(it->body.ptr - it->text.ptr) - statement->start,
                        .cut = it->body.len,
                        .text = body};
    statement->stars = made;
    statement->star_count = 1;
    script->changes = true;
}

static rw_token_walk walk_of(const once *it, const rw_statement *statement)
{
    pgw_slice text = rw_statement_text(statement, it->text);
    return rw_walk_tokens(text, it->env->conforming, it->arena);
}

void rw_function_once(pgw_slice text, const rw_catalog *catalog, const pgw_env *env,
                      pgw_arena *arena, rw_script *script)
{
    once it = {.text = text, .catalog = catalog, .env = env, .arena = arena};
    const rw_statement *statements = script->statements;
    if (script->count != STATEMENTS || script->refused || script->inserts > 0 ||
        !(statements[MAKES].effects & RW_EFFECT_STATE) ||
        rw_statement_is_changed(&statements[MAKES]))
        return;
    if (makes(&it, walk_of(&it, &statements[MAKES])) &&
        calls(&it, walk_of(&it, &statements[CALLS])) &&
        drops(&it, walk_of(&it, &statements[DROPS])) && read_body(&it) &&
        (it.told.len == 0 || is_plain(it.table->columns[it.table->hash_column].name)))
        change(&it, script);
}
