#include "rewrite/statement/special/evaluated.h"

#include "protocol/types.h"
#include "rewrite/lex/calls.h"

#include <string.h>

/* What may run: the more, the higher. */
typedef enum runs {
    NOTHING,  /* constants, parameters, columns and words with one meaning everywhere run nothing */
    BUILT_IN, /* functions and operators of PostgreSQL, but the database may have others by the same
                 name */
    ANYTHING  /* views, functions and types of the database's own may run */
} runs;

/* Tokens around the one that is looked at. */
typedef struct view {
    const rw_insert *insert;
    rw_lexer lexer;
    rw_token before, previous, token, next; /* END: there is none */
    size_t depth;                           /* brackets that are open */
    bool sets, assigns; /* outside of brackets: in SET; the next `=` is an assignment */
} view;

static bool is_char(const view *at, rw_token token, char c)
{
    return token.kind == RW_TOKEN_CHAR && at->insert->text.ptr[token.start] == c;
}

static bool is_word(const view *at, rw_token token, const char *word)
{
    return rw_token_is(at->insert->text, token, word);
}

static bool is_any(const view *at, rw_token token, const char *const *words)
{
    for (; *words != NULL; words++)
        if (is_word(at, token, *words))
            return true;
    return false;
}

/* --- types --- */

/* PostgreSQL's own, beside those that pgw_type_by_name() knows: what else is called so counts like
 * what a function is called. */
static bool is_other_type(const view *at)
{
    static const char *const words[] = {
        "bit",    "box",      "cidr",     "circle",  "double",   "inet",     "interval", "json",
        "jsonb",  "jsonpath", "line",     "lseg",    "macaddr",  "macaddr8", "money",    "national",
        "oid",    "path",     "point",    "polygon", "regclass", "regproc",  "regtype",  "time",
        "timetz", "tsquery",  "tsvector", "varbit",  "xml",      NULL};
    return is_any(at, at->token, words);
}

static bool is_known_type(const view *at)
{
    enum { LONGEST = 16 };
    char lower[LONGEST];
    pgw_slice name = rw_token_text(at->insert->text, at->token);
    if (at->token.kind != RW_TOKEN_WORD || name.len > LONGEST)
        return false;
    for (size_t i = 0; i < name.len; i++)
        lower[i] = (char)(name.ptr[i] | (name.ptr[i] >= 'A' && name.ptr[i] <= 'Z' ? 0x20 : 0));
    return pgw_type_by_name((pgw_slice){lower, name.len}) != PGW_UNSPECIFIED;
}

/* Where the database has types that are called like PostgreSQL's own, a cast may mean one. */
static runs of_type(const view *at)
{
    const rw_table *table = at->insert->table;
    if (is_char(at, at->next, '.'))
        return is_word(at, at->token, "pg_catalog") ? NOTHING : ANYTHING;
    for (size_t i = 0; i < table->column_count; i++)
        if (table->columns[i].own_names || table->columns[i].own_rows)
            return ANYTHING;
    return is_known_type(at) ? NOTHING : is_other_type(at) ? BUILT_IN : ANYTHING;
}

/* Whether a type stands here: behind ::, or behind AS in CAST. Outside of brackets AS gives a name.
 */
static bool at_type(const view *at)
{
    return at->previous.kind == RW_TOKEN_CAST || (at->depth > 0 && is_word(at, at->previous, "as"));
}

/* --- names --- */

/* Words by which nothing runs, with a bracket behind them or without. */
static bool is_plain(const view *at)
{
    static const char *const words[] = {"and",
                                        "array",
                                        "as",
                                        "cast",
                                        "coalesce",
                                        "conflict",
                                        "constraint",
                                        "current_date",
                                        "current_timestamp",
                                        "default",
                                        "do",
                                        "excluded",
                                        "false",
                                        "gen_random_uuid",
                                        "is",
                                        "localtimestamp",
                                        "nextval",
                                        "not",
                                        "nothing",
                                        "now",
                                        "null",
                                        "on",
                                        "or",
                                        "precision",
                                        "returning",
                                        "row",
                                        "set",
                                        "true",
                                        "update",
                                        "varying",
                                        "where",
                                        "with",
                                        "without",
                                        "zone",
                                        NULL};
    return is_any(at, at->token, words);
}

