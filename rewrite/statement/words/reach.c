#include "rewrite/statement/words/reach.h"

#include "protocol/types.h"
#include "protocol/value_text.h"
#include "rewrite/hash/hash_column.h"
#include "rewrite/lex/lexer.h"

#include <string.h>

typedef struct reader {
    rw_lexer lexer;
    rw_token token;
} reader;

static void advance(reader *in)
{
    in->token = rw_lexer_next(&in->lexer);
}

static bool at_end(const reader *in)
{
    return in->token.kind == RW_TOKEN_END || in->token.kind == RW_TOKEN_BAD;
}

static bool at_one_of(const reader *in, const char *const *words)
{
    for (; *words != NULL; words++)
        if (rw_token_is(in->lexer.text, in->token, *words))
            return true;
    return false;
}

static bool at_word(const reader *in, const char *word)
{
    return rw_token_is(in->lexer.text, in->token, word);
}

static bool at_semicolon(const reader *in)
{
    return pgw_slice_eq_str(rw_token_text(in->lexer.text, in->token), ";");
}

static bool skip_to(reader in, const char *word)
{
    while (!at_end(&in) && !at_word(&in, word))
        advance(&in);
    return at_word(&in, word);
}

/* A stored expression that may change the session which evaluates it. */
static bool calls_loudly(const reader *in)
{
    static const char *const names[] = {"set_config",
                                        "query_to_xml",
                                        "query_to_xmlschema",
                                        "query_to_xml_and_xmlschema",
                                        "ts_stat",
                                        "ts_rewrite",
                                        NULL};
    reader ahead = *in;
    while (!at_end(&ahead) && !at_one_of(&ahead, names))
        advance(&ahead);
    return at_one_of(&ahead, names);
}

/* What stands between CREATE, ALTER or DROP and the kind of the object. */
static void skip_modifiers(reader *in)
{
    static const char *const words[] = {"or",      "replace",  "global",    "local",
                                        "temp",    "unlogged", "temporary", "constraint",
                                        "foreign", "event",    NULL};
    while (at_one_of(in, words))
        advance(in);
}

