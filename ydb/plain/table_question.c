#include "ydb/plain/table_question.h"

#include "ydb/plain/like.h"

#define INDEXES(unique)                                                                              \
    "SELECT tmp.TABLE_CAT, tmp.TABLE_SCHEM, tmp.TABLE_NAME, tmp.NON_UNIQUE, tmp.INDEX_QUALIFIER, "   \
    "tmp.INDEX_NAME, tmp.TYPE, tmp.ORDINAL_POSITION, trim(\"…\") AS COLUMN_NAME, CASE \"…\" AS " \
    "ASC_OR_DESC, tmp.CARDINALITY, tmp.PAGES, tmp.FILTER_CONDITION FROM (SELECT NULL AS "            \
    "TABLE_CAT, n.nspname AS TABLE_SCHEM, ct.relname AS TABLE_NAME, NOT i.indisunique AS "           \
    "NON_UNIQUE, \"…\" WHERE true [AND n.nspname = $1] AND ct.relname = $1 " unique                  \
    ") AS tmp ORDER BY NON_UNIQUE, TYPE, INDEX_NAME, ORDINAL_POSITION"
#define INDEX_COLUMNS                                                                              \
    {                                                                                              \
        {"table_cat", RW_TABLE_NO_TEXT}, {"table_schem", RW_TABLE_SCHEMA},                         \
            {"table_name", RW_TABLE_NAME}, {"non_unique", RW_TABLE_NOT_UNIQUE},                    \
            {"index_qualifier", RW_TABLE_NO_TEXT}, {"index_name", RW_TABLE_INDEX},                 \
            {"type", RW_TABLE_OTHER_INDEX}, {"ordinal_position", RW_TABLE_INDEX_PLACE},            \
            {"column_name", RW_TABLE_INDEX_COLUMN}, {"asc_or_desc", RW_TABLE_ASCENDING},           \
            {"cardinality", RW_TABLE_NO_ESTIMATE}, {"pages", RW_TABLE_NO_PAGES},                   \
            {"filter_condition", RW_TABLE_NO_TEXT},                                                \
        {                                                                                          \
            NULL, RW_TABLE_END                                                                     \
        }                                                                                          \
    }

enum { LONGEST = 16 * 1024 /* bytes of a question */ };

/* pgjdbc: PgDatabaseMetaData.java */
static const rw_table_question questions[] = {
    {"SELECT nspname AS TABLE_SCHEM, NULL AS TABLE_CATALOG FROM pg_catalog.pg_namespace WHERE "
     "nspname <> 'pg_toast' AND (nspname !~ '^pg_temp_' \"…\") AND (nspname !~ '^pg_toast_temp_' "
     "\"…\") [AND nspname LIKE $1] ORDER BY TABLE_SCHEM",
     RW_TABLE_SCHEMAS,
     {{"table_schem", RW_TABLE_SCHEMA}, {"table_catalog", RW_TABLE_NO_TEXT}, {NULL, RW_TABLE_END}}},
    {"SELECT * FROM (SELECT n.nspname, c.relname, a.attname, a.atttypid, a.attnotnull OR "
     "(t.typtype = 'd' AND t.typnotnull) AS attnotnull, a.atttypmod, a.attlen, t.typtypmod, "
     "row_number() OVER (PARTITION BY a.attrelid ORDER BY a.attnum) AS attnum, "
     "nullif(a.attidentity, '') as attidentity, nullif(a.attgenerated, '') as attgenerated, "
     "pg_catalog.pg_get_expr(def.adbin, def.adrelid) AS adsrc, dsc.description, t.typbasetype, "
     "t.typtype FROM \"…\" WHERE c.relkind in (\"…\") and a.attnum > 0 AND NOT a.attisdropped "
     "[AND n.nspname LIKE $1] [AND c.relname LIKE $1]) c WHERE true [AND attname LIKE $1] "
     "ORDER BY nspname, c.relname, attnum",
     RW_TABLE_COLUMNS,
     {{"nspname", RW_TABLE_SCHEMA},
      {"relname", RW_TABLE_NAME},
      {"attname", RW_TABLE_COLUMN},
      {"atttypid", RW_TABLE_TYPE},
      {"attnotnull", RW_TABLE_NOT_NULL},
      {"atttypmod", RW_TABLE_TYPMOD},
      {"attlen", RW_TABLE_LENGTH},
      {"typtypmod", RW_TABLE_NO_TYPMOD},
      {"attnum", RW_TABLE_PLACE},
      {"attidentity", RW_TABLE_NO_CHAR},
      {"attgenerated", RW_TABLE_NO_CHAR},
      {"adsrc", RW_TABLE_DEFAULT},
      {"description", RW_TABLE_NO_TEXT},
      {"typbasetype", RW_TABLE_NO_BASE},
      {"typtype", RW_TABLE_BASE_KIND},
      {NULL, RW_TABLE_END}}},
    {"SELECT result.TABLE_CAT, result.TABLE_SCHEM, result.TABLE_NAME, result.COLUMN_NAME, "
     "result.KEY_SEQ, result.PK_NAME FROM (SELECT NULL AS TABLE_CAT, n.nspname AS TABLE_SCHEM, "
     "ct.relname AS TABLE_NAME, a.attname AS COLUMN_NAME, \"…\" WHERE true [AND n.nspname = $1] "
     "AND ct.relname = $1 AND i.indisprimary) result where result.A_ATTNUM = (result.KEYS).x "
     "ORDER BY result.table_name, result.pk_name, result.key_seq",
     RW_TABLE_KEY,
     {{"table_cat", RW_TABLE_NO_TEXT},
      {"table_schem", RW_TABLE_SCHEMA},
      {"table_name", RW_TABLE_NAME},
      {"column_name", RW_TABLE_COLUMN},
      {"key_seq", RW_TABLE_INDEX_PLACE},
      {"pk_name", RW_TABLE_INDEX},
      {NULL, RW_TABLE_END}}},
    {INDEXES(""), RW_TABLE_INDEXES, INDEX_COLUMNS},
    {INDEXES("AND i.indisunique"), RW_TABLE_UNIQUE, INDEX_COLUMNS},
    {"SELECT a.attname, a.atttypid, atttypmod FROM pg_catalog.pg_class ct \"…\" WHERE true "
     "[AND n.nspname = $1] AND ct.relname = $1 AND i.indisprimary ORDER BY a.attnum",
     RW_TABLE_KEY_COLUMNS,
     {{"attname", RW_TABLE_COLUMN},
      {"atttypid", RW_TABLE_TYPE},
      {"atttypmod", RW_TABLE_TYPMOD},
      {NULL, RW_TABLE_END}}},
    {"SELECT NULL::text AS PKTABLE_CAT, pkn.nspname AS PKTABLE_SCHEM, \"…\" AND con.contype = 'f' "
     "AND \"…\" ORDER BY \"…\" con.conname, pos.n",
     RW_TABLE_NOTHING,
     {{"pktable_cat", RW_TABLE_NO_TEXT},
      {"pktable_schem", RW_TABLE_NO_NAME},
      {"pktable_name", RW_TABLE_NO_NAME},
      {"pkcolumn_name", RW_TABLE_NO_NAME},
      {"fktable_cat", RW_TABLE_NO_TEXT},
      {"fktable_schem", RW_TABLE_NO_NAME},
      {"fktable_name", RW_TABLE_NO_NAME},
      {"fkcolumn_name", RW_TABLE_NO_NAME},
      {"key_seq", RW_TABLE_NO_NUMBER},
      {"update_rule", RW_TABLE_NO_NUMBER},
      {"delete_rule", RW_TABLE_NO_NUMBER},
      {"fk_name", RW_TABLE_NO_NAME},
      {"pk_name", RW_TABLE_NO_NAME},
      {"deferrability", RW_TABLE_NO_NUMBER},
      {NULL, RW_TABLE_END}}},
    {"SELECT setting FROM pg_catalog.pg_settings WHERE name = 'max_index_keys'",
     RW_TABLE_ONCE,
     {{"setting", RW_TABLE_KEY_COLUMNS_MOST}, {NULL, RW_TABLE_END}}},
};