static bool is_column(const view *at)
{
    const rw_table *table = at->insert->table;
    pgw_slice name = rw_token_text(at->insert->text, at->token);
    bool quoted = at->token.kind == RW_TOKEN_QUOTED;
    for (size_t i = 0; i < table->column_count; i++)
        if (quoted
                ? pgw_slice_eq_str((pgw_slice){name.ptr + 1, name.len - 2}, table->columns[i].name)
                : pgw_slice_ieq_str(name, table->columns[i].name))
            return true;
    return false;
}

static runs of_call(const view *at)
{
    if (at->token.kind == RW_TOKEN_QUOTED)
        return ANYTHING;
    if (is_plain(at))
        return NOTHING;
    return rw_call_of(rw_token_text(at->insert->text, at->token)) == RW_CALL_UNKNOWN ? ANYTHING
                                                                                     : BUILT_IN;
}

/* What is none of the table's columns may be a function of its row. */
static runs of_qualified(const view *at)
{
    bool call = is_char(at, at->next, '(');
    if (is_word(at, at->before, "pg_catalog"))
        return call ? of_call(at) : NOTHING;
    return !call && is_column(at) ? NOTHING : ANYTHING;
}

/* What a word before a string runs: it is a type's name, or a word of the grammar. */
static runs of_prefix(const view *at)
{
    if (is_known_type(at) || is_other_type(at))
        return of_type(at);
    bool word = at->token.kind == RW_TOKEN_WORD &&
                rw_call_of(rw_token_text(at->insert->text, at->token)) == RW_CALL_HARMLESS;
    return is_plain(at) ? NOTHING : word ? BUILT_IN : ANYTHING;
}

static runs of_name(const view *at)
{
    static const char *const queries[] = {"select", "table", "values", NULL};
    if (at_type(at))
        return of_type(at);
    if (is_char(at, at->previous, '.'))
        return of_qualified(at);
    if (is_char(at, at->next, '.'))
        return NOTHING; /* The token behind the point decides. */
    if (is_any(at, at->token, queries))
        return ANYTHING;
    if (is_char(at, at->next, '('))
        return of_call(at);
    if (at->next.kind == RW_TOKEN_STRING)
        return of_prefix(at);
    bool label = is_word(at, at->previous, "as");
    bool type = is_known_type(at) || is_other_type(at);
    return label || type || is_plain(at) || is_column(at) ? NOTHING : BUILT_IN;
}

/* --- operators --- */

static bool ends_item(const view *at)
{
    return is_char(at, at->next, ',') || at->next.kind == RW_TOKEN_END;
}

static bool begins_operand(const view *at)
{
    return is_char(at, at->previous, '(') || is_char(at, at->previous, ',') ||
           at->previous.kind == RW_TOKEN_OPERATOR || is_word(at, at->previous, "returning");
}

static runs of_operator(view *at)
{
    pgw_slice text = rw_token_text(at->insert->text, at->token);
    bool number = at->next.kind == RW_TOKEN_INTEGER || at->next.kind == RW_TOKEN_DECIMAL;
    bool assigns = at->assigns && at->depth == 0 && pgw_slice_eq_str(text, "=");
    bool star = pgw_slice_eq_str(text, "*") && ends_item(at);
    bool sign = (pgw_slice_eq_str(text, "-") || pgw_slice_eq_str(text, "+")) && number;
    at->assigns = at->assigns && !assigns;
    return assigns || star || (sign && begins_operand(at)) ? NOTHING : BUILT_IN;
}

/* --- all of it --- */

