#include "rewrite/statement/words/effects.h"

#include "protocol/types.h"
#include "rewrite/lex/lexer_text.h"
#include "rewrite/lex/words.h"
#include "rewrite/statement/words/settings.h"

#include <string.h>

/* The statement, read a token at a time. */
typedef struct reader {
    rw_lexer lexer;
    rw_token token; /* the current token, which is not yet taken */
    pgw_arena *arena;
    rw_statement *out;
} reader;

static const pgw_slice nothing = {NULL, 0};

static void advance(reader *in)
{
    in->token = rw_lexer_next(&in->lexer);
}

static bool at_word(const reader *in, const char *word)
{
    return rw_token_is(in->lexer.text, in->token, word);
}

static bool take_word(reader *in, const char *word)
{
    if (!at_word(in, word))
        return false;
    advance(in);
    return true;
}

static bool at_text(const reader *in, const char *text)
{
    return pgw_slice_eq_str(rw_token_text(in->lexer.text, in->token), text);
}

static bool at_end(const reader *in)
{
    return in->token.kind == RW_TOKEN_END;
}

/* An identifier as stored; empty if there is none. */
static pgw_slice take_name(reader *in)
{
    if (in->token.kind != RW_TOKEN_WORD && in->token.kind != RW_TOKEN_QUOTED)
        return nothing;
    pgw_slice name = rw_take_identifier(&in->lexer, in->token, in->arena);
    advance(in);
    return name;
}

/* Anything a session has may be another. */
enum { EVERYTHING = RW_EFFECT_SETTINGS | RW_EFFECT_NAMES | RW_EFFECT_STATE };

static void add(reader *in, unsigned effects)
{
    in->out->effects |= effects;
}

/* --- settings --- */

/* One constant and then the end: true, and its text in `value`; DEFAULT is {NULL, 0}. */
static bool take_value(reader *in, bool zone, pgw_slice *value)
{
    *value = nothing;
    if (take_word(in, "default") || (zone && take_word(in, "local")))
        return at_end(in);
    bool minus = at_text(in, "-");
    bool sign = minus || at_text(in, "+");
    if (sign)
        advance(in);
    rw_token token = in->token;
    pgw_slice text = in->lexer.text;
    switch (token.kind) {
    case RW_TOKEN_INTEGER:
    case RW_TOKEN_DECIMAL:
        *value = rw_token_text(text, token);
        if (minus)
            *value =
                pgw_slice_str(pgw_arena_printf(in->arena, "-%.*s", (int)value->len, value->ptr));
        break;
    case RW_TOKEN_STRING:
        if (sign || !rw_token_string(text, token, in->lexer.conforming, in->arena, value))
            return false;
        if (value->ptr == NULL)
            *value = PGW_LITERAL("");
        break;
    case RW_TOKEN_WORD:
    case RW_TOKEN_QUOTED:
        *value = rw_token_name(text, token, in->arena);
        if (sign || value->ptr == NULL || at_word(in, "interval"))
            return false;
        break;
    default:
        return false;
    }
    advance(in);
    return at_end(in);
}

/* What setting `name` does, but for its value. */
static unsigned setting_effects(pgw_slice name, bool local)
{
    unsigned effects = local ? RW_EFFECT_TRANSACTION : 0;
    switch (rw_setting_kind_of(name)) {
    case RW_SETTING_TRACKED:
        return effects | RW_EFFECT_TRACKED;
    case RW_SETTING_PATH:
        return effects | RW_EFFECT_NAMES;
    case RW_SETTING_OUTPUT:
        return effects | RW_EFFECT_OUTPUT | RW_EFFECT_STATE;
    case RW_SETTING_PLAIN:
        return effects | RW_EFFECT_STATE;
    default: /* RW_SETTING_OTHER and what parts */
        break;
    }
    return effects | RW_EFFECT_SETTINGS | RW_EFFECT_STATE;
}

static pgw_slice take_schema(reader *in)
{
    pgw_slice name = nothing;
    if (in->token.kind != RW_TOKEN_STRING)
        return take_name(in);
    if (!rw_token_string(in->lexer.text, in->token, in->lexer.conforming, in->arena, &name))
        return nothing;
    advance(in);
    return name;
}

