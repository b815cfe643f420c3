#include "ydb/plain/unalias.h"

#include "protocol/utf8.h"
#include "rewrite/lex/lexer_text.h"

#include <string.h>

/* What a token in the text means. */
typedef enum meaning {
    OTHER,     /* another token, a name of something else, or a column */
    REFERENCE, /* the alias before a dot */
    HIDDEN,    /* the table's own name before a dot, where the alias hides it */
    DOUBTFUL
} meaning;

typedef struct place {
    const rw_clauses *clauses;
    const rw_table *table;
    bool queries; /* there are queries in the part, whose names may mean others */
} place;

/* Whether a token is this name as PostgreSQL stores it. It is compared without a copy: a token that
 * may need one is never equal to a name that does not. */
static bool is_name(const rw_cursor *cursor, pgw_slice name)
{
    pgw_slice token = rw_token_text(cursor->lexer.text, cursor->token);
    if (cursor->token.kind == RW_TOKEN_WORD) {
        if (token.len != name.len)
            return false;
        for (size_t i = 0; i < token.len; i++) {
            char c = token.ptr[i];
            if ((c >= 'A' && c <= 'Z' ? c + 32 : c) != name.ptr[i])
                return false;
        }
        return true;
    }
    return cursor->token.kind == RW_TOKEN_QUOTED && token.len == name.len + 2 &&
           memcmp(token.ptr + 1, name.ptr, name.len) == 0;
}

/* Whether a token is a name whose quotes hide what it is. */
static bool is_opaque(const rw_cursor *cursor)
{
    pgw_slice token = rw_token_text(cursor->lexer.text, cursor->token);
    return cursor->token.kind == RW_TOKEN_QUOTED &&
           (token.ptr[0] != '"' || memchr(token.ptr + 1, '"', token.len - 2) != NULL);
}

/* Whether the table that stands here in a FROM gets a name of its own. */
static bool is_renamed(const rw_cursor *cursor)
{
    static const char *const words[] = {
        "where",  "join",   "left",    "right",  "inner",     "cross",      "on",     "using",
        "group",  "order",  "natural", "full",   "union",     "limit",      "except", "for",
        "having", "window", "fetch",   "offset", "intersect", "tablesample"};
    rw_cursor ahead = *cursor;
    if (!rw_cursor_after_word(cursor, "from") && !rw_cursor_after_word(cursor, "join"))
        return false;
    rw_cursor_advance(&ahead);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (rw_cursor_at_word(&ahead, words[i]))
            return false;
    return rw_cursor_at_name(&ahead);
}

static bool has_column(const rw_table *table, pgw_slice name)
{
    return table != NULL && rw_table_column(table, name) < table->column_count;
}

/* Whether it is the name in `SET name =`: whatever else has the name, that is a column. */
static bool is_assigned(const rw_cursor *cursor, rw_part part)
{
    rw_lexer ahead = cursor->lexer;
    bool begins = cursor->token.start == part.from || rw_cursor_after(cursor, ',') ||
                  rw_cursor_after_word(cursor, "set");
    return begins && pgw_slice_eq_str(rw_token_text(ahead.text, rw_lexer_next(&ahead)), "=");
}

static meaning of_alias(const place *where, const rw_cursor *cursor, rw_part part)
{
    if (rw_cursor_before(cursor, '.'))
        return REFERENCE;
    if (rw_cursor_before(cursor, '(') || is_assigned(cursor, part))
        return OTHER;
    bool column = cursor->before.kind == RW_TOKEN_CAST ||
                  has_column(where->table, where->clauses->alias_name);
    return column && !where->queries ? OTHER : DOUBTFUL;
}

static meaning of_table(const place *where, const rw_cursor *cursor)
{
    if (rw_cursor_before(cursor, '.'))
        return where->queries ? DOUBTFUL : HIDDEN;
    if (!where->queries || rw_cursor_before(cursor, '(') || is_renamed(cursor))
        return OTHER;
    return DOUBTFUL;
}

static meaning meaning_here(const place *where, const rw_cursor *cursor, rw_part part)
{
    if (!rw_cursor_at_name(cursor) || rw_cursor_after(cursor, '.'))
        return OTHER;
    if (is_opaque(cursor))
        return DOUBTFUL;
    if (is_name(cursor, where->clauses->alias_name))
        return of_alias(where, cursor, part);
    return is_name(cursor, where->clauses->name) ? of_table(where, cursor) : OTHER;
}

static bool refuse(const rw_clauses *clauses, meaning what, pgw_error *error)
{
    const pgw_slice name = clauses->name, alias = clauses->alias_name;
    if (what == HIDDEN) {
        pgw_fail(error, "42P01", "invalid reference to FROM-clause entry for table \"%.*s\"",
                 (int)name.len, name.ptr);
        pgw_error_hint(error, "Perhaps you meant to reference the table alias \"%.*s\".",
                       (int)alias.len, alias.ptr);
        return false;
    }
    pgw_fail(error, "0A000",
             "the alias \"%.*s\" of the table that is written is not supported here",
             (int)alias.len, alias.ptr);
    pgw_error_hint(error, "YDB takes none: write \"%.*s\" in its place.", (int)name.len, name.ptr);
    return false;
}

static bool holds_query(pgw_slice text, rw_part part, bool conforming)
{
    rw_cursor cursor;
    rw_cursor_begin(&cursor, text, part, conforming);
    for (; !rw_cursor_ended(&cursor); rw_cursor_advance(&cursor))
        if (rw_cursor_at_word(&cursor, "select") || rw_cursor_at_word(&cursor, "table"))
            return true;
    return false;
}

bool rw_unalias_check(const rw_clauses *clauses, rw_part part, pgw_slice text,
                      const rw_table *table, const pgw_reading *reading)
{
    rw_cursor cursor;
    place where = {clauses, table, false};
    if (rw_part_is_empty(clauses->alias) || pgw_slice_eq(clauses->alias_name, clauses->name))
        return true;
    where.queries = holds_query(text, part, reading->env->conforming);
    rw_cursor_begin(&cursor, text, part, reading->env->conforming);
    for (; !rw_cursor_ended(&cursor); rw_cursor_advance(&cursor)) {
        meaning what = meaning_here(&where, &cursor, part);
        if (what == OTHER || what == REFERENCE)
            continue;
        refuse(clauses, what, reading->error);
        reading->error->position = pgw_characters(text, cursor.token.start, reading->env->utf8) + 1;
        return false;
    }
    return true;
}

bool rw_at_alias(const rw_clauses *clauses, const rw_cursor *cursor)
{
    return !rw_part_is_empty(clauses->alias) && is_name(cursor, clauses->alias_name) &&
           !rw_cursor_after(cursor, '.') && rw_cursor_before(cursor, '.');
}

void rw_unalias(const rw_clauses *clauses, rw_part part, bool conforming, rw_weave *out)
{
    size_t done = part.from;
    rw_cursor cursor;
    if (!rw_part_is_empty(clauses->alias)) {
        rw_cursor_begin(&cursor, out->client, part, conforming);
        for (; !rw_cursor_ended(&cursor); rw_cursor_advance(&cursor))
            if (rw_at_alias(clauses, &cursor)) {
                rw_weave_client(out, (rw_part){done, cursor.token.start});
                rw_weave_client(out, clauses->named);
                done = cursor.token.end;
            }
    }
    rw_weave_client(out, (rw_part){done, part.to});
}
