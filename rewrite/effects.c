#include "rewrite/effects.h"

#include <string.h>

/* The statement, read a token at a time. */
typedef struct reader {
    rw_lexer lexer;
    rw_token token; /* not yet taken */
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
    pgw_slice name = rw_token_name(in->lexer.text, in->token, in->arena);
    advance(in);
    return name;
}

static bool is_letter(char c)
{
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool contains(pgw_slice text, const char *word)
{
    size_t len = strlen(word);
    for (size_t i = 0; i + len <= text.len; i++)
        if (pgw_slice_ieq_str((pgw_slice){text.ptr + i, len}, word))
            return true;
    return false;
}

/* The same, but not as a part of a longer word. */
static bool contains_word(pgw_slice text, const char *word)
{
    size_t len = strlen(word);
    for (size_t i = 0; i + len <= text.len; i++) {
        bool begins = i == 0 || !is_letter(text.ptr[i - 1]);
        bool ends = i + len == text.len || !is_letter(text.ptr[i + len]);
        if (begins && ends && pgw_slice_ieq_str((pgw_slice){text.ptr + i, len}, word))
            return true;
    }
    return false;
}

static void add(reader *in, unsigned effects)
{
    in->out->effects |= effects;
}

/* --- settings --- */

static bool is_one_of(pgw_slice name, const char *const *names)
{
    for (; *names != NULL; names++)
        if (pgw_slice_eq_str(name, *names))
            return true;
    return false;
}

/* Part of a session's key, replayed on a new link. */
static bool is_tracked(pgw_slice name)
{
    static const char *const names[] = {"client_encoding",
                                        "datestyle",
                                        "intervalstyle",
                                        "timezone",
                                        "standard_conforming_strings",
                                        "synchronous_commit",
                                        "statement_timeout",
                                        "lock_timeout",
                                        NULL};
    return is_one_of(name, names);
}

/* Change only what the client is shown of its own results. */
static bool is_shown_only(pgw_slice name)
{
    static const char *const names[] = {"client_min_messages", "application_name", NULL};
    return is_one_of(name, names);
}

/* … and what is stored where a statement makes text of a value. */
static bool is_output(pgw_slice name)
{
    static const char *const names[] = {"extra_float_digits", "bytea_output", NULL};
    return is_one_of(name, names);
}

static pgw_slice lower_copy(pgw_arena *arena, pgw_slice name)
{
    char *copy = (char *)pgw_arena_copy(arena, name).ptr;
    for (size_t i = 0; i < name.len; i++)
        if (copy[i] >= 'A' && copy[i] <= 'Z')
            copy[i] = (char)(copy[i] + 32);
    return (pgw_slice){copy, name.len};
}

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
    if (is_shown_only(name))
        return effects;
    if (is_output(name))
        return effects | RW_EFFECT_OUTPUT;
    if (is_tracked(name))
        return effects | RW_EFFECT_TRACKED;
    if (pgw_slice_eq_str(name, "search_path"))
        effects |= RW_EFFECT_TEMPORARY;
    return effects | RW_EFFECT_PRIVATE;
}

/* A search_path under which an unqualified name means what it meant at the start: a list of public,
 * "$user" and pg_catalog, or the default. */
static bool is_usual_path(const reader *in)
{
    static const char *const names[] = {"public", "$user", "pg_catalog", NULL};
    reader ahead = *in;
    if (take_word(&ahead, "default"))
        return at_end(&ahead);
    for (;;) {
        pgw_slice name = nothing;
        if (ahead.token.kind != RW_TOKEN_STRING)
            name = take_name(&ahead);
        else if (rw_token_string(ahead.lexer.text, ahead.token, ahead.lexer.conforming, ahead.arena,
                                 &name))
            advance(&ahead);
        if (!is_one_of(name, names))
            return false;
        if (at_end(&ahead))
            return true;
        if (!at_text(&ahead, ","))
            return false;
        advance(&ahead);
    }
}