static void keep_place(view *at)
{
    bool opens = is_char(at, at->token, '(') || is_char(at, at->token, '[');
    bool closes = is_char(at, at->token, ')') || is_char(at, at->token, ']');
    if (at->depth == 0) {
        at->sets = is_word(at, at->token, "set") || (at->sets && !is_word(at, at->token, "where") &&
                                                     !is_word(at, at->token, "returning"));
        at->assigns = at->sets &&
                      (at->assigns || is_word(at, at->token, "set") || is_char(at, at->token, ','));
    }
    at->depth += opens;
    at->depth -= closes && at->depth > 0;
}

static runs of_token(view *at)
{
    switch (at->token.kind) {
    case RW_TOKEN_WORD:
    case RW_TOKEN_QUOTED:
        return of_name(at);
    case RW_TOKEN_OPERATOR:
        return of_operator(at);
    case RW_TOKEN_BAD:
        return ANYTHING;
    default:
        return NOTHING;
    }
}

static void step(view *at)
{
    at->before = at->previous;
    at->previous = at->token;
    at->token = at->next;
    at->next = rw_lexer_next(&at->lexer);
}

/* Whether the INSERT's list of columns has subscripts, as in `v[f(1)]`. */
static bool has_subscripts(const rw_insert *insert, bool conforming)
{
    rw_lexer lexer;
    rw_lexer_init(&lexer, insert->text, conforming);
    bool has = false;
    for (rw_token token = rw_lexer_next(&lexer);
         token.kind != RW_TOKEN_BAD && token.start < insert->list_end && !has;
         token = rw_lexer_next(&lexer))
        has = token.kind == RW_TOKEN_CHAR && insert->text.ptr[token.start] == '[';
    return has;
}

static runs of_insert(const rw_insert *insert, bool conforming)
{
    view at = {.insert = insert};
    /* Casts of the database's own run even where a constant is stored. */
    bool any = rw_table_has_own_casts(insert->table) || has_subscripts(insert, conforming);
    runs most = any ? ANYTHING : NOTHING;
    rw_lexer_init(&at.lexer, insert->text, conforming);
    at.lexer.at = insert->default_values > 0 ? insert->default_values_end : insert->values;
    at.next = rw_lexer_next(&at.lexer);
    for (step(&at); at.token.kind != RW_TOKEN_END && most != ANYTHING; step(&at)) {
        runs here = of_token(&at);
        most = here > most ? here : most;
        keep_place(&at);
        if (at.token.kind == RW_TOKEN_BAD)
            break;
    }
    return most;
}

/* More than rows may be written, or other code may run for them. */
static bool runs_for_rows(const rw_insert *insert)
{
    const rw_table *table = insert->table;
    bool updates = insert->has_conflict && (table->heeds_updates || table->defers_updates);
    bool with = (insert->text.ptr[0] | 0x20) == 'w';
    bool defaults = false;
    for (size_t i = 0; i < table->column_count; i++)
        defaults = defaults || (table->columns[i].has_default && !table->columns[i].sequence &&
                                !table->columns[i].generated);
    return !table->mergeable || updates || with || insert->query || defaults;
}

unsigned rw_insert_effects(const rw_statement *statement, bool conforming)
{
    const rw_insert *insert = statement->insert;
    unsigned effects = statement->effects;
    bool sequences = false;
    if (insert == NULL)
        return effects;
    const rw_table *table = insert->table;
    for (size_t i = 0; i < table->column_count; i++)
        sequences = sequences || table->columns[i].sequence;
    if (table->mergeable && !sequences)
        effects &= ~(unsigned)RW_EFFECT_WRITES;
    if (runs_for_rows(insert))
        return effects;
    runs most = of_insert(insert, conforming);
    bool own = most == ANYTHING || (most == BUILT_IN && table->overloads);
    return (effects & ~(unsigned)RW_EFFECT_RUNS) | (own ? RW_EFFECT_READS : 0);
}
