#include "ydb/plain/type_question.h"

#include "rewrite/hash/table.h"
#include "rewrite/lex/lexer_text.h"
#include "rewrite/statement/script/types.h"

#define OF_SCHEMA                                                                                  \
    " FROM pg_catalog.pg_type t JOIN pg_catalog.pg_namespace n ON t.typnamespace = n.oid"
#define IN_SCHEMA "(n.nspname = $1 OR $1 AND n.nspname = ANY (current_schemas(true)))"
#define KINDS                                                                                      \
    "SELECT typinput='pg_catalog.array_in'::regproc as is_array, typtype, typname, pg_type.oid"
#define KIND_COLUMNS                                                                               \
    {                                                                                              \
        {"is_array", RW_TYPE_IS_ARRAY}, {"typtype", RW_TYPE_KIND}, {"typname", RW_TYPE_NAME},      \
            {"oid", RW_TYPE_OID},                                                                  \
        {                                                                                          \
            NULL, RW_TYPE_END                                                                      \
        }                                                                                          \
    }
#define PATH " FROM pg_catalog.pg_type LEFT JOIN (\"…\") as sp ON sp.nspoid = typnamespace "
#define BY_PATH PATH "WHERE "
#define IN_ORDER " ORDER BY sp.r, pg_type.oid DESC"
/* Only the condition behind WHERE decides which types are asked for, so the known text has all of
 * it. */
#define ALL_TYPES(those)                                                                            \
    "SELECT ns.nspname, t.oid, t.typname, t.typtype, t.typnotnull, t.elemtypoid FROM (\"…\") AS " \
    "t JOIN pg_namespace AS ns ON (ns.oid = typnamespace) WHERE " those                             \
    " ORDER BY CASE WHEN typtype IN (\"…\") THEN 0 \"…\" END"
#define THOSE "typtype IN (\"…\") OR (\"…\") OR (\"…\") OR (\"…\")"
#define ALL_COLUMNS                                                                                \
    {                                                                                              \
        {"nspname", RW_TYPE_SCHEMA}, {"oid", RW_TYPE_OID}, {"typname", RW_TYPE_NAME},              \
            {"typtype", RW_TYPE_KIND_OR_ARRAY}, {"typnotnull", RW_TYPE_NOT_NULL},                  \
            {"elemtypoid", RW_TYPE_MADE_OF},                                                       \
        {                                                                                          \
            NULL, RW_TYPE_END                                                                      \
        }                                                                                          \
    }

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
    /* npgsql: PostgresDatabaseInfo.cs; it asks for all types as it connects */
    {ALL_TYPES(THOSE), RW_TYPE_ALL_RANGES, {0}, ALL_COLUMNS},
    {ALL_TYPES("(" THOSE ")"), RW_TYPE_ALL_RANGES, {0}, ALL_COLUMNS},
    {ALL_TYPES(THOSE), RW_TYPE_ALL, {0}, ALL_COLUMNS},
    {ALL_TYPES("(" THOSE ")"), RW_TYPE_ALL, {0}, ALL_COLUMNS},
    {"SELECT typ.oid, att.attname, att.atttypid FROM pg_type AS typ \"…\" ORDER BY typ.oid, "
     "att.attnum",
     RW_TYPE_NONE,
     {0},
     {{"oid", RW_TYPE_OID},
      {"attname", RW_TYPE_NAME},
      {"atttypid", RW_TYPE_OID},
      {NULL, RW_TYPE_END}}},
    {"SELECT pg_type.oid, enumlabel FROM pg_enum JOIN pg_type ON pg_type.oid = enumtypid ORDER BY "
     "oid, enumsortorder",
     RW_TYPE_NONE,
     {0},
     {{"oid", RW_TYPE_OID}, {"enumlabel", RW_TYPE_NAME}, {NULL, RW_TYPE_END}}},
    /* pgjdbc: TypeInfoCache.java */
    {KINDS BY_PATH "pg_type.oid = $1" IN_ORDER, RW_TYPE_BY_OID, {RW_OID}, KIND_COLUMNS},
    {KINDS BY_PATH "typname = $1" IN_ORDER, RW_TYPE_BY_NAME, {PGW_NAME}, KIND_COLUMNS},
    {KINDS PATH IN_ORDER, RW_TYPE_EVERY_DOWN, {0}, KIND_COLUMNS},
    {"SELECT pg_type.oid, typname" BY_PATH "typname = $1" IN_ORDER " LIMIT 1",
     RW_TYPE_BY_NAME,
     {PGW_NAME},
     {{"oid", RW_TYPE_OID}, {"typname", RW_TYPE_NAME}, {NULL, RW_TYPE_END}}},
    {"SELECT t.typname, t.oid FROM pg_catalog.pg_type t JOIN pg_catalog.pg_namespace n ON "
     "(t.typnamespace = n.oid) WHERE n.nspname != 'pg_toast' AND (t.typrelid = 0 OR (SELECT "
     "c.relkind = 'c' FROM pg_catalog.pg_class c WHERE c.oid = t.typrelid))",
     RW_TYPE_EVERY,
     {0},
     {{"typname", RW_TYPE_NAME}, {"oid", RW_TYPE_OID}, {NULL, RW_TYPE_END}}},
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

const rw_type_question *rw_type_question_read(pgw_slice text, pgw_arena *arena,
                                              rw_known_value values[RW_KNOWN_VALUES])
{
    if (text.len > LONGEST || !rw_text_mentions(text, "pg_type"))
        return NULL;
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++)
        if ((questions[i].search != RW_TYPE_ALL_RANGES ||
             rw_text_mentions(text, "rngmultitypid")) &&
            rw_known_match(questions[i].text, text, arena, values))
            return &questions[i];
    return NULL;
}
