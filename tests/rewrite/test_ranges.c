/* What is put into reads by ranges of the key, and in its order, of tables that a store sorts by
 * (bucket, key). */
#include "rewrite/statement/script/conditions.h"
#include "rewrite/statement/script/script.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "exact.h"
#include "tables.h"

static rw_column visit_columns[] = {
    COLUMN("userid", PGW_INT8, -1, .not_null = true),
    COLUMN("ts", PGW_TIMESTAMP, -1, .not_null = true),
    COLUMN("page", PGW_TEXT, -1),
    COLUMN("h", PGW_INT2, -1, .not_null = true),
};
static rw_column null_columns[] = {
    COLUMN("userid", PGW_INT8, -1),
    COLUMN("ts", PGW_TIMESTAMP, -1, .not_null = true),
    COLUMN("page", PGW_TEXT, -1),
    COLUMN("h", PGW_INT2, -1, .not_null = true),
};
static rw_column item_columns[] = {
    COLUMN("Id", PGW_TEXT, -1, .not_null = true),
    COLUMN("label", PGW_TEXT, -1),
    COLUMN("h", PGW_INT4, -1, .not_null = true),
};

#define RANGED(n, c, hash, keyed, hashed, ...)                                                     \
    {                                                                                              \
        .schema = "public", .name = (n), .columns = (c), .column_count = sizeof(c) / sizeof *(c),  \
        .primary_key = test_first_two, .primary_key_count = (keyed), .hash_key = test_first_two,   \
        .hash_key_count = (hashed), .hash_column = (hash), .hash_function = RW_XXH3,               \
        .hash_first = true, .buckets = 2,                                                          \
        .partitions = {.kind = RW_PARTITION_UNIFORM, .count = 2}, .looked_up = true, __VA_ARGS__   \
    }

static const rw_table tables[] = {
    RANGED("visits", visit_columns, 3, 2, 2, .sorted = true),
    RANGED("items", item_columns, 2, 1, 1, .sorted = true),
    RANGED("last", visit_columns, 3, 2, 2),
    RANGED("nulls", null_columns, 3, 2, 2, .allow_null_key = true, .sorted = true),
    RANGED("unseen", visit_columns, 3, 2, 2, .forward_uncomputable = true, .sorted = true),
};
enum { TABLES = sizeof tables / sizeof *tables };
static const rw_table *pointers[TABLES];

static rw_catalog ranged_catalog(void)
{
    for (size_t i = 0; i < TABLES; i++)
        pointers[i] = &tables[i];
    return (rw_catalog){.tables = pointers, .count = TABLES};
}

/* The only statement of a text as it is sent, in the arena. */
static const char *sent(const char *text, const rw_catalog *catalog, rw_shape_cache *shapes,
                        pgw_arena *arena)
{
    rw_script script;
    rw_conditions conditions;
    pgw_error error;
    pgw_buf out = {0};
    rw_script_parse(exact(text), catalog, &test_env, shapes, arena, &script);
    assert_int_equal(script.count, 1);
    assert_int_equal(script.statements[0].kind, RW_STATEMENT_FORWARD);
    rw_conditions_of(&script.statements[0], NULL, &(pgw_reading){&test_env, arena, &error},
                     &conditions);
    rw_conditions_render(&conditions, exact(text), &out);
    pgw_buf_add_byte(&out, '\0');
    return pgw_arena_keep(arena, &out).ptr;
}

static void check(const char *text, const char *expected, rw_shape_cache *shapes)
{
    rw_catalog catalog = ranged_catalog();
    pgw_arena arena = {0};
    assert_string_equal(sent(text, &catalog, shapes, &arena), expected);
    pgw_arena_free(&arena);
}

