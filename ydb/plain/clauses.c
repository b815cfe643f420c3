#include "ydb/plain/clauses.h"

#include "protocol/utf8.h"
#include "rewrite/lex/lexer_text.h"

#include <string.h>

typedef struct reader {
    rw_cursor cursor;
    pgw_slice text;
    const pgw_reading *reading;
    rw_clauses *out;
} reader;

static bool syntax_error(reader *read)
{
    const rw_token token = read->cursor.token;
    const pgw_slice near = rw_token_text(read->text, token);
    if (token.kind == RW_TOKEN_END)
        pgw_fail(read->reading->error, "42601", "syntax error at end of input");
    else
        pgw_fail(read->reading->error, "42601", "syntax error at or near \"%.*s\"",
                 (int)(near.len < 256 ? near.len : 256), near.ptr);
    read->reading->error->position =
        pgw_characters(read->text, token.start, read->reading->env->utf8) + 1;
    return false;
}

static bool at_any(const rw_cursor *cursor, const char *const *words)
{
    for (; *words != NULL; words++)
        if (rw_cursor_at_word(cursor, *words))
            return true;
    return false;
}

/* --- WITH, and the verb --- */

/* Whether a query that writes begins here: behind a bracket, or behind a WITH of its own. */
static bool begins_write(const rw_cursor *cursor)
{
    static const char *const words[] = {"insert", "update", "delete", "merge", NULL};
    return (rw_cursor_after(cursor, '(') || rw_cursor_after(cursor, ')')) && at_any(cursor, words);
}

static rw_dml verb_here(const rw_cursor *cursor)
{
    static const struct {
        const char *word, *next;
        rw_dml verb;
    } verbs[] = {{"insert", "into", RW_DML_INSERT}, {"update", NULL, RW_DML_UPDATE},
                 {"delete", "from", RW_DML_DELETE}, {"merge", "into", RW_DML_MERGE},
                 {"upsert", "into", RW_DML_UPSERT}, {"replace", "into", RW_DML_REPLACE}};
    if (cursor->token.kind != RW_TOKEN_WORD)
        return RW_DML_NONE;
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        if (rw_cursor_at_word(cursor, verbs[i].word) &&
            (verbs[i].next == NULL || rw_cursor_before_word(cursor, verbs[i].next)))
            return verbs[i].verb;
    return RW_DML_NONE;
}

/* Skips WITH, up to the statement that it belongs to. */
static void skip_with(reader *read)
{
    static const char *const others[] = {"select", "values", "table", NULL};
    rw_cursor *cursor = &read->cursor;
    rw_clauses *out = read->out;
    size_t depth = 0;
    for (; !rw_cursor_ended(cursor); rw_cursor_advance(cursor)) {
        bool behind = depth == 0 && rw_cursor_after(cursor, ')');
        if (depth == 0 && verb_here(cursor) != RW_DML_NONE && !rw_cursor_before_word(cursor, "as"))
            break;
        if (behind && at_any(cursor, others))
            return;
        out->with_writes |= depth > 0 && begins_write(cursor);
        depth += rw_cursor_at(cursor, '(');
        depth -= rw_cursor_at(cursor, ')') && depth > 0;
    }
    out->with.to = cursor->token.start;
}

static void read_verb(reader *read)
{
    rw_cursor *cursor = &read->cursor;
    if (rw_cursor_at_word(cursor, "with")) {
        read->out->with = (rw_part){cursor->token.start, cursor->token.start};
        skip_with(read);
    }
    read->out->verb = verb_here(cursor);
    read->out->verb_at = cursor->token.start;
    rw_cursor_advance(cursor);
    if (read->out->verb != RW_DML_NONE && read->out->verb != RW_DML_UPDATE)
        rw_cursor_advance(cursor);
}

/* --- the table --- */

static bool take_name(reader *read, pgw_slice *name)
{
    rw_cursor *cursor = &read->cursor;
    bool plain = rw_cursor_at_name(cursor) && (cursor->token.kind == RW_TOKEN_WORD ||
                                               read->text.ptr[cursor->token.start] == '"');
    if (!plain)
        return syntax_error(read);
    *name = rw_token_name(read->text, cursor->token, read->reading->arena);
    rw_cursor_advance(cursor);
    return true;
}

static bool read_names(reader *read)
{
    rw_clauses *out = read->out;
    do {
        out->schema = out->name;
        out->named = (rw_part){read->cursor.token.start, read->cursor.token.end};
        if (!take_name(read, &out->name))
            return false;
    } while (rw_cursor_take(&read->cursor, '.'));
    return true;
}