/* The schema that a search_path begins with, for tables. Empty where it depends. */
static pgw_slice first_of_path(const reader *in)
{
    reader ahead = *in;
    if (at_word(in, "default"))
        return nothing;
    pgw_slice first = nothing;
    for (;;) {
        pgw_slice name = take_schema(&ahead);
        if (name.len == 0 || pgw_slice_eq_str(name, "$user"))
            return nothing;
        if (first.len == 0 && !pgw_slice_eq_str(name, "pg_catalog"))
            first = name;
        if (at_end(&ahead))
            return first;
        if (!at_text(&ahead, ","))
            return nothing;
        advance(&ahead);
    }
}

static void set_setting(reader *in, pgw_slice name, bool local, bool zone)
{
    rw_statement *out = in->out;
    out->setting = rw_setting_name(in->arena, name);
    add(in, setting_effects(out->setting, local));
    if (pgw_slice_eq_str(out->setting, "search_path"))
        out->path = first_of_path(in);
    bool simple = take_value(in, zone, &out->setting_value);
    out->setting_simple = simple && !local;
    if (!simple)
        out->setting_value = nothing;
}

/* SET x.y = …: an extension's, anybody's, or keyspread's own, whose words are known. */
static void set_qualified(reader *in, pgw_slice first, bool local)
{
    rw_statement *out = in->out;
    pgw_slice value;
    add(in, RW_EFFECT_SETTINGS | RW_EFFECT_STATE | (local ? RW_EFFECT_TRANSACTION : 0));
    advance(in);
    pgw_slice last = take_name(in),
              name = pgw_slice_str(pgw_arena_printf(in->arena, "%.*s.%.*s", (int)first.len,
                                                    first.ptr, (int)last.len, last.ptr));
    rw_own_setting own = rw_own_setting_of(rw_setting_name(in->arena, name));
    bool plain = own < RW_OWN_SETTINGS && (at_word(in, "to") || at_text(in, "="));
    advance(in);
    if (!plain || !take_value(in, false, &value) || rw_own_word_of(own, value) != RW_SAYS_WRONG)
        return;
    out->error = pgw_arena_alloc(in->arena, sizeof *out->error);
    rw_own_refuse(own, value, out->error);
    out->kind = RW_STATEMENT_REFUSED;
}

/* What stands behind SET [SESSION | LOCAL]. */
static void read_set_rest(reader *in, bool session, bool local)
{
    if (session && take_word(in, "characteristics")) {
        add(in, RW_EFFECT_SETTINGS | RW_EFFECT_STATE);
        return;
    }
    /* SET ROLE, and SET SESSION AUTHORIZATION with or without SESSION or LOCAL before it. */
    if (at_word(in, "authorization") || at_word(in, "session") || at_word(in, "role")) {
        add(in, EVERYTHING | (local ? RW_EFFECT_TRANSACTION : 0));
        return;
    }
    if (take_word(in, "schema")) {
        set_setting(in, PGW_LITERAL("search_path"), local, false);
        return;
    }
    if (take_word(in, "names")) {
        set_setting(in, PGW_LITERAL("client_encoding"), local, false);
        if (in->out->setting_value.ptr == NULL) /* SET NAMES alone is SET NAMES DEFAULT */
            in->out->setting_simple = at_end(in) && !local;
        return;
    }
    if (take_word(in, "time")) {
        take_word(in, "zone");
        set_setting(in, PGW_LITERAL("timezone"), local, true);
        return;
    }
    pgw_slice name = take_name(in);
    if (name.len > 0 && at_text(in, ".")) {
        set_qualified(in, name, local);
        return;
    }
    bool plain = name.len > 0 && (at_word(in, "to") || at_text(in, "="));
    advance(in);
    if (plain)
        set_setting(in, name, local, false);
    else /* XML OPTION, what is no SET at all */
        add(in, EVERYTHING | (local ? RW_EFFECT_TRANSACTION : 0));
}

static void read_set(reader *in)
{
    if (at_word(in, "constraints")) {
        add(in, RW_EFFECT_TRANSACTION);
        return;
    }
    bool local = take_word(in, "local");
    bool session = !local && take_word(in, "session");
    if (!at_word(in, "transaction") || session)
        read_set_rest(in, session, local);
}