static void ranges_name_all_buckets(void **state)
{
    (void)state;
#define IN " \"visits\".\"h\" IN (0::int2, 1::int2) AND"
    static const char *const cases[][2] = {
        {"select page from visits where userid > 5",
         "select page from visits where" IN " userid > 5"},
        {"select page from visits where 5 <= userid and page = 'x' order by ts",
         "select page from visits where" IN " 5 <= userid and page = 'x' order by ts"},
        {"select page from visits where (userid = 1 or userid = 2)",
         "select page from visits where" IN " ( (userid = 1 or userid = 2))"},
        {"select page from visits where userid = 1 or userid > 7 limit 3",
         "select page from visits where" IN " ( userid = 1 or userid > 7) limit 3"},
        {"select page from visits where userid between $1 and $2",
         "select page from visits where" IN " userid between $1 and $2"},
        {"delete from visits where userid in (1, 2)",
         "delete from visits where" IN " userid in (1, 2)"},
        {"update visits set page = '' where (userid, ts) > (1, '2026-01-01') returning page",
         "update visits set page = '' where" IN
         " (userid > 1 OR (userid = 1 AND ts > '2026-01-01')) returning page"},
        {"select 1 from \"items\" i, visits v where i.\"Id\" like 'x%' and v.userid < 3",
         "select 1 from \"items\" i, visits v where \"i\".\"h\" IN (0::int4, 1::int4) AND "
         "\"v\".\"h\" IN "
         "(0::int2, 1::int2) AND i.\"Id\" like 'x%' and v.userid < 3"},
        {"delete from visits where page = '' and row(userid, ts, h) <= ($1, $2::timestamp, 3) or "
         "userid = 2",
         "delete from visits where" IN
         " ( page = '' and row(userid, ts, h) <= ($1, $2::timestamp, 3) or userid = 2)"},
        {"delete from visits where page = '' and row(userid, ts, h) <= ($1, $2::timestamp, 3)",
         "delete from visits where" IN
         " page = '' and (userid < $1 OR (userid = $1 AND (ts < $2::timestamp OR "
         "(ts = $2::timestamp AND h <= 3))))"},
        {"declare c cursor for select page from visits where userid < 3",
         "declare c cursor for select page from visits where" IN " userid < 3"},
        {"prepare s as select page from visits where userid < $1",
         "prepare s as select page from visits where" IN " userid < $1"},
        {"with a as (select page from visits where userid < 3) select * from a",
         "with a as (select page from visits where" IN " userid < 3) select * from a"},
    };
#undef IN
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check(cases[i][0], cases[i][1], NULL);
}

#define ARM(columns, from, h, where, order)                                                        \
    "SELECT * FROM (SELECT " columns " FROM " from " WHERE \"h\" = " h where " ORDER BY " order    \
    ") AS b"
#define ARMS(columns, from, type, where, order)                                                    \
    "(" ARM(columns, from, "0::" type, where, order) " UNION ALL " ARM(columns, from, "1::" type,  \
                                                                       where, order) ")"
#define UP "\"h\", \"userid\", \"ts\" LIMIT "
#define DOWN "\"h\" DESC, \"userid\" DESC, \"ts\" DESC LIMIT "

static void first_rows_are_those_of_each_bucket(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"select page from visits order by userid, ts limit 3",
         "select page from " ARMS("\"userid\", \"ts\", \"page\"", "visits AS \"visits\"", "int2",
                                  "", UP "3") " AS \"visits\" order by userid, ts limit 3"},
        {"select v.page p from public.visits as v where v.userid < 5 order by v.userid desc, v.ts "
         "desc, p limit $1",
         "select v.page p from " ARMS(
             "\"userid\", \"ts\", \"page\"", "public.visits AS \"v\"", "int2",
             " AND (v.userid < 5)",
             DOWN "$1") " as v where v.userid < 5 order by v.userid desc, v.ts desc, p limit $1"},
        {"select * from items order by \"Id\" offset 4 limit 3",
         "select \"items\".\"Id\", \"items\".\"label\" from " ARMS(
             "\"Id\", \"label\"", "items AS \"items\"", "int4", "",
             "\"h\", \"Id\" LIMIT 7") " AS \"items\" order by \"Id\" offset 4 limit 3"},
        {"select ts from visits where userid = 5 order by ts limit $1::int offset $2",
         "select ts from " ARMS(
             "\"userid\", \"ts\"", "visits AS \"visits\"", "int2", " AND (userid = 5)",
             UP "cast($1::int as bigint) + cast($2 as bigint)") " AS \"visits\" where userid = 5 "
                                                                "order by ts limit $1::int "
                                                                "offset $2"},
        {"select 1 from visits order by userid fetch first 2 rows only",
         "select 1 from " ARMS(
             "\"userid\"", "visits AS \"visits\"", "int2", "",
             "\"h\", \"userid\" LIMIT 2") " AS \"visits\" order by userid fetch first 2 rows only"},
        {"select page from visits where page <> 'x' and (userid, ts) < ($1, $2) order by userid "
         "desc, ts desc limit 9",
         "select page from " ARMS(
             "\"userid\", \"ts\", \"page\"", "visits AS \"visits\"", "int2",
             " AND (page <> 'x' and (userid < $1 OR (userid = $1 AND ts < $2)) )",
             DOWN
             "9") " AS \"visits\" where page <> 'x' and (userid < $1 OR (userid = $1 AND ts < $2)) "
                  "order by userid desc, ts desc limit 9"},
        {"select max(userid) + 1 as n from visits",
         "select max(userid) + 1 as n from " ARMS(
             "\"userid\"", "visits AS \"visits\"", "int2", "",
             "\"h\" DESC, \"userid\" DESC LIMIT 1") " AS \"visits\""},
        {"select coalesce(min(ts), now()) from visits where userid = 5 and page like '%x'",
         "select coalesce(min(ts), now()) from " ARMS(
             "\"userid\", \"ts\", \"page\"", "visits AS \"visits\"", "int2",
             " AND (userid = 5 and page like '%x')",
             UP "1") " AS \"visits\" where userid = 5 and page like '%x'"},
        {"select 2, userid from visits order by 2 limit 1",
         "select 2, userid from " ARMS(
             "\"userid\"", "visits AS \"visits\"", "int2", "",
             "\"h\", \"userid\" LIMIT 1") " AS \"visits\" order by 2 limit 1"},
        {"select \"Id\", h from items order by \"Id\" limit 1",
         "select \"Id\", h from " ARMS(
             "\"Id\", \"h\"", "items AS \"items\"", "int4", "",
             "\"h\", \"Id\" LIMIT 1") " AS \"items\" order by \"Id\" limit 1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check(cases[i][0], cases[i][1], NULL);
}