/* Reads an alias. In an INSERT it has AS; elsewhere AS may be missing before any name but the next
 * clause's word. */
static bool read_alias(reader *read)
{
    static const char *const next[] = {"set", "using", "where", "returning", NULL};
    rw_cursor *cursor = &read->cursor;
    rw_clauses *out = read->out;
    const size_t start = cursor->token.start;
    bool insert = out->verb != RW_DML_UPDATE && out->verb != RW_DML_DELETE;
    bool there = rw_cursor_take_word(cursor, "as") ||
                 (!insert && rw_cursor_at_name(cursor) && !at_any(cursor, next));
    if (there && !take_name(read, &out->alias_name))
        return false;
    if (there)
        out->alias = (rw_part){start, cursor->before.end};
    return true;
}

static bool read_target(reader *read)
{
    rw_cursor *cursor = &read->cursor;
    const size_t start = cursor->token.start;
    bool only = rw_cursor_at_word(cursor, "only") && !rw_cursor_before(cursor, '.') &&
                !rw_cursor_before_word(cursor, "set") && rw_cursor_take_word(cursor, "only");
    bool bracket = only && rw_cursor_take(cursor, '(');
    if (!read_names(read))
        return false;
    if (bracket && !rw_cursor_take(cursor, ')'))
        return syntax_error(read);
    if (cursor->token.kind == RW_TOKEN_OPERATOR && read->text.ptr[cursor->token.start] == '*')
        rw_cursor_advance(cursor);
    read->out->target = (rw_part){start, cursor->before.end};
    return read_alias(read);
}

/* --- clauses --- */

/* Whether one of the clauses begins here: at a reserved word that is no name behind a dot or AS. */
static bool at_clause(const rw_cursor *cursor, const char *const *words)
{
    return cursor->token.kind == RW_TOKEN_WORD && at_any(cursor, words) &&
           !rw_cursor_after(cursor, '.') && !rw_cursor_after_word(cursor, "as");
}

/* Reads a clause, up to one of the words outside of brackets, or to the end. */
static bool read_clause(reader *read, const char *const *words, rw_part *part)
{
    rw_cursor *cursor = &read->cursor;
    part->from = cursor->token.start;
    while (!rw_cursor_ended(cursor)) {
        bool distinct =
            rw_cursor_at_word(cursor, "from") && rw_cursor_after_word(cursor, "distinct");
        if (at_clause(cursor, words) && !distinct)
            break;
        if (!rw_cursor_skip(cursor))
            return syntax_error(read);
    }
    part->to = cursor->before.end;
    return part->to > part->from || syntax_error(read);
}

static bool read_returning(reader *read)
{
    static const char *const none[] = {NULL};
    read->out->body_end = read->cursor.before.end;
    if (rw_cursor_take_word(&read->cursor, "returning") &&
        !read_clause(read, none, &read->out->returning))
        return false;
    read->out->end = read->cursor.before.end;
    return read->cursor.token.kind == RW_TOKEN_END || syntax_error(read);
}

static bool read_where(reader *read)
{
    static const char *const next[] = {"returning", NULL};
    rw_cursor *cursor = &read->cursor;
    if (rw_cursor_take_word(cursor, "where")) {
        if (rw_cursor_at_word(cursor, "current") && rw_cursor_before_word(cursor, "of"))
            read->out->current = (rw_part){cursor->token.start, cursor->token.end};
        if (!read_clause(read, next, &read->out->where))
            return false;
    }
    return read_returning(read);
}

/* --- UPDATE and DELETE --- */

static bool read_update(reader *read)
{
    static const char *const next[] = {"from", "where", "returning", NULL};
    if (!read_target(read))
        return false;
    if (!rw_cursor_take_word(&read->cursor, "set"))
        return syntax_error(read);
    if (!read_clause(read, next, &read->out->set))
        return false;
    if (rw_cursor_take_word(&read->cursor, "from") &&
        !read_clause(read, next + 1, &read->out->from))
        return false;
    return read_where(read);
}

static bool read_delete(reader *read)
{
    static const char *const next[] = {"where", "returning", NULL};
    if (!read_target(read))
        return false;
    if (rw_cursor_take_word(&read->cursor, "using") && !read_clause(read, next, &read->out->from))
        return false;
    return read_where(read);
}

/* --- INSERT --- */