static char fold(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

/* Whether one of PostgreSQL's own types is called so; of a U&"…" that is not looked at. */
static bool is_type_name(const reader *in)
{
    char name[16];
    pgw_slice text = rw_token_text(in->lexer.text, in->token);
    bool quoted = in->token.kind == RW_TOKEN_QUOTED;
    if (quoted && text.ptr[0] != '"')
        return true;
    pgw_slice bare = quoted && text.len >= 2 ? (pgw_slice){text.ptr + 1, text.len - 2} : text;
    if (bare.len > sizeof name)
        return false;
    for (size_t i = 0; i < bare.len; i++)
        name[i] = quoted ? bare.ptr[i] : fold(bare.ptr[i]);
    return pgw_type_by_name((pgw_slice){name, bare.len}) != PGW_UNSPECIFIED;
}

/* Whether the last part of the name in `[IF NOT EXISTS] a.b` is a type's. */
static bool at_type_name(reader in)
{
    static const char *const before[] = {"if", "not", "exists", NULL};
    while (at_one_of(&in, before))
        advance(&in);
    bool is = is_type_name(&in);
    for (advance(&in); pgw_slice_eq_str(rw_token_text(in.lexer.text, in.token), ".");) {
        advance(&in);
        is = is_type_name(&in);
        advance(&in);
    }
    return is;
}

/* Whether CREATE may make a type with the name of one of PostgreSQL's own, which a cast may mean
 * then. A relation is a type, too. */
static bool makes_type(reader in)
{
    static const char *const types[] = {"type", "domain", NULL};
    static const char *const relations[] = {"materialized", "recursive", "table",
                                            "view",         "sequence",  NULL};
    if (at_one_of(&in, types))
        return true;
    if (!at_one_of(&in, relations))
        return false;
    while (at_one_of(&in, relations))
        advance(&in);
    return at_type_name(in);
}

/* SELECT … INTO a table. */
static bool selects_into_type(reader in)
{
    while (!at_end(&in) && !at_word(&in, "into"))
        advance(&in);
    advance(&in);
    skip_modifiers(&in);
    if (at_word(&in, "table"))
        advance(&in);
    return !at_end(&in) && at_type_name(in);
}

bool rw_moves_columns(pgw_slice text, const rw_table *table, bool conforming)
{
    static const char *const verbs[] = {"create", "alter", "drop", NULL};
    static const char *const kinds[] = {"table", "schema", "type", "domain", NULL};
    reader in;
    rw_lexer_init(&in.lexer, text, conforming);
    advance(&in);
    if (!at_one_of(&in, verbs))
        return false;
    bool creates = at_word(&in, "create");
    advance(&in);
    skip_modifiers(&in);
    bool wide = !at_word(&in, "table");
    if (creates && makes_type(in))
        return true;
    return at_one_of(&in, kinds) &&
           (wide || rw_catalog_mentioned(&(rw_catalog){.tables = &table, .count = 1}, text));
}

/* What neither reads nor changes a table, whatever it names; no word of these takes a snapshot. */
static bool at_bystander(const reader *in)
{
    static const char *const words[] = {"abort", "begin",     "end", "lock",  "release", "rollback",
                                        "reset", "savepoint", "set", "start", NULL};
    return at_one_of(in, words);
}

bool rw_stands_by(pgw_slice text, bool conforming)
{
    reader in;
    rw_lexer_init(&in.lexer, text, conforming);
    advance(&in);
    while (at_bystander(&in)) {
        while (!at_end(&in) && !at_semicolon(&in))
            advance(&in);
        while (at_semicolon(&in))
            advance(&in);
    }
    return in.token.kind == RW_TOKEN_END && !rw_lexer_heeds_conforming(text);
}

bool rw_reaches_tables(pgw_slice text, const rw_catalog *names, bool conforming)
{
    /* Tables inherit columns and triggers from tables of any name, and have types of any; and what
     * functions do, every statement may do. */
    static const char *const made[] = {"trigger",   "rule",      "policy", "extension", "function",
                                       "procedure", "aggregate", "cast",   "operator",  NULL};
    static const char *const changed[] = {
        "table", "type",   "domain",   "collation", "extension", "schema", "trigger",
        "rule",  "policy", "function", "procedure", "routine",   NULL};
    static const char *const dropped[] = {"trigger", "rule", "policy", "extension", "owned", NULL};
    static const char *const unseen[] = {"do", "call", "import", "reassign", NULL};
    reader in;
    rw_lexer_init(&in.lexer, text, conforming);
    advance(&in);
    if (at_one_of(&in, unseen))
        return true;
    if (at_word(&in, "truncate") || at_bystander(&in))
        return false;
    if (at_word(&in, "commit")) {
        advance(&in);
        return at_word(&in, "prepared");
    }
    if (rw_catalog_mentioned(names, text) || calls_loudly(&in))
        return true;
    const char *const *kinds = at_word(&in, "create")  ? made
                               : at_word(&in, "alter") ? changed
                               : at_word(&in, "drop")  ? dropped
                                                       : NULL;
    if (kinds == NULL)
        return selects_into_type(in);
    advance(&in);
    skip_modifiers(&in);
    return at_one_of(&in, kinds) || (kinds == made && makes_type(in)) || skip_to(in, "cascade");
}

/* --- what is sent alike whatever tables there are --- */

/* Whether one of the words stands further on, outside of strings; `outside`: and of parentheses. */
static bool holds_one_of(reader in, const char *const *words, bool outside)
{
    int depth = 0;
    for (; !at_end(&in); advance(&in)) {
        pgw_slice text = rw_token_text(in.lexer.text, in.token);
        depth += pgw_slice_eq_str(text, "(") - pgw_slice_eq_str(text, ")");
        if ((depth == 0 || !outside) && at_one_of(&in, words))
            return true;
    }
    return false;
}

static bool is_one_statement(reader in)
{
    while (!at_end(&in) && !at_semicolon(&in))
        advance(&in);
    while (at_semicolon(&in))
        advance(&in);
    return in.token.kind == RW_TOKEN_END;
}

/* Whether CREATE TABLE makes a table of nothing but what stands in the text, and of tables that
 * foreign keys refer to. */
static bool makes_plainly(reader in)
{
    static const char *const others[] = {"like", "select", NULL};
    static const char *const forms[] = {"as", "of", "inherits", "partition", NULL};
    return !holds_one_of(in, others, false) && !holds_one_of(in, forms, true);
}

static bool creates_alone(reader in)
{
    static const char *const plain[] = {"sequence", NULL};
    static const char *const indexes[] = {"unique", "index", NULL};
    static const char *const whole[] = {"only", NULL};
    static const char *const routines[] = {"function", "procedure", NULL};
    static const char *const written[] = {"select", "insert", "update", "delete", "merge",
                                          "values", "begin",  "return", NULL};
    static const char *const on_rows[] = {"when", NULL};
    static const char *const refers[] = {"references", NULL};
    skip_modifiers(&in);
    if (at_word(&in, "table"))
        return makes_plainly(in) && !holds_one_of(in, refers, false);
    if (at_word(&in, "trigger"))
        return !holds_one_of(in, on_rows, false);
    if (at_one_of(&in, routines))
        return !holds_one_of(in, written, false);
    return at_one_of(&in, plain) || (at_one_of(&in, indexes) && !holds_one_of(in, whole, false));
}

/* What stands behind ALTER TABLE and the table's name. */
static bool alters_alone(reader in)
{
    static const char *const more[] = {"primary", "unique", "references", "constraint",
                                       "exclude", "drop",   "alter",      "rename",
                                       "attach",  "detach", "inherit",    NULL};
    static const char *const values[] = {"statistics", NULL};
    if (!at_word(&in, "alter"))
        return (at_word(&in, "add") || at_word(&in, "owner")) && !holds_one_of(in, more, false);
    advance(&in);
    if (at_word(&in, "column"))
        advance(&in);
    advance(&in);
    bool sets = at_word(&in, "set");
    advance(&in);
    return sets && at_one_of(&in, values) && !holds_one_of(in, more, false);
}

static void skip_name(reader *in)
{
    static const char *const before[] = {"if", "exists", NULL};
    while (at_one_of(in, before))
        advance(in);
    for (advance(in); pgw_slice_eq_str(rw_token_text(in->lexer.text, in->token), "."); advance(in))
        advance(in);
}

/* Whether a table hides that it has a hash column, and the text names that. */
static bool names_hidden(pgw_slice text, const rw_catalog *names)
{
    for (size_t i = 0; i < names->count; i++) {
        const rw_table *table = names->tables[i];
        if (table->strict && rw_text_mentions(text, table->columns[table->hash_column].name))
            return true;
    }
    return false;
}

/* Whether PostgreSQL may refuse the CREATE INDEX because a configured table is in partitions: the
 * error gets a hint by the tables. */
static bool may_need_a_hint(reader in, const rw_catalog *names)
{
    static const char *const refused[] = {"unique", "concurrently", NULL};
    bool cut = false;
    for (size_t i = 0; i < names->count; i++)
        cut = cut || rw_table_is_partitioned(names->tables[i]);
    return cut && holds_one_of(in, refused, true);
}

bool rw_defines_alone(pgw_slice text, const rw_catalog *names, bool conforming)
{
    static const char *const passing[] = {"comment", "grant", "revoke", "drop", NULL};
    static const char *const altered[] = {"sequence", "function", NULL};
    reader in;
    rw_lexer_init(&in.lexer, text, conforming);
    advance(&in);
    bool creates = at_word(&in, "create"), alters = at_word(&in, "alter");
    if (!(creates || alters || at_one_of(&in, passing)) || !is_one_statement(in) ||
        names_hidden(text, names))
        return false;
    advance(&in);
    if (creates)
        return creates_alone(in) && !may_need_a_hint(in, names);
    if (!alters || at_one_of(&in, altered))
        return true;
    if (!at_word(&in, "table"))
        return false;
    advance(&in);
    skip_name(&in);
    return alters_alone(in);
}

/* --- what leaves keys alone --- */

/* Whether a name is written U&"…", which no other spelling of it is compared with. */
static bool spells_names(reader in)
{
    for (; !at_end(&in); advance(&in))
        if (in.token.kind == RW_TOKEN_QUOTED &&
            rw_token_text(in.lexer.text, in.token).ptr[0] != '"')
            return true;
    return false;
}

/* Whether ALTER TABLE adds a foreign key, and does nothing else. */
static bool adds_foreign_key(reader in)
{
    static const char *const before[] = {"if", "exists", "only", NULL};
    while (at_one_of(&in, before))
        advance(&in);
    skip_name(&in);
    bool adds = at_word(&in, "add");
    advance(&in);
    if (at_word(&in, "constraint")) {
        advance(&in);
        advance(&in);
    }
    int depth = 0;
    bool one = adds && at_word(&in, "foreign");
    for (; one && !at_end(&in); advance(&in)) {
        pgw_slice text = rw_token_text(in.lexer.text, in.token);
        depth += pgw_slice_eq_str(text, "(") - pgw_slice_eq_str(text, ")");
        one = depth > 0 || !pgw_slice_eq_str(text, ",");
    }
    return one;
}

/* At the kind of what CREATE makes, or at the name of the table that ALTER TABLE changes. False: it
 * is neither. */
static bool begin_definition(pgw_slice text, bool conforming, bool *creates, reader *in)
{
    rw_lexer_init(&in->lexer, text, conforming);
    advance(in);
    *creates = at_word(in, "create");
    if (!*creates && !at_word(in, "alter"))
        return false;
    advance(in);
    if (*creates)
        skip_modifiers(in);
    else if (at_word(in, "table"))
        advance(in);
    else
        return false;
    return is_one_statement(*in) && !spells_names(*in);
}

bool rw_refers_alone(pgw_slice text, bool conforming)
{
    bool creates;
    reader in;
    return begin_definition(text, conforming, &creates, &in) &&
           (creates ? at_word(&in, "table") && makes_plainly(in) : adds_foreign_key(in));
}

/* Takes the last part of a relation's name, as PostgreSQL cuts it; it may be left out before ON.
 * False: it has a quote in it. */
static bool take_relation(reader in, pgw_slice *name)
{
    static const char *const before[] = {"unique", "index", "table",  "concurrently",
                                         "if",     "not",   "exists", NULL};
    while (at_one_of(&in, before))
        advance(&in);
    while (!at_end(&in) && !at_word(&in, "on")) {
        *name = rw_token_text(in.lexer.text, in.token);
        advance(&in);
        if (!pgw_slice_eq_str(rw_token_text(in.lexer.text, in.token), "."))
            break;
        advance(&in);
    }
    if (name->len >= 2 && name->ptr[0] == '"')
        *name = (pgw_slice){name->ptr + 1, name->len - 2};
    *name = pgw_name_cut(*name);
    return name->len == 0 || memchr(name->ptr, '"', name->len) == NULL;
}

bool rw_leaves_keys(pgw_slice text, bool conforming, pgw_slice *made)
{
    static const char *const indexes[] = {"unique", "index", NULL};
    static const char *const others[] = {"function", "procedure", "trigger", NULL};
    bool creates;
    reader in;
    *made = (pgw_slice){NULL, 0};
    if (!begin_definition(text, conforming, &creates, &in))
        return false;
    if (!creates)
        return adds_foreign_key(in);
    if (at_one_of(&in, indexes) || (at_word(&in, "table") && makes_plainly(in)))
        return take_relation(in, made);
    return at_one_of(&in, others);
}