static void both_ends_are_two_arms(void **state)
{
    (void)state;
    check(
        "select min(userid), max(userid) from visits",
        "select min(userid), max(userid) from (" ARM(
            "\"userid\"", "visits AS \"visits\"", "0::int2",
            "", "\"h\", \"userid\" LIMIT 1") " UNION ALL " ARM("\"userid\"", "visits AS \"visits\"",
                                                               "0::int2", "",
                                                               "\"h\" DESC, \"userid\" DESC LIMIT "
                                                               "1") " UNION ALL " ARM("\"userid\"",
                                                                                      "visits AS "
                                                                                      "\"visits\"",
                                                                                      "1::int2", "",
                                                                                      "\"h\", "
                                                                                      "\"userid\" "
                                                                                      "LIMIT "
                                                                                      "1") " UNION "
                                                                                           "ALL"
                                                                                           " " ARM("\""
                                                                                                   "us"
                                                                                                   "er"
                                                                                                   "id"
                                                                                                   "\"",
                                                                                                   "vi"
                                                                                                   "si"
                                                                                                   "ts"
                                                                                                   " A"
                                                                                                   "S "
                                                                                                   "\""
                                                                                                   "vi"
                                                                                                   "si"
                                                                                                   "ts"
                                                                                                   "\"",
                                                                                                   "1:"
                                                                                                   ":i"
                                                                                                   "nt"
                                                                                                   "2",
                                                                                                   "",
                                                                                                   "\""
                                                                                                   "h"
                                                                                                   "\""
                                                                                                   " D"
                                                                                                   "ES"
                                                                                                   "C,"
                                                                                                   " "
                                                                                                   "\""
                                                                                                   "us"
                                                                                                   "er"
                                                                                                   "id"
                                                                                                   "\""
                                                                                                   " D"
                                                                                                   "ES"
                                                                                                   "C "
                                                                                                   "LI"
                                                                                                   "MI"
                                                                                                   "T "
                                                                                                   "1") ") AS \"visits\"",
        NULL);
}

