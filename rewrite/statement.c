#include "rewrite/statement.h"

#include "rewrite/cut.h"
#include "rewrite/effects.h"
#include "rewrite/tree.h"

#include <string.h>

/* One statement and what is needed to look at it. */
typedef struct candidate {
    pgw_slice text; /* of this statement */
    const rw_piece *piece;
    rw_token first;
    const rw_catalog *catalog;
    const pgw_env *env;
    rw_known *known;
    pgw_arena *arena;
    rw_statement *out;
} candidate;

static bool begins_with(const candidate *it, const char *const *words)
{
    for (; *words != NULL; words++)
        if (rw_token_is(it->text, it->first, *words))
            return true;
    return false;
}

static bool in_parentheses(const candidate *it)
{
    return it->first.kind == RW_TOKEN_CHAR && it->text.ptr[it->first.start] == '(';
}

/* --- what may write --- */

static bool is_insert(const candidate *it)
{
    static const char *const words[] = {"insert", "upsert", "replace", NULL};
    return begins_with(it, words);
}

/* Writes by its first word alone; the other words need one that writes behind them. */
static bool writes(const candidate *it)
{
    static const char *const words[] = {"update", "merge", "copy", NULL};
    return begins_with(it, words);
}

static bool can_hold_write(const candidate *it)
{
    static const char *const words[] = {"with",   "prepare", "explain", "insert", "upsert",
                                        "create", "declare", "replace", NULL};
    return begins_with(it, words) || in_parentheses(it);
}

/* Whether the backend has to make sense of it if libpg_query cannot: nothing of ours is written at
 * once, or rw_insert_parse() has found that it is not ours. */
static bool passes_unread(const candidate *it)
{
    static const char *const words[] = {"create", "declare", "insert", "upsert", "replace", NULL};
    return begins_with(it, words);
}

static bool needs_reading(const candidate *it)
{
    return writes(it) ||
           (can_hold_write(it) && it->piece->marks & (RW_MARK_WRITE | RW_MARK_OPAQUE)) ||
           it->piece->marks & RW_MARK_ATOMIC;
}

/* --- verdicts --- */

static pgw_error *new_error(const candidate *it)
{
    return pgw_arena_alloc(it->arena, sizeof(pgw_error));
}

static void refuse(const candidate *it, pgw_error *error)
{
    it->out->kind = RW_STATEMENT_REFUSED;
    it->out->insert = NULL;
    it->out->error = error;
}

/* Nothing but the lexer can be asked. */
static void check_words(const candidate *it)
{
    if (!rw_words_may_write(it->text, it->piece, it->catalog, it->env, it->arena))
        return;
    pgw_error *error = new_error(it);
    bool large = it->text.len > RW_TREE_MAX_BYTES || it->piece->tokens > RW_TREE_MAX_TOKENS;
    pgw_fail(error, large ? "54000" : "0A000",
             "cannot tell whether this statement keeps the hash of a configured table right");
    if (large)
        pgw_error_hint(error,
                       "It is longer than %d bytes or %d tokens. Split it, or write with "
                       "INSERT … VALUES, which may be longer.",
                       RW_TREE_MAX_BYTES, RW_TREE_MAX_TOKENS);
    else
        pgw_error_hint(error,
                       "Set standard_conforming_strings to on, or write without backslashes.");
    refuse(it, error);
}

/* What libpg_query says of it, or has said of another text of this shape. */
static rw_tree_answer ask_tree(const candidate *it, bool *inserts, pgw_error *error)
{
    rw_shape shape;
    bool shaped = it->known != NULL && rw_shape_of(it->text, it->catalog, it->env, &shape);
    if (shaped && rw_known_find(it->known, &shape, inserts))
        return RW_TREE_HARMLESS;
    rw_tree_answer answer =
        rw_tree_check(it->text, it->catalog, it->env, it->arena, inserts, error);
    if (shaped && answer == RW_TREE_HARMLESS)
        rw_known_add(it->known, &shape, *inserts);
    return answer;
}