static void read_reset(reader *in)
{
    pgw_slice name = nothing;
    if (at_word(in, "transaction")) {
        add(in, RW_EFFECT_TRANSACTION);
        return;
    }
    if (take_word(in, "time"))
        name = take_word(in, "zone") ? PGW_LITERAL("timezone") : nothing;
    else if (!at_word(in, "session"))
        name = take_name(in);
    if (name.len == 0 || !at_end(in) || pgw_slice_eq_str(name, "all") ||
        pgw_slice_eq_str(name, "role")) {
        add(in, EVERYTHING | RW_EFFECT_OUTPUT);
        return;
    }
    in->out->setting = rw_setting_name(in->arena, name);
    in->out->setting_simple = true;
    add(in, setting_effects(in->out->setting, false));
}

/* --- the other words --- */

static void read_prepare(reader *in)
{
    pgw_slice name = take_name(in);
    if (pgw_slice_eq_str(name, "transaction") && in->token.kind == RW_TOKEN_STRING) {
        add(in, RW_EFFECT_TRANSACTION);
        return;
    }
    in->out->name = name;
    if (name.len > 0)
        add(in, RW_EFFECT_PREPARE);
}

static void read_deallocate(reader *in)
{
    bool prepare = take_word(in, "prepare");
    bool all = at_word(in, "all");
    pgw_slice name = take_name(in);
    if (prepare && name.len == 0) /* The statement is called "prepare". */
        name = PGW_LITERAL("prepare");
    in->out->name = all ? nothing : name;
    if (all || name.len > 0)
        add(in, RW_EFFECT_DEALLOCATE);
}

static void read_discard(reader *in)
{
    if (at_word(in, "all"))
        add(in, RW_EFFECT_DISCARD_ALL);
    else if (at_word(in, "sequences"))
        add(in, RW_EFFECT_DRAWS | RW_EFFECT_STATE);
    else if (!at_word(in, "plans"))
        add(in, RW_EFFECT_NAMES);
}

/* Words that may change where, or how, a sequence goes on. */
static const char *const resetting[] = {"setval",   "restart",  "sequence", "increment",
                                        "minvalue", "maxvalue", "cycle",    "identity",
                                        "owned",    "revoke",   NULL};

/* The body is a string: words are searched for in all of the text. */
static void read_do(reader *in)
{
    static const char *const schema[] = {"create", "alter", "drop", "truncate", NULL};
    static const char *const drawing[] = {"currval", "lastval", "nextval", NULL};
    add(in, EVERYTHING | RW_EFFECT_OUTPUT);
    if (rw_holds_any(in->lexer.text, schema))
        add(in, RW_EFFECT_DDL);
    if (rw_holds_any(in->lexer.text, drawing))
        add(in, RW_EFFECT_DRAWS);
    if (rw_holds_any(in->lexer.text, resetting))
        add(in, RW_EFFECT_DRAWS | RW_EFFECT_RESETS);
}

static void read_ddl(reader *in)
{
    add(in, RW_EFFECT_DDL | RW_EFFECT_NAMES | RW_EFFECT_RUNS);
}

/* What there is already is changed, or goes. */
static void read_change(reader *in)
{
    read_ddl(in);
    if (at_word(in, "role") || at_word(in, "user") || at_word(in, "group"))
        add(in, RW_EFFECT_RIGHTS);
    if (rw_holds_any(in->lexer.text, resetting))
        add(in, RW_EFFECT_DRAWS | RW_EFFECT_RESETS);
}

/* The name of a relation that is made; behind it nothing is read. */
static void take_made(reader *in)
{
    if (take_word(in, "if") && take_word(in, "not"))
        take_word(in, "exists");
    in->out->makes = take_name(in);
    while (at_text(in, ".")) {
        advance(in);
        in->out->makes = take_name(in);
    }
}