/* Whether the '(' that is next opens a list of columns, not a query. */
static bool opens_columns(const rw_cursor *cursor)
{
    rw_cursor ahead = *cursor;
    rw_cursor_advance(&ahead);
    if (!rw_cursor_at_name(&ahead) || rw_cursor_at_word(&ahead, "select") ||
        rw_cursor_at_word(&ahead, "with") || rw_cursor_at_word(&ahead, "table"))
        return false;
    return !rw_cursor_at_word(&ahead, "values") || !rw_cursor_before(&ahead, '(');
}

static bool ends_source(const rw_cursor *cursor)
{
    return rw_cursor_ended(cursor) || rw_cursor_at_word(cursor, "returning") ||
           (rw_cursor_at_word(cursor, "on") && rw_cursor_before_word(cursor, "conflict"));
}

/* Skips a row, whose '(' is next. False: the row has no end. */
static bool skip_row(reader *read)
{
    rw_cursor *cursor = &read->cursor;
    rw_cursor_advance(cursor);
    while (!rw_cursor_take(cursor, ')')) {
        read->out->defaults |= cursor->token.kind == RW_TOKEN_WORD &&
                               rw_cursor_at_word(cursor, "default") &&
                               !rw_cursor_after(cursor, '.');
        if (!rw_cursor_skip(cursor))
            return false;
    }
    return true;
}

/* Reads the rows behind VALUES. False: more than rows stands there, so VALUES is part of a
 * query. */
static bool read_rows(reader *read)
{
    rw_cursor *cursor = &read->cursor;
    rw_clauses *out = read->out;
    out->rows = cursor->token.start;
    do {
        if (!rw_cursor_at(cursor, '(') || !skip_row(read))
            return false;
        out->row_count++;
    } while (rw_cursor_take(cursor, ','));
    return ends_source(cursor);
}

static bool read_query(reader *read)
{
    rw_cursor *cursor = &read->cursor;
    read->out->source_kind = RW_SOURCE_QUERY;
    read->out->row_count = 0;
    read->out->defaults = false;
    while (!ends_source(cursor) || rw_cursor_after_word(cursor, "as") ||
           rw_cursor_after(cursor, '.'))
        if (!rw_cursor_skip(cursor))
            return syntax_error(read);
    return true;
}

static bool read_source(reader *read)
{
    rw_cursor *cursor = &read->cursor;
    rw_clauses *out = read->out;
    const rw_cursor begin = *cursor;
    bool fine;
    out->source.from = cursor->token.start;
    if (rw_cursor_take_word(cursor, "default")) {
        out->source_kind = RW_SOURCE_DEFAULTS;
        out->row_count = 1;
        fine = rw_cursor_take_word(cursor, "values") || syntax_error(read);
    } else if (rw_cursor_take_word(cursor, "values") && read_rows(read)) {
        fine = true;
    } else {
        *cursor = begin;
        fine = read_query(read);
    }
    out->source.to = cursor->before.end;
    return fine && (out->source.to > out->source.from || syntax_error(read));
}

static bool read_conflict(reader *read)
{
    static const char *const next[] = {"returning", NULL};
    if (!rw_cursor_take_word(&read->cursor, "on"))
        return true;
    rw_cursor_advance(&read->cursor);
    return read_clause(read, next, &read->out->conflict);
}

static bool read_insert(reader *read)
{
    rw_cursor *cursor = &read->cursor;
    rw_part *columns = &read->out->columns;
    if (!read_target(read))
        return false;
    if (rw_cursor_at(cursor, '(') && opens_columns(cursor)) {
        columns->from = cursor->token.start;
        if (!rw_cursor_skip(cursor))
            return syntax_error(read);
        columns->to = cursor->before.end;
    }
    if (rw_cursor_take_word(cursor, "overriding")) { /* USER VALUE or SYSTEM VALUE */
        rw_cursor_advance(cursor);
        if (!rw_cursor_take_word(cursor, "value"))
            return syntax_error(read);
    }
    return read_source(read) && read_conflict(read) && read_returning(read);
}

bool rw_clauses_read(pgw_slice text, const pgw_reading *reading, rw_clauses *out)
{
    reader read = {.text = text, .reading = reading, .out = out};
    memset(out, 0, sizeof *out);
    rw_cursor_begin(&read.cursor, text, (rw_part){0, text.len}, reading->env->conforming);
    read_verb(&read);
    switch (out->verb) {
    case RW_DML_UPDATE:
        return read_update(&read);
    case RW_DML_DELETE:
        return read_delete(&read);
    case RW_DML_INSERT:
    case RW_DML_UPSERT:
    case RW_DML_REPLACE:
        return read_insert(&read);
    default:
        return true;
    }
}