static void set_setting(reader *in, pgw_slice name, bool local, bool zone)
{
    rw_statement *out = in->out;
    out->setting = lower_copy(in->arena, name);
    add(in, setting_effects(out->setting, local));
    if (pgw_slice_eq_str(out->setting, "search_path") && is_usual_path(in))
        out->effects &= ~(unsigned)RW_EFFECT_TEMPORARY;
    bool simple = take_value(in, zone, &out->setting_value);
    out->setting_simple = simple && !local;
    if (!simple)
        out->setting_value = nothing;
}

/* What stands behind SET [SESSION | LOCAL]. */
static void read_set_rest(reader *in, bool session, bool local)
{
    if (session && take_word(in, "characteristics")) {
        add(in, RW_EFFECT_PRIVATE);
        return;
    }
    /* SET SESSION AUTHORIZATION, SET SESSION SESSION AUTHORIZATION, SET LOCAL SESSION … */
    if (at_word(in, "authorization") || at_word(in, "session") || at_word(in, "role")) {
        add(in, RW_EFFECT_PRIVATE | (local ? RW_EFFECT_TRANSACTION : 0));
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
    bool plain = name.len > 0 && (at_word(in, "to") || at_text(in, "="));
    advance(in);
    if (plain)
        set_setting(in, name, local, false);
    else /* custom.name, XML OPTION, what is no SET at all */
        add(in, RW_EFFECT_PRIVATE | (local ? RW_EFFECT_TRANSACTION : 0));
}

static void read_set(reader *in)
{
    if (at_word(in, "transaction") || at_word(in, "constraints")) {
        add(in, RW_EFFECT_TRANSACTION);
        return;
    }
    bool local = take_word(in, "local");
    bool session = !local && take_word(in, "session");
    if (local && at_word(in, "transaction"))
        add(in, RW_EFFECT_TRANSACTION);
    else
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
        add(in, RW_EFFECT_PRIVATE);
        return;
    }
    in->out->setting = lower_copy(in->arena, name);
    in->out->setting_simple = true;
    add(in, setting_effects(in->out->setting, false) & ~(unsigned)RW_EFFECT_TEMPORARY);
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
    if (prepare && name.len == 0) /* a statement that is called so */
        name = PGW_LITERAL("prepare");
    in->out->name = all ? nothing : name;
    if (all || name.len > 0)
        add(in, RW_EFFECT_DEALLOCATE);
}

static void read_discard(reader *in)
{
    if (at_word(in, "all"))
        add(in, RW_EFFECT_DISCARD_ALL);
}

/* The body is a string: whatever it may hold is searched for in all of the text. */
static void read_do(reader *in)
{
    static const char *const schema[] = {"create", "alter", "drop", "truncate"};
    pgw_slice text = in->lexer.text;
    add(in, RW_EFFECT_PRIVATE);
    if (contains_word(text, "temp") || contains_word(text, "temporary") ||
        contains(text, "pg_temp") || contains(text, "search_path"))
        add(in, RW_EFFECT_TEMPORARY);
    if (contains(text, "advisory"))
        add(in, RW_EFFECT_STATE);
    for (size_t i = 0; i < sizeof schema / sizeof schema[0]; i++)
        if (contains_word(text, schema[i]))
            add(in, RW_EFFECT_DDL);
}

static void read_transaction(reader *in)
{
    add(in, RW_EFFECT_TRANSACTION);
}

static void read_ddl(reader *in)
{
    add(in, RW_EFFECT_DDL);
}

static void read_state(reader *in)
{
    add(in, RW_EFFECT_STATE);
}

static void read_private(reader *in)
{
    add(in, RW_EFFECT_PRIVATE);
}

static void read_copy(reader *in)
{
    add(in, RW_EFFECT_COPY);
}