/* Nothing is put in where it would change rows, or help nothing. */
static void the_rest_is_left_as_it_is(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "select page from visits where ts > '2026-01-01'",
        "select page from visits where not userid > 5",
        "select page from visits where userid > 5 or page = 'x'",
        "select page from visits where userid <> 5",
        "select page from visits where userid > ts",
        "select 1 from items where \"Id\" like '%x'",
        "select 1 from items where \"Id\" like ''",
        "select 1 from items where \"Id\" not like 'x%'",
        "select 1 from visits v left join items i on v.userid > 5",
        "select page from visits order by userid",
        "select page from visits limit 5",
        "select page from visits order by userid desc, ts limit 5",
        "select page from visits order by ts limit 5",
        "select page from visits order by page, userid limit 5",
        "select page from visits order by userid using > limit 5",
        "select page from visits order by userid limit all",
        "select page from visits order by userid limit 2 + 3",
        "select page from visits order by userid limit -1",
        "select page from visits order by userid limit 3 offset -1",
        "select page from visits order by userid limit null",
        "select page from visits order by userid limit '3'",
        "select page from visits order by userid limit cast($1 as int)",
        "select page from visits order by userid limit $1::numeric(3)",
        "select page from visits order by -1 limit 3",
        "select *, h from visits order by 2 limit 3",
        "select page from visits order by userid limit (select 5)",
        "select page from visits order by userid fetch first 5 rows with ties",
        "select page from visits * order by userid limit 5",
        "select distinct page from visits order by userid limit 5",
        "select userid::text from visits order by userid limit 5",
        "select -userid as userid from visits order by userid limit 5",
        "select userid(page) from visits order by userid limit 5",
        "select count(*) from visits order by userid limit 5",
        "select generate_series(1, 2) from visits order by userid limit 5",
        "select row_number() over () from visits order by userid limit 5",
        "select page from visits group by userid, page order by userid limit 5",
        "select page from visits order by userid limit 5 for update",
        "select page from visits where random() < 0.5 order by userid limit 5",
        "select page from visits where exists (select 1) order by userid limit 5",
        "select page from visits where ctid = '(0,1)' order by userid limit 5",
        "select page from visits tablesample system (1) order by userid limit 5",
        "select public.visits.page from public.visits order by userid limit 5",
        "select page from visits, other order by visits.userid limit 5",
        "select max(ts) from visits",
        "select max(userid), max(ts) from visits",
        "select max(userid), count(page) from visits",
        "select max(userid), page from visits",
        "select max(distinct userid) from visits",
        "select max(userid) filter (where page = 'x') from visits",
        "select max(userid) over () from visits",
        "select max(userid + 1) from visits",
        "select max(userid) from visits group by page",
        "select max(userid) from visits having max(userid) > 5",
        "select max(userid) from visits limit 1",
        "select max(userid) from nulls",
        "select page from nulls order by userid limit 5",
        /* a server that is asked for its tables, and one that rows are looked up in otherwise */
        "select page from last where userid > 5",
        "select page from last order by userid limit 5",
        "select page from unseen where userid > 5",
        "select page from unseen order by userid limit 5",
        /* what only plans, or keeps, a query */
        "create view v as select page from visits where userid > 5",
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check(cases[i], cases[i], NULL);
}

/* A whole key is looked for in its own bucket alone. */
static void keys_are_looked_up(void **state)
{
    (void)state;
    rw_catalog catalog = ranged_catalog();
    pgw_arena arena = {0};
    static const char *const cases[] = {
        "select page from visits where userid = 5 and ts = '2026-01-01' order by ts limit 1",
        "select max(\"Id\") from items where \"Id\" = 'x'",
        "select label from items where \"Id\" in ('x', 'y')",
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *text = sent(cases[i], &catalog, NULL, &arena);
        assert_non_null(strstr(text, "\"h\""));
        assert_null(strstr(text, "::int"));
        assert_null(strstr(text, "UNION"));
    }
    pgw_arena_free(&arena);
}

/* Another text of a shape has its own constants in all branches; what only its constants decide is
 * no shape's. */
static void a_memory_keeps_no_constants(void **state)
{
    (void)state;
    rw_shape_cache shapes = {0};
    check("select page from visits where page = 'a' order by userid limit 3 offset 4",
          "select page from " ARMS("\"userid\", \"page\"", "visits AS \"visits\"", "int2",
                                   " AND (page = 'a')",
                                   "\"h\", \"userid\" LIMIT 7") " AS \"visits\" where page = 'a' "
                                                                "order by userid limit 3 offset 4",
          &shapes);
    check("select page from visits where page = 'longer' order by userid limit 10 offset 20",
          "select page from " ARMS(
              "\"userid\", \"page\"", "visits AS \"visits\"", "int2", " AND (page = 'longer')",
              "\"h\", \"userid\" LIMIT 30") " AS \"visits\" where page = 'longer' order by userid "
                                            "limit 10 offset 20",
          &shapes);
    assert_int_equal(shapes.count, 1);
    check("select 1 from items where \"Id\" like 'a%'",
          "select 1 from items where \"items\".\"h\" IN (0::int4, 1::int4) AND \"Id\" like 'a%'",
          &shapes);
    check("select 1 from items where \"Id\" like '%a'",
          "select 1 from items where \"Id\" like '%a'", &shapes);
    rw_shape_cache_clear(&shapes);
}

