#include "rewrite/statement/words/write_scan.h"

#include "rewrite/lex/lexer_text.h"

typedef struct reader {
    rw_lexer lexer;
    rw_token previous, token; /* the token just taken, the token not yet taken */
    const rw_catalog *catalog;
    pgw_arena *arena;
    size_t depth;
} reader;

static bool at_word(const reader *in, const char *word)
{
    return rw_token_is(in->lexer.text, in->token, word);
}

static bool at_char(const reader *in, char c)
{
    return in->token.kind == RW_TOKEN_CHAR && in->lexer.text.ptr[in->token.start] == c;
}

static bool at_end(const reader *in)
{
    return in->token.kind == RW_TOKEN_END || in->token.kind == RW_TOKEN_BAD;
}

static void advance(reader *in)
{
    if (at_char(in, '('))
        in->depth++;
    else if (at_char(in, ')') && in->depth > 0)
        in->depth--;
    in->previous = in->token;
    in->token = rw_lexer_next(&in->lexer);
}

static bool take_word(reader *in, const char *word)
{
    if (!at_word(in, word))
        return false;
    advance(in);
    return true;
}

static pgw_slice take_name(reader *in)
{
    pgw_slice name = {NULL, 0};
    if (in->token.kind == RW_TOKEN_WORD || in->token.kind == RW_TOKEN_QUOTED) {
        name = rw_token_name(in->lexer.text, in->token, in->arena);
        advance(in);
    }
    return name;
}

/* [ONLY] [(] [[database.]schema.]name */
static pgw_slice take_table_name(reader *in, pgw_slice *schema)
{
    take_word(in, "only");
    if (at_char(in, '('))
        advance(in);
    *schema = (pgw_slice){NULL, 0};
    pgw_slice name = take_name(in);
    while (at_char(in, '.')) {
        advance(in);
        *schema = name;
        name = take_name(in);
    }
    return name;
}

/* The configured table that is named; NULL: none is. */
static const rw_table *take_table(reader *in)
{
    pgw_slice schema;
    pgw_slice name = take_table_name(in, &schema);
    return rw_catalog_find(in->catalog, schema, name);
}

static reader begin(pgw_slice text, const rw_catalog *catalog, const pgw_env *env, pgw_arena *arena)
{
    reader in = {.catalog = catalog, .arena = arena};
    rw_lexer_init(&in.lexer, text, env->conforming);
    in.token = rw_lexer_next(&in.lexer);
    in.previous = (rw_token){.kind = RW_TOKEN_END};
    return in;
}

static bool at_column_of_hash(const reader *in, const rw_table *table)
{
    if (in->token.kind != RW_TOKEN_WORD && in->token.kind != RW_TOKEN_QUOTED)
        return false;
    return rw_table_is_hash_input(table, rw_token_name(in->lexer.text, in->token, in->arena));
}

/* Reads from behind the table of an UPDATE to the end of its SET list. */
static bool sets_hash_input(reader *in, const rw_table *table)
{
    while (!at_end(in) && !at_word(in, "set"))
        advance(in);
    size_t depth = in->depth;
    while (!at_end(in) && in->depth >= depth) {
        bool outside = in->depth == depth;
        if (outside && (at_word(in, "where") || at_word(in, "from") || at_word(in, "returning")))
            return false;
        if (at_column_of_hash(in, table))
            return true;
        advance(in);
    }
    return false;
}

/* The table behind COPY, which may have the name binary. */
static bool copies_ours(reader *in)
{
    if (at_word(in, "binary")) {
        reader ahead = *in;
        advance(&ahead);
        if (ahead.token.kind == RW_TOKEN_QUOTED ||
            (ahead.token.kind == RW_TOKEN_WORD && !at_word(&ahead, "from") &&
             !at_word(&ahead, "to")))
            advance(in);
    }
    return take_table(in) != NULL;
}

/* Whether the word just taken begins a write of a configured table. */
static bool writes_here(reader *in, rw_token before)
{
    pgw_slice text = in->lexer.text;
    rw_token word = in->previous;
    if (rw_token_is(text, word, "into"))
        return (rw_token_is(text, before, "insert") || rw_token_is(text, before, "merge") ||
                rw_token_is(text, before, "upsert") || rw_token_is(text, before, "replace")) &&
               take_table(in) != NULL;
    if (rw_token_is(text, word, "update")) {
        const rw_table *table = take_table(in);
        return table != NULL && sets_hash_input(in, table);
    }
    return false;
}

/* COPY … FROM, which only begins a statement. */
static bool is_copy_from(reader *in)
{
    if (!at_word(in, "copy"))
        return false;
    advance(in);
    if (at_char(in, '(') || !copies_ours(in))
        return false;
    while (!at_end(in) && !(in->depth == 0 && (at_word(in, "from") || at_word(in, "to"))))
        advance(in);
    return !at_word(in, "to");
}

bool rw_scan_may_write(pgw_slice text, const rw_piece *piece, const rw_catalog *catalog,
                       const pgw_env *env, pgw_arena *arena)
{
    if (piece->marks & RW_MARK_OPAQUE)
        return true;
    reader in = begin(text, catalog, env, arena);
    if (is_copy_from(&in))
        return true;
    while (!at_end(&in)) {
        rw_token before = in.previous;
        advance(&in);
        if (writes_here(&in, before))
            return true;
    }
    return false;
}

/* Whether `[IF [NOT] EXISTS] name` behind TABLE names a configured table, or one of a pattern. */
static bool defines_planned(reader *in)
{
    if (take_word(in, "if")) {
        take_word(in, "not");
        take_word(in, "exists");
    }
    pgw_slice schema;
    pgw_slice name = take_table_name(in, &schema);
    return rw_catalog_find(in->catalog, schema, name) != NULL ||
           rw_catalog_pattern(in->catalog, schema, name) != NULL;
}

bool rw_scan_may_define(pgw_slice text, const rw_catalog *planned, const pgw_env *env,
                        pgw_arena *arena)
{
    static const char *const sources[] = {"select", "values", "like", "inherits", "of"};
    reader in = begin(text, planned, env, arena);
    while (!at_end(&in)) {
        for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
            if (at_word(&in, sources[i]))
                return true;
        bool table = at_word(&in, "table");
        advance(&in);
        if (table && defines_planned(&in))
            return true;
    }
    return false;
}

const rw_table *rw_scan_merges(pgw_slice text, const rw_catalog *catalog, const pgw_env *env,
                               pgw_arena *arena, size_t *at)
{
    reader in = begin(text, catalog, env, arena);
    if (!take_word(&in, "merge") || !take_word(&in, "into"))
        return NULL;
    *at = in.token.start;
    return take_table(&in);
}