/* By the first word. */
static const struct {
    const char *word;
    void (*read)(reader *in);
} readers[] = {
    {"abort", read_transaction},
    {"alter", read_ddl},
    {"begin", read_transaction},
    {"call", read_private},
    {"commit", read_transaction},
    {"copy", read_copy},
    {"create", read_ddl},
    {"deallocate", read_deallocate},
    {"discard", read_discard},
    {"do", read_do},
    {"drop", read_ddl},
    {"end", read_transaction},
    {"import", read_ddl},
    {"listen", read_state},
    {"load", read_private},
    {"lock", read_state},
    {"prepare", read_prepare},
    {"reassign", read_ddl},
    {"release", read_transaction},
    {"reset", read_reset},
    {"rollback", read_transaction},
    {"savepoint", read_transaction},
    {"set", read_set},
    {"start", read_transaction},
    {"truncate", read_ddl},
    {"unlisten", read_state},
};

/* A constant, as PostgreSQL would read it, that is not search_path. */
static bool names_other_setting(const reader *in, rw_token token)
{
    pgw_slice name;
    return token.kind == RW_TOKEN_STRING &&
           rw_token_string(in->lexer.text, token, in->lexer.conforming, in->arena, &name) &&
           !pgw_slice_ieq_str(name, "search_path");
}

/* Whether each set_config is a call whose first argument certainly is not search_path. */
static bool keeps_search_path(const reader *in)
{
    pgw_slice text = in->lexer.text;
    enum { ELSEWHERE, FUNCTION, OPEN, NAME } seen = ELSEWHERE;
    rw_lexer lexer;
    rw_lexer_init(&lexer, text, in->lexer.conforming);
    bool calls = false;
    for (rw_token token = rw_lexer_next(&lexer);
         token.kind != RW_TOKEN_END && token.kind != RW_TOKEN_BAD; token = rw_lexer_next(&lexer)) {
        char c = token.kind == RW_TOKEN_CHAR ? text.ptr[token.start] : '\0';
        if ((seen == OPEN && !names_other_setting(in, token)) || (seen == NAME && c != ','))
            return false;
        calls |= seen == NAME;
        if (rw_token_is(text, token, "set_config"))
            seen = FUNCTION;
        else if (seen == FUNCTION && c == '(')
            seen = OPEN;
        else
            seen = seen == OPEN ? NAME : ELSEWHERE;
    }
    return calls;
}

static void add_marked(reader *in, rw_token first, const rw_piece *piece)
{
    unsigned marks = piece->marks;
    pgw_slice text = in->lexer.text;
    if (marks & RW_MARK_SET_CONFIG)
        add(in, RW_EFFECT_PRIVATE | (keeps_search_path(in) ? 0 : RW_EFFECT_TEMPORARY));
    if (marks & RW_MARK_SETTINGS && (marks & RW_MARK_WRITE || rw_token_is(text, first, "update")))
        add(in, RW_EFFECT_PRIVATE | RW_EFFECT_TEMPORARY);
    if (marks & (RW_MARK_ADVISORY | RW_MARK_HOLD))
        add(in, RW_EFFECT_STATE);
    if (marks & RW_MARK_TEMPORARY) {
        add(in, RW_EFFECT_PRIVATE | RW_EFFECT_TEMPORARY);
        if (rw_token_is(text, first, "create")) /* nothing that others would see */
            in->out->effects &= ~(unsigned)RW_EFFECT_DDL;
    }
}

void rw_effects(pgw_slice text, const rw_piece *piece, const pgw_env *env, pgw_arena *arena,
                rw_statement *out)
{
    reader in = {.arena = arena, .out = out};
    rw_lexer_init(&in.lexer, text, env->conforming);
    advance(&in);
    bool into = at_word(&in, "select") || at_word(&in, "with") || at_word(&in, "explain") ||
                at_text(&in, "(");
    rw_token first = in.token;
    advance(&in);
    for (size_t i = 0; i < sizeof readers / sizeof readers[0]; i++)
        if (rw_token_is(text, first, readers[i].word)) {
            readers[i].read(&in);
            break;
        }
    if (into && piece->marks & RW_MARK_INTO)
        add(&in, RW_EFFECT_DDL);
    add_marked(&in, first, piece);
}