static void what_is_put_in_is_bounded(void **state)
{
    (void)state;
    rw_table many[] = {tables[0], tables[1]};
    const rw_table *them[] = {&many[0], &many[1]};
    rw_catalog catalog = {.tables = them, .count = 2};
    many[0].buckets = many[1].buckets = 1024;
    pgw_arena arena = {0};
    /* too many branches: the range alone, where there is one */
    const char *text = "select page from visits order by userid limit 3";
    assert_string_equal(sent(text, &catalog, NULL, &arena), text);
    text = sent("select page from visits where userid > 3 order by userid limit 3", &catalog, NULL,
                &arena);
    assert_non_null(strstr(text, "IN (0::int2, 1::int2, "));
    assert_non_null(strstr(text, ", 1023::int2) AND userid > 3 order by userid limit 3"));
    /* short constants of a shape let the branches in, and long ones of the same make them too long
     */
    many[0].buckets = 32;
    rw_shape_cache shapes = {0};
    text = "select page from visits where page = 'a' order by userid limit 3";
    assert_non_null(strstr(sent(text, &catalog, &shapes, &arena), " UNION ALL "));
    pgw_buf longer = {0};
    pgw_buf_add_str(&longer, "select page from visits where page = '");
    memset(pgw_buf_reserve(&longer, 2000), 'a', 2000);
    longer.len += 2000;
    pgw_buf_add_str(&longer, "' order by userid limit 3");
    pgw_buf_add_byte(&longer, '\0');
    assert_string_equal(sent(longer.ptr, &catalog, &shapes, &arena), longer.ptr);
    assert_int_equal(shapes.count, 1);
    rw_shape_cache_clear(&shapes);
    /* as many tables as there are places for */
    pgw_buf_clear(&longer);
    pgw_buf_add_str(&longer, "select 1 from visits where userid > 1");
    for (size_t i = 0; i < 2 * RW_RANGES_MAX; i++)
        pgw_buf_add_str(&longer, " union all select 1 from visits where userid > 1");
    pgw_buf_add_byte(&longer, '\0');
    size_t found = 0;
    for (const char *at = sent(longer.ptr, &catalog, NULL, &arena);
         (at = strstr(at, " IN (")) != NULL; at++)
        found++;
    assert_true(found > 0 && found <= RW_RANGES_MAX);
    pgw_buf_free(&longer);
    pgw_arena_free(&arena);
}

static void reads_are_seeks_in_buckets(void **state)
{
    (void)state;
    rw_catalog catalog = ranged_catalog();
    static const struct {
        const char *text;
        rw_read_kind kind;
        uint32_t buckets;
    } cases[] = {
        {"select page from visits where userid > 5", RW_READ_SEEK, 2},
        {"select page from visits order by userid limit 5", RW_READ_SEEK, 2},
        {"select max(userid) from visits", RW_READ_SEEK, 2},
        {"select page from visits order by userid", RW_READ_SCAN, 0},
        {"select page from visits where ts > '2026-01-01'", RW_READ_SCAN, 0},
        {"select v.page from items i join visits v on v.userid = length(i.label) where i.\"Id\" = "
         "'x'",
         RW_READ_SCAN, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pgw_arena arena = {0};
        rw_script script;
        rw_script_parse(exact(cases[i].text), &catalog, &test_env, NULL, &arena, &script);
        const rw_read_map *map = script.statements[0].reads;
        const rw_read *read = &map->reads[map->count - 1];
        assert_int_equal(read->kind, cases[i].kind);
        assert_int_equal(read->buckets, cases[i].buckets);
        pgw_arena_free(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_name_all_buckets),
        cmocka_unit_test(first_rows_are_those_of_each_bucket),
        cmocka_unit_test(both_ends_are_two_arms),
        cmocka_unit_test(the_rest_is_left_as_it_is),
        cmocka_unit_test(keys_are_looked_up),
        cmocka_unit_test(a_memory_keeps_no_constants),
        cmocka_unit_test(what_is_put_in_is_bounded),
        cmocka_unit_test(reads_are_seeks_in_buckets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
