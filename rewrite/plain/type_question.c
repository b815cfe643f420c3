#include "rewrite/plain/type_question.h"

#include "rewrite/hash/table.h"
#include "rewrite/lex/lexer_text.h"
#include "rewrite/plain/cursor.h"
#include "rewrite/plain/types.h"

#define OF_SCHEMA                                                                                  \
    " FROM pg_catalog.pg_type t JOIN pg_catalog.pg_namespace n ON t.typnamespace = n.oid"
#define IN_SCHEMA "(n.nspname = $1 OR $1 AND n.nspname = ANY (current_schemas(true)))"
#define BY_PATH                                                                                    \
    " FROM pg_catalog.pg_type LEFT JOIN (\"…\") as sp ON sp.nspoid = typnamespace WHERE "

enum { OID_ARRAY = 1028, REGTYPE = 2206, LONGEST = 16 * 1024 /* bytes of a question */ };

static const rw_type_question questions[] = {
    /* asyncpg: introspection.py */
    {"WITH RECURSIVE typeinfo_tree(oid, ns, name, kind, basetype, elemtype, elemdelim, "
     "range_subtype, attrtypoids, attrnames, depth) AS (SELECT \"…\" WHERE ti.oid = any($1) UNION "
     "ALL \"…\") SELECT DISTINCT *, basetype::regtype::text AS basetype_name, "
     "elemtype::regtype::text AS elemtype_name, range_subtype::regtype::text AS "
     "range_subtype_name FROM typeinfo_tree ORDER BY depth DESC",
     RW_TYPE_TREE,
     {OID_ARRAY},
     {{"oid", RW_TYPE_OID},
      {"ns", RW_TYPE_SCHEMA},
      {"name", RW_TYPE_NAME},
      {"kind", RW_TYPE_KIND},
      {"basetype", RW_TYPE_NO_OID},
      {"elemtype", RW_TYPE_ELEMENT},
      {"elemdelim", RW_TYPE_ELEMENT_DELIMITER},
      {"range_subtype", RW_TYPE_SUBTYPE},
      {"attrtypoids", RW_TYPE_NO_OIDS},
      {"attrnames", RW_TYPE_NO_TEXTS},
      {"depth", RW_TYPE_DEPTH},
      {"basetype_name", RW_TYPE_NO_TEXT},
      {"elemtype_name", RW_TYPE_ELEMENT_SHOWN},
      {"range_subtype_name", RW_TYPE_SUBTYPE_SHOWN},
      {NULL, RW_TYPE_END}}},
    {"SELECT t.oid, t.typelem AS elemtype, t.typtype AS kind FROM pg_catalog.pg_type AS t INNER "
     "JOIN pg_catalog.pg_namespace ns ON (ns.oid = t.typnamespace) WHERE t.typname = $1 AND "
     "ns.nspname = $1",
     RW_TYPE_BY_NAME,
     {PGW_NAME, PGW_NAME},
     {{"oid", RW_TYPE_OID},
      {"elemtype", RW_TYPE_ELEMENT},
      {"kind", RW_TYPE_KIND},
      {NULL, RW_TYPE_END}}},
    {"SELECT t.oid, t.typelem AS elemtype, t.typtype AS kind FROM pg_catalog.pg_type AS t WHERE "
     "t.oid = $1",
     RW_TYPE_BY_OID,
     {RW_OID},
     {{"oid", RW_TYPE_OID},
      {"elemtype", RW_TYPE_ELEMENT},
      {"kind", RW_TYPE_KIND},
      {NULL, RW_TYPE_END}}},
    /* pgjdbc: TypeInfoCache.java */
    {"SELECT typinput='pg_catalog.array_in'::regproc as is_array, typtype, typname, "
     "pg_type.oid" BY_PATH "pg_type.oid = $1 ORDER BY sp.r, pg_type.oid DESC",
     RW_TYPE_BY_OID,
     {RW_OID},
     {{"is_array", RW_TYPE_IS_ARRAY},
      {"typtype", RW_TYPE_KIND},
      {"typname", RW_TYPE_NAME},
      {"oid", RW_TYPE_OID},
      {NULL, RW_TYPE_END}}},
    {"SELECT typinput='pg_catalog.array_in'::regproc as is_array, typtype, typname, "
     "pg_type.oid" BY_PATH "typname = $1 ORDER BY sp.r, pg_type.oid DESC",
     RW_TYPE_BY_NAME,
     {PGW_NAME},
     {{"is_array", RW_TYPE_IS_ARRAY},
      {"typtype", RW_TYPE_KIND},
      {"typname", RW_TYPE_NAME},
      {"oid", RW_TYPE_OID},
      {NULL, RW_TYPE_END}}},
    {"SELECT pg_type.oid, typname" BY_PATH "typname = $1 ORDER BY sp.r, pg_type.oid DESC LIMIT 1",
     RW_TYPE_BY_NAME,
     {PGW_NAME},
     {{"oid", RW_TYPE_OID}, {"typname", RW_TYPE_NAME}, {NULL, RW_TYPE_END}}},
    {"SELECT t.oid, t.typname" OF_SCHEMA " WHERE t.typname = $1 AND " IN_SCHEMA
     " ORDER BY t.oid DESC LIMIT 1",
     RW_TYPE_BY_NAME,
     {PGW_NAME, PGW_NAME, PGW_BOOL},
     {{"oid", RW_TYPE_OID}, {"typname", RW_TYPE_NAME}, {NULL, RW_TYPE_END}}},
    {"SELECT t.typarray, arr.typname" OF_SCHEMA " JOIN pg_catalog.pg_type arr ON arr.oid = "
     "t.typarray WHERE t.typname = $1 AND " IN_SCHEMA " ORDER BY t.oid DESC LIMIT 1",
     RW_TYPE_ARRAY_OF,
     {PGW_NAME, PGW_NAME, PGW_BOOL},
     {{"typarray", RW_TYPE_OID}, {"typname", RW_TYPE_NAME}, {NULL, RW_TYPE_END}}},
    {"SELECT n.nspname = ANY(current_schemas(true)), n.nspname, t.typname" OF_SCHEMA
     " WHERE t.oid = $1",
     RW_TYPE_BY_OID,
     {RW_OID},
     {{"?column?", RW_TYPE_VISIBLE},
      {"nspname", RW_TYPE_SCHEMA},
      {"typname", RW_TYPE_NAME},
      {NULL, RW_TYPE_END}}},
    {"SELECT e.typdelim FROM pg_catalog.pg_type t, pg_catalog.pg_type e WHERE t.oid = $1 and "
     "t.typelem = e.oid",
     RW_TYPE_ELEMENT_OF,
     {RW_OID},
     {{"typdelim", RW_TYPE_DELIMITER}, {NULL, RW_TYPE_END}}},
    {"SELECT e.oid, n.nspname = ANY(current_schemas(true)), n.nspname, e.typname FROM "
     "pg_catalog.pg_type t JOIN pg_catalog.pg_type e ON t.typelem = e.oid JOIN "
     "pg_catalog.pg_namespace n ON t.typnamespace = n.oid WHERE t.oid = $1",
     RW_TYPE_ELEMENT_OF,
     {RW_OID},
     {{"oid", RW_TYPE_OID},
      {"?column?", RW_TYPE_VISIBLE},
      {"nspname", RW_TYPE_SCHEMA},
      {"typname", RW_TYPE_NAME},
      {NULL, RW_TYPE_END}}},
    /* psycopg 3: _typeinfo.py */
    {"SELECT typname AS name, oid, typarray AS array_oid, oid::regtype::text AS regtype, typdelim "
     "AS delimiter FROM pg_type t WHERE t.oid = $1 ORDER BY t.oid",
     RW_TYPE_BY_REGTYPE,
     {REGTYPE},
     {{"name", RW_TYPE_NAME},
      {"oid", RW_TYPE_OID},
      {"array_oid", RW_TYPE_ARRAY},
      {"regtype", RW_TYPE_SHOWN},
      {"delimiter", RW_TYPE_DELIMITER},
      {NULL, RW_TYPE_END}}},
    {"SELECT typname AS name, oid, typarray AS array_oid, oid::regtype::text AS regtype, typdelim "
     "AS delimiter FROM pg_type t WHERE t.oid = to_regtype($1) ORDER BY t.oid",
     RW_TYPE_BY_TO_REGTYPE,
     {PGW_TEXT},
     {{"name", RW_TYPE_NAME},
      {"oid", RW_TYPE_OID},
      {"array_oid", RW_TYPE_ARRAY},
      {"regtype", RW_TYPE_SHOWN},
      {"delimiter", RW_TYPE_DELIMITER},
      {NULL, RW_TYPE_END}}},
};