/* True if the statement itself is an INSERT into a configured table, and nothing else is wrong. */
static bool check_tree(const candidate *it)
{
    bool inserts;
    pgw_error *error = new_error(it);
    rw_tree_answer answer = ask_tree(it, &inserts, error);
    if (answer == RW_TREE_REFUSED ||
        (answer == RW_TREE_UNPARSED && (!passes_unread(it) || it->piece->marks & RW_MARK_ATOMIC)))
        refuse(it, error);
    return inserts && answer == RW_TREE_HARMLESS;
}

static void parse_insert(const candidate *it)
{
    pgw_error *error = new_error(it);
    if (!rw_insert_parse(it->text, it->catalog, it->env, it->arena, &it->out->insert, error))
        refuse(it, error);
    else if (it->out->insert != NULL)
        it->out->kind = RW_STATEMENT_INSERT;
}

/* Statements that name a configured table. */
static void judge(const candidate *it)
{
    bool with = rw_token_is(it->text, it->first, "with");
    bool reads = needs_reading(it) && rw_tree_can_read(it->text, it->piece, it->env);
    if (is_insert(it) || (with && !reads)) {
        parse_insert(it);
        if (it->out->kind != RW_STATEMENT_FORWARD)
            return; /* an INSERT … VALUES of ours has no room for another write behind it */
    }
    if (reads) {
        if (check_tree(it) && with)
            parse_insert(it);
    } else if (needs_reading(it)) {
        check_words(it);
    }
}

/* An error about the statement is one about the whole text, which does not end where it does. */
static void place_error(pgw_slice text, const rw_piece *piece, const pgw_env *env, pgw_error *error)
{
    rw_lexer lexer;
    rw_lexer_init(&lexer, text, env->conforming);
    lexer.at = piece->end;
    rw_token next = rw_lexer_next(&lexer);
    if (next.kind == RW_TOKEN_CHAR && strcmp(error->message, "syntax error at end of input") == 0) {
        pgw_fail(error, "42601", "syntax error at or near \"%c\"", text.ptr[next.start]);
        error->position = rw_characters(text, next.start, env) + 1;
        return;
    }
    error->position += rw_characters(text, piece->start, env);
}

static void read_statement(pgw_slice text, const rw_piece *piece, const rw_catalog *catalog,
                           const pgw_env *env, rw_known *known, pgw_arena *arena, rw_statement *out)
{
    *out = (rw_statement){.start = piece->start, .end = piece->end};
    candidate it = {.text = {text.ptr + piece->start, piece->end - piece->start},
                    .piece = piece,
                    .catalog = catalog,
                    .env = env,
                    .known = known,
                    .arena = arena,
                    .out = out};
    rw_lexer lexer;
    rw_lexer_init(&lexer, it.text, env->conforming);
    it.first = rw_lexer_next(&lexer);
    rw_effects(it.text, piece, env, arena, out);
    if (rw_words_mention(it.text, catalog))
        judge(&it);
    if (out->error != NULL && out->error->position > 0)
        place_error(text, piece, env, out->error);
}

/* --- the script --- */

static void add_statement(rw_script *script, size_t *cap, pgw_arena *arena)
{
    if (script->count == *cap) {
        *cap = *cap == 0 ? 1 : *cap * 2;
        rw_statement *grown = pgw_arena_alloc(arena, *cap * sizeof *grown);
        if (script->count > 0)
            memcpy(grown, script->statements, script->count * sizeof *grown);
        script->statements = grown;
    }
    script->count++;
}

void rw_script_parse(pgw_slice text, const rw_catalog *catalog, const pgw_env *env, rw_known *known,
                     pgw_arena *arena, rw_script *out)
{
    *out = (rw_script){.utf8 = env->utf8};
    size_t cap = 0;
    rw_lexer lexer;
    rw_lexer_init(&lexer, text, env->conforming);
    rw_piece piece;
    while (rw_cut_next(&lexer, &piece)) {
        add_statement(out, &cap, arena);
        rw_statement *statement = &out->statements[out->count - 1];
        read_statement(text, &piece, catalog, env, known, arena, statement);
        out->effects |= statement->effects;
        out->refused |= statement->kind == RW_STATEMENT_REFUSED;
        out->inserts += statement->kind == RW_STATEMENT_INSERT;
    }
}
