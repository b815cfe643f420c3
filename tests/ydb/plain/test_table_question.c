/* What pgjdbc asks about tables: which questions are answered here, and which are the database's;
 * LIKE, by what PostgreSQL says. The answers stand in tests/integration/test_ydb_metadata.py. */
#include "ydb/plain/like.h"
#include "ydb/plain/table_answer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <time.h>

#include <cmocka.h>

#include "tests/rewrite/exact.h"

static pgw_arena arena;

static rw_column columns[] = {{.name = "id"}, {.name = "word"}, {.name = "id_hash"}};
static size_t key[] = {0};
static const rw_table items = {.schema = "public",
                               .name = "items",
                               .columns = columns,
                               .column_count = 3,
                               .primary_key = key,
                               .primary_key_count = 1,
                               .hash_column = 2};
static const rw_table pattern = {.schema = "public", .name = "logs", .pattern = true};
static const rw_table *const tables[] = {&items, &pattern};
static const rw_catalog catalog = {.tables = tables, .count = 2};

#define KEY_OF(condition)                                                                          \
    "SELECT a.attname, a.atttypid, atttypmod FROM pg_catalog.pg_class ct JOIN x ON (y) "           \
    "WHERE true " condition " AND i.indisprimary ORDER BY a.attnum"
#define SCHEMAS(condition)                                                                         \
    "SELECT nspname AS TABLE_SCHEM, NULL AS TABLE_CATALOG FROM pg_catalog.pg_namespace WHERE "     \
    "nspname <> 'pg_toast' AND (nspname !~ '^pg_temp_' OR x) AND (nspname !~ '^pg_toast_temp_' "   \
    "OR x) " condition " ORDER BY TABLE_SCHEM"
#define COLUMNS(inner, outer)                                                                      \
    "SELECT * FROM (SELECT n.nspname,c.relname,a.attname,a.atttypid,a.attnotnull OR (t.typtype = " \
    "'d' AND t.typnotnull) AS attnotnull,a.atttypmod,a.attlen,t.typtypmod,row_number() OVER "      \
    "(PARTITION BY a.attrelid ORDER BY a.attnum) AS attnum, nullif(a.attidentity, '') as "         \
    "attidentity,nullif(a.attgenerated, '') as attgenerated,pg_catalog.pg_get_expr(def.adbin, "    \
    "def.adrelid) AS adsrc,dsc.description,t.typbasetype,t.typtype  FROM x WHERE c.relkind in "    \
    "('r') and a.attnum > 0 AND NOT a.attisdropped " inner ") c WHERE true " outer                 \
    " ORDER BY nspname,c.relname,attnum"

static size_t rows(const char *text)
{
    rw_known_value values[RW_KNOWN_VALUES];
    rw_said said;
    const rw_table_question *question =
        rw_table_question_read(pgw_slice_str(text), &catalog, &arena, values);
    if (question == NULL)
        return SIZE_MAX;
    rw_table_answer(question, values, &catalog, &arena, &said);
    return said.rows;
}

static void what_is_asked_decides(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t rows;
    } cases[] = {
        {KEY_OF("AND ct.relname = 'items'"), 1},
        {KEY_OF("AND n.nspname = 'public' AND ct.relname = E'items'"), 1},
        {KEY_OF("AND n.nspname = 'other' AND ct.relname = 'items'"), SIZE_MAX},
        {KEY_OF("AND ct.relname = 'others'"), SIZE_MAX},
        {KEY_OF("AND ct.relname = 'logs'"), SIZE_MAX},
        {KEY_OF("AND ct.relname = 'item_'"), SIZE_MAX},
        {KEY_OF("AND ct.relname = 'it\\145ms'"), SIZE_MAX},
        {KEY_OF("AND ct.relname = $1"), SIZE_MAX},
        {KEY_OF("AND ct.relname = NULL"), SIZE_MAX},
        {KEY_OF("AND ct.relname = 'items' OR true"), SIZE_MAX},
        {KEY_OF(""), SIZE_MAX},
        {SCHEMAS(""), 3},
        {SCHEMAS("AND nspname LIKE 'p%'"), 2},
        {SCHEMAS("AND nspname LIKE 'x'"), 0},
        {SCHEMAS("AND nspname LIKE 'x\\'"), 0},
        {SCHEMAS("AND nspname LIKE 'p%' OR true"), SIZE_MAX},
        {COLUMNS("", ""), 2},
        {COLUMNS("AND c.relname LIKE 'item_'", ""), 2},
        {COLUMNS("AND n.nspname LIKE '%' AND c.relname LIKE '%s'", "AND attname LIKE '%o%'"), 1},
        {COLUMNS("AND c.relname LIKE 'items'", "AND attname LIKE '%hash'"), 0},
        {COLUMNS("AND c.relname LIKE 'others'", ""), SIZE_MAX},
        {COLUMNS("", "AND attname LIKE $1"), SIZE_MAX},
        {COLUMNS("AND n.nspname LIKE 'other'", ""), SIZE_MAX},
        {"SELECT setting FROM pg_catalog.pg_settings WHERE name='max_index_keys'", 1},
        {"SELECT setting FROM pg_catalog.pg_settings WHERE name='max_connections'", SIZE_MAX},
        {"SELECT setting FROM pg_catalog.pg_settings WHERE name='MAX_INDEX_KEYS'", SIZE_MAX},
        {"select 1 from pg_catalog.pg_class", SIZE_MAX},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(rows(cases[i].text), cases[i].rows);
    pgw_arena_free(&arena);
}

static void like_is_postgresql_s(void **state)
{
    (void)state;
    static const struct {
        const char *text, *pattern;
        bool like;
    } cases[] = {
        {"", "", true},
        {"", "%", true},
        {"a", "", false},
        {"abc", "abc", true},
        {"abc", "ABC", false},
        {"abc", "a_c", true},
        {"abc", "a%", true},
        {"abc", "%c", true},
        {"abc", "%b", false},
        {"abc", "%%b%%", true},
        {"abcbd", "%b_", true},
        {"aab", "%ab", true},
        {"aba", "ab%ba", false},
        {"a_c", "a\\_c", true},
        {"abc", "a\\_c", false},
        {"a%", "a\\%", true},
        {"a", "a\\", false},
        {"\xc3\xa9", "_", true},
        {"\xc3\xa9", "__", false},
        {"x\xc3\xa9", "%_", true},
        {"\xc3\xa9", "\xc3\xa9", true},
        {"", "_", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(rw_is_like(exact(cases[i].text), exact(cases[i].pattern)), cases[i].like);
}

static void add_times(pgw_buf *text, const char *what, int times)
{
    for (int i = 0; i < times; i++)
        pgw_buf_add_str(text, what);
}

/* Where each of many places may be the right one, and each of many others behind it. */
static void what_may_fit_in_many_ways_takes_no_time(void **state)
{
    (void)state;
    pgw_buf text = {0};
    const clock_t begun = clock();
    pgw_buf_add_str(&text, "SELECT NULL::text AS PKTABLE_CAT, pkn.nspname AS PKTABLE_SCHEM, "
                           "pg_catalog");
    add_times(&text, " AND con.contype = 'f' AND", 200);
    add_times(&text, " ORDER BY", 1100);
    pgw_buf_add_byte(&text, '\0');
    assert_int_equal(rows(text.ptr), SIZE_MAX);
    assert_true(clock() - begun < 2 * CLOCKS_PER_SEC);
    pgw_buf_free(&text);
    pgw_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_asked_decides),
        cmocka_unit_test(like_is_postgresql_s),
        cmocka_unit_test(what_may_fit_in_many_ways_takes_no_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