typedef struct matching {
    pgw_slice text;
    pgw_arena *arena;
    rw_type_value *values;
} matching;

static bool is_constant(const rw_cursor *at)
{
    return at->token.kind == RW_TOKEN_STRING || at->token.kind == RW_TOKEN_INTEGER ||
           at->token.kind == RW_TOKEN_PARAM || rw_cursor_at_word(at, "null") ||
           rw_cursor_at_word(at, "true") || rw_cursor_at_word(at, "false");
}

static bool read_constant(const matching *it, rw_cursor *at, rw_type_value *out)
{
    bool null = rw_cursor_at_word(at, "null");
    *out = (rw_type_value){.text = rw_token_text(it->text, at->token)};
    if (!is_constant(at))
        return false;
    if (at->token.kind == RW_TOKEN_PARAM)
        *out = (rw_type_value){.parameter = rw_parameter_number(it->text, at->token)};
    if (at->token.kind == RW_TOKEN_STRING &&
        !rw_token_string(it->text, at->token, true, it->arena, &out->text))
        return false;
    if (null)
        out->text = (pgw_slice){NULL, 0};
    rw_cursor_advance(at);
    return true;
}

/* Behind `::`: one name, and [] */
static void skip_type(rw_cursor *at)
{
    rw_cursor_advance(at);
    if (rw_cursor_at_name(at))
        rw_cursor_advance(at);
    if (rw_cursor_take(at, '['))
        rw_cursor_take(at, ']');
}