/* CREATE [OR REPLACE] [LOCAL] TEMP … TABLE name. A temporary function shadows nothing. */
static void read_create(reader *in)
{
    static const char *const before[] = {"or",   "replace",   "global",   "local",
                                         "temp", "temporary", "unlogged", "recursive"};
    static const char *const routines[] = {"function", "procedure", "aggregate"};
    read_ddl(in);
    for (size_t i = 0; i < sizeof before / sizeof before[0]; i++)
        take_word(in, before[i]);
    if (take_word(in, "table") || take_word(in, "view") || take_word(in, "sequence"))
        take_made(in);
    for (size_t i = 0; i < sizeof routines / sizeof routines[0]; i++)
        if (at_word(in, routines[i]))
            in->out->effects &= ~(unsigned)RW_EFFECT_NAMES;
}

/* Effects of statements by their first word, in alphabetical order. */
static const struct {
    const char *word;
    unsigned effects;
    void (*read)(reader *in); /* reads what the first word does not tell; NULL: nothing more */
} readers[] = {
    {"abort", RW_EFFECT_TRANSACTION, NULL},
    {"alter", 0, read_change},
    {"begin", RW_EFFECT_TRANSACTION, NULL},
    {"call", EVERYTHING | RW_EFFECT_OUTPUT, NULL},
    {"close", 0, NULL},
    {"commit", RW_EFFECT_TRANSACTION, NULL},
    {"copy", RW_EFFECT_COPY | RW_EFFECT_RUNS | RW_EFFECT_WRITES, NULL},
    {"create", 0, read_create},
    {"deallocate", 0, read_deallocate},
    {"delete", RW_EFFECT_RUNS | RW_EFFECT_WRITES, NULL},
    {"discard", 0, read_discard},
    {"do", 0, read_do},
    {"drop", 0, read_change},
    {"end", RW_EFFECT_TRANSACTION, NULL},
    {"execute", RW_EFFECT_RUNS | RW_EFFECT_RESUMES, NULL},
    {"fetch", RW_EFFECT_RUNS | RW_EFFECT_RESUMES, NULL},
    {"grant", RW_EFFECT_RUNS | RW_EFFECT_RIGHTS, NULL},
    {"import", RW_EFFECT_DDL | RW_EFFECT_NAMES | RW_EFFECT_RUNS, NULL},
    {"insert", RW_EFFECT_RUNS | RW_EFFECT_WRITES, NULL},
    {"listen", RW_EFFECT_STATE, NULL},
    {"load", EVERYTHING | RW_EFFECT_OUTPUT, NULL},
    {"lock", RW_EFFECT_STATE, NULL},
    {"merge", RW_EFFECT_RUNS | RW_EFFECT_WRITES, NULL},
    {"move", RW_EFFECT_RUNS | RW_EFFECT_RESUMES, NULL},
    {"notify", 0, NULL},
    {"prepare", 0, read_prepare},
    {"reassign", RW_EFFECT_DDL | RW_EFFECT_NAMES | RW_EFFECT_RUNS, NULL},
    {"release", RW_EFFECT_TRANSACTION, NULL},
    {"replace", RW_EFFECT_RUNS | RW_EFFECT_WRITES, NULL},
    {"reset", 0, read_reset},
    /* RESETS: a role with a block of numbers may lose the right to draw. */
    {"revoke", RW_EFFECT_RUNS | RW_EFFECT_RESETS | RW_EFFECT_RIGHTS, NULL},
    {"rollback", RW_EFFECT_TRANSACTION, NULL},
    {"savepoint", RW_EFFECT_TRANSACTION, NULL},
    {"select", RW_EFFECT_READS, NULL},
    {"set", 0, read_set},
    {"show", 0, NULL},
    {"start", RW_EFFECT_TRANSACTION, NULL},
    {"table", RW_EFFECT_READS, NULL},
    {"truncate", 0, read_change},
    {"unlisten", RW_EFFECT_STATE, NULL},
    {"update", RW_EFFECT_RUNS | RW_EFFECT_WRITES, NULL},
    {"upsert", RW_EFFECT_RUNS | RW_EFFECT_WRITES, NULL},
    {"values", RW_EFFECT_READS, NULL},
};

/* EXPLAIN runs nothing, and makes nothing, unless it is to ANALYZE. */
static bool only_explains(const reader *in, rw_token first)
{
    static const char *const analyzing[] = {"analyze", "analyse", NULL};
    return rw_token_is(in->lexer.text, first, "explain") &&
           !rw_holds_any(in->lexer.text, analyzing);
}

