#include "ydb/plain/doubt.h"

#include "rewrite/lex/lexer_text.h"

#include <string.h>

/* Functions of pg_proc (PostgreSQL 15 and 16) with provolatile = 'v'; those that begin with pg_ or
 * lo_ are told by is_of_a_family(). */
static const char *const volatiles[] = {
    "clock_timestamp", "currval",    "cursor_to_xml", "gen_random_uuid", "lastval",
    "loread",          "lowrite",    "nextval",       "query_to_xml",    "random",
    "random_normal",   "set_config", "setseed",       "setval",          "timeofday",
    "ts_rewrite",      "ts_stat",    "txid_status",   "uuidv4",          "uuidv7",
};

/* Functions of pg_proc (PostgreSQL 15 and 16) with proretset. */
static const char *const sets[] = {
    "_pg_expandarray",
    "aclexplode",
    "generate_series",
    "generate_subscripts",
    "json_array_elements",
    "json_array_elements_text",
    "json_each",
    "json_each_text",
    "json_object_keys",
    "json_populate_recordset",
    "json_to_recordset",
    "jsonb_array_elements",
    "jsonb_array_elements_text",
    "jsonb_each",
    "jsonb_each_text",
    "jsonb_object_keys",
    "jsonb_path_query",
    "jsonb_path_query_tz",
    "jsonb_populate_recordset",
    "jsonb_to_recordset",
    "regexp_matches",
    "regexp_split_to_table",
    "string_to_table",
    "ts_debug",
    "ts_parse",
    "ts_stat",
    "ts_token_type",
    "txid_snapshot_xip",
    "unnest",
};

/* Functions that tell the transaction's time, and words that do so without brackets. */
static const char *const moments[] = {"age", "now", "statement_timestamp", "transaction_timestamp"};
static const char *const moment_words[] = {"current_timestamp", "current_date", "current_time",
                                           "localtimestamp", "localtime"};

static bool is_in(const char *const *names, size_t count, pgw_slice name)
{
    for (size_t i = 0; i < count; i++)
        if (pgw_slice_ieq_str(name, names[i]))
            return true;
    return false;
}

#define IS_IN(list, name) is_in(list, sizeof list / sizeof *list, name)

static pgw_slice unquoted(pgw_slice name)
{
    return name.ptr[0] == '"' ? (pgw_slice){name.ptr + 1, name.len - 2} : name;
}

/* Whether the name begins with lo_ or pg_; pg_typeof() is harmless. */
static bool is_of_a_family(pgw_slice name)
{
    pgw_slice family = {name.ptr, name.len < 3 ? name.len : 3};
    return pgw_slice_ieq_str(family, "lo_") ||
           (pgw_slice_ieq_str(family, "pg_") && !pgw_slice_ieq_str(name, "pg_typeof"));
}

/* The doubts about a function of this name. */
static unsigned doubts_of_call(pgw_slice written)
{
    const pgw_slice name = unquoted(written);
    if (is_of_a_family(name) || memchr(written.ptr, '&', written.len) != NULL) /* U&"…" */
        return RW_DOUBT_VOLATILE | RW_DOUBT_SETS;
    return (IS_IN(volatiles, name) ? RW_DOUBT_VOLATILE : 0) |
           (IS_IN(moments, name) ? RW_DOUBT_MOMENT : 0) | (IS_IN(sets, name) ? RW_DOUBT_SETS : 0);
}

static bool tells_time(const rw_cursor *cursor)
{
    for (size_t i = 0; i < sizeof moment_words / sizeof *moment_words; i++)
        if (rw_cursor_at_word(cursor, moment_words[i]) && !rw_cursor_after(cursor, '.'))
            return true;
    return false;
}

static bool chooses(const rw_cursor *cursor)
{
    static const char *const words[] = {"limit", "offset", "fetch", "tablesample", "over", "skip"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (rw_cursor_at_word(cursor, words[i]) && !rw_cursor_after(cursor, '.'))
            return true;
    return rw_cursor_at_word(cursor, "distinct") && rw_cursor_before_word(cursor, "on");
}

static bool is_untyped(const rw_cursor *cursor)
{
    bool constant = cursor->token.kind == RW_TOKEN_STRING || rw_cursor_at_word(cursor, "null");
    bool first = rw_cursor_after(cursor, '(') || rw_cursor_after(cursor, ',');
    return constant && first && (rw_cursor_before(cursor, ',') || rw_cursor_before(cursor, ')'));
}

/* The doubts `asked` for that the next token raises, alone or with the one before it; `*name`: what
 * they are about. */
static unsigned doubts_here(const rw_cursor *cursor, unsigned asked, size_t depth, rw_part *name)
{
    const rw_token before = cursor->before, token = cursor->token;
    bool named = before.kind == RW_TOKEN_WORD || before.kind == RW_TOKEN_QUOTED;
    *name = (rw_part){before.start, before.end};
    if (named && rw_cursor_at(cursor, '('))
        return asked & doubts_of_call(rw_part_text(cursor->lexer.text, *name));
    *name = (rw_part){token.start, token.end};
    if ((asked & RW_DOUBT_UNTYPED) != 0 && is_untyped(cursor))
        return RW_DOUBT_UNTYPED;
    if (token.kind != RW_TOKEN_WORD)
        return 0;
    if ((asked & RW_DOUBT_CHOICE) != 0 && depth > 0 && chooses(cursor))
        return RW_DOUBT_CHOICE;
    return (asked & RW_DOUBT_MOMENT) != 0 && tells_time(cursor) ? RW_DOUBT_MOMENT : 0;
}

rw_part rw_find_doubt(pgw_slice text, rw_part part, unsigned asked, bool conforming)
{
    rw_cursor cursor;
    rw_part name;
    size_t depth = 0;
    rw_cursor_begin(&cursor, text, part, conforming);
    for (; !rw_cursor_ended(&cursor); rw_cursor_advance(&cursor)) {
        if (doubts_here(&cursor, asked, depth, &name) != 0)
            return name;
        depth += rw_cursor_at(&cursor, '(');
        depth -= rw_cursor_at(&cursor, ')') && depth > 0;
    }
    return (rw_part){0, 0};
}

static bool at_query(const rw_cursor *cursor)
{
    return rw_cursor_at_word(cursor, "select") || rw_cursor_at_word(cursor, "table");
}

bool rw_has_query(pgw_slice text, rw_part part, bool conforming)
{
    rw_cursor cursor;
    rw_cursor_begin(&cursor, text, part, conforming);
    while (!rw_cursor_ended(&cursor) && !at_query(&cursor))
        rw_cursor_advance(&cursor);
    return !rw_cursor_ended(&cursor);
}

static bool names(const rw_cursor *cursor, pgw_slice table)
{
    pgw_arena scratch = {0};
    bool same = rw_cursor_at_name(cursor) && !rw_cursor_before(cursor, '.') &&
                pgw_slice_eq(rw_token_name(cursor->lexer.text, cursor->token, &scratch), table);
    pgw_arena_free(&scratch);
    return same;
}

rw_part rw_find_query_of(pgw_slice table, pgw_slice text, rw_part part, bool conforming)
{
    rw_cursor cursor;
    bool queries = false;
    rw_cursor_begin(&cursor, text, part, conforming);
    for (; !rw_cursor_ended(&cursor); rw_cursor_advance(&cursor)) {
        queries = queries || at_query(&cursor);
        if (queries && names(&cursor, table))
            return (rw_part){cursor.token.start, cursor.token.end};
    }
    return (rw_part){0, 0};
}