/* A constant or a parameter, in brackets, with casts. */
static bool take_value(const matching *it, rw_cursor *at, rw_type_value *out)
{
    size_t open = 0;
    while (rw_cursor_take(at, '('))
        open++;
    if (!read_constant(it, at, out))
        return false;
    for (;;) {
        if (at->token.kind == RW_TOKEN_CAST)
            skip_type(at);
        else if (open > 0 && rw_cursor_take(at, ')'))
            open--;
        else
            return open == 0;
    }
}

static bool same(const rw_cursor *known, const rw_cursor *at)
{
    pgw_slice a = rw_token_text(known->lexer.text, known->token);
    pgw_slice b = rw_token_text(at->lexer.text, at->token);
    return known->token.kind == at->token.kind &&
           (at->token.kind == RW_TOKEN_WORD ? pgw_slice_ieq(a, b) : pgw_slice_eq(a, b));
}

/* `value` values stand before. */
static bool match(const matching *it, rw_cursor known, rw_cursor at, size_t value)
{
    for (; known.token.kind != RW_TOKEN_END; rw_cursor_advance(&known)) {
        if (known.token.kind == RW_TOKEN_PARAM) {
            if (value == RW_TYPE_VALUES || !take_value(it, &at, &it->values[value++]))
                return false;
        } else if (known.token.kind == RW_TOKEN_QUOTED) {
            rw_cursor_advance(&known);
            while (!match(it, known, at, value))
                if (rw_cursor_ended(&at) || rw_cursor_at(&at, ')') || !rw_cursor_skip(&at))
                    return false;
            return true;
        } else if (same(&known, &at)) {
            rw_cursor_advance(&at);
        } else {
            return false;
        }
    }
    return at.token.kind == RW_TOKEN_END;
}

static rw_cursor begin(pgw_slice text)
{
    rw_cursor cursor;
    rw_cursor_begin(&cursor, text, (rw_part){0, text.len}, true);
    return cursor;
}

const rw_type_question *rw_type_question_read(pgw_slice text, pgw_arena *arena,
                                              rw_type_value values[RW_TYPE_VALUES])
{
    const matching it = {text, arena, values};
    if (text.len > LONGEST || !rw_text_mentions(text, "pg_type"))
        return NULL;
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++)
        if (match(&it, begin(pgw_slice_str(questions[i].text)), begin(text), 0))
            return &questions[i];
    return NULL;
}