static bool fits(const rw_known_value *value, pgw_slice name, bool pattern)
{
    return value->missing ||
           (pattern ? rw_is_like(name, value->text) : pgw_slice_eq(name, value->text));
}

static bool has_patterns(const rw_table_question *question)
{
    return question->search == RW_TABLE_SCHEMAS || question->search == RW_TABLE_COLUMNS;
}

bool rw_schema_is_asked(const rw_table_question *question,
                        const rw_known_value values[RW_KNOWN_VALUES], pgw_slice schema)
{
    return fits(&values[0], schema, has_patterns(question));
}

bool rw_table_is_asked(const rw_table_question *question,
                       const rw_known_value values[RW_KNOWN_VALUES], const rw_table *table)
{
    return !table->pattern && rw_schema_is_asked(question, values, pgw_slice_str(table->schema)) &&
           fits(&values[1], pgw_slice_str(table->name), has_patterns(question));
}

bool rw_column_is_asked(const rw_known_value values[RW_KNOWN_VALUES], pgw_slice column)
{
    return fits(&values[2], column, true);
}

static bool is_about_tables(const rw_table_question *question)
{
    return question->search != RW_TABLE_SCHEMAS && question->search != RW_TABLE_NOTHING &&
           question->search != RW_TABLE_ONCE;
}

/* Whether a question can be answered: all that it asks for is said in it, and known here. */
static bool is_ours(const rw_table_question *question, const rw_catalog *catalog,
                    const rw_known_value values[RW_KNOWN_VALUES])
{
    for (size_t i = 0; i < RW_KNOWN_VALUES; i++)
        if (!values[i].missing && values[i].text.ptr == NULL)
            return false;
    for (size_t i = 0; i < catalog->count; i++)
        if (rw_table_is_asked(question, values, catalog->tables[i]))
            return true;
    return !is_about_tables(question);
}

const rw_table_question *rw_table_question_read(pgw_slice text, const rw_catalog *catalog,
                                                pgw_arena *arena,
                                                rw_known_value values[RW_KNOWN_VALUES])
{
    if (text.len > LONGEST || !rw_text_mentions(text, "pg_catalog"))
        return NULL;
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
        for (size_t value = 0; value < RW_KNOWN_VALUES; value++)
            values[value] = (rw_known_value){.missing = true};
        if (rw_known_match(questions[i].text, text, arena, values))
            return is_ours(&questions[i], catalog, values) ? &questions[i] : NULL;
    }
    return NULL;
}