/* CREATE calls nothing, unless it makes something of a query. */
static bool only_defines(const reader *in, rw_token first)
{
    static const char *const querying[] = {"as", NULL};
    return rw_token_is(in->lexer.text, first, "create") && !rw_holds_any(in->lexer.text, querying);
}

/* A temporary type, or a relation with its type of rows, is found before PostgreSQL's own one. */
static bool may_shadow_type(const reader *in)
{
    rw_lexer lexer;
    pgw_slice text = in->lexer.text;
    rw_lexer_init(&lexer, text, in->lexer.conforming);
    (void)rw_lexer_next(&lexer);
    rw_token second = rw_lexer_next(&lexer);
    return rw_token_is(text, second, "domain") || rw_token_is(text, second, "type") ||
           pgw_type_by_name(in->out->makes) != PGW_UNSPECIFIED;
}

static void add_marked(reader *in, rw_token first, const rw_piece *piece)
{
    unsigned marks = piece->marks;
    pgw_slice text = in->lexer.text;
    if (marks & RW_MARK_SET_CONFIG)
        add(in,
            RW_EFFECT_SETTINGS | RW_EFFECT_STATE | RW_EFFECT_OUTPUT |
                (rw_configures_no_names(text, in->lexer.conforming, in->arena) ? 0
                                                                               : RW_EFFECT_NAMES));
    if (marks & RW_MARK_SETTINGS && (marks & RW_MARK_WRITE || rw_token_is(text, first, "update")))
        add(in, EVERYTHING | RW_EFFECT_OUTPUT);
    if (marks & (RW_MARK_ADVISORY | RW_MARK_HOLD | RW_MARK_KEEPS))
        add(in, RW_EFFECT_STATE);
    if (marks & RW_MARK_DRAWS && !only_explains(in, first))
        add(in, RW_EFFECT_DRAWS);
    if (marks & RW_MARK_RESETS && !only_explains(in, first))
        add(in, RW_EFFECT_RESETS);
    if (marks & RW_MARK_CALLS && !only_defines(in, first))
        add(in, RW_EFFECT_CALLS);
    if (marks & RW_MARK_WRITE)
        add(in, RW_EFFECT_WRITES);
    if (marks & RW_MARK_TEMPORARY && !only_explains(in, first)) {
        add(in, RW_EFFECT_STATE);
        if (!rw_token_is(text, first, "create"))
            add(in, RW_EFFECT_NAMES);
        else if (!may_shadow_type(in)) /* A temporary object is nothing that other sessions see. */
            in->out->effects &= ~(unsigned)RW_EFFECT_DDL;
    }
}

enum { READERS = sizeof readers / sizeof readers[0] };

/* The first that begins with the same letter, or a later one. */
static size_t first_reader(pgw_slice text, rw_token first)
{
    size_t from = 0, to = READERS;
    char letter = first.kind == RW_TOKEN_WORD ? (char)(text.ptr[first.start] | 0x20) : '\0';
    while (from < to) {
        size_t middle = (from + to) / 2;
        if (readers[middle].word[0] < letter)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* Adds the effects by the first word; a statement with another one may run anything that is stored.
 */
static void read_first(reader *in, rw_token first)
{
    for (size_t i = first_reader(in->lexer.text, first); i < READERS; i++)
        if (rw_token_is(in->lexer.text, first, readers[i].word)) {
            add(in, readers[i].effects);
            if (readers[i].read != NULL)
                readers[i].read(in);
            return;
        }
    add(in, RW_EFFECT_RUNS);
}

void rw_effects(rw_lexer lexer, const rw_piece *piece, pgw_arena *arena, rw_statement *out)
{
    reader in = {.lexer = lexer, .arena = arena, .out = out};
    advance(&in);
    bool into = at_word(&in, "select") || at_word(&in, "with") || at_word(&in, "explain") ||
                at_text(&in, "(");
    rw_token first = in.token;
    advance(&in);
    read_first(&in, first);
    if (into && piece->marks & RW_MARK_INTO && !only_explains(&in, first))
        add(&in, RW_EFFECT_DDL | RW_EFFECT_NAMES);
    add_marked(&in, first, piece);
}
