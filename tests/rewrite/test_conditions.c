/* Conditions on the hash column: what a Bind gives them, and the way back from their positions. */
#include "rewrite/statement/script/conditions.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "exact.h"
#include "protocol/array.h"
#include "rewrite/hash/hash.h"
#include "rewrite/statement/script/script.h"
#include "tables.h"

static struct {
    pgw_arena arena;
    pgw_error error;
    pgw_slice text;
    rw_conditions conditions;
} here;

static const pgw_reading reading = {&test_env, &here.arena, &here.error};

static int setup(void **state)
{
    (void)state;
    here.arena = (pgw_arena){0};
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    pgw_arena_free(&here.arena);
    return 0;
}

/* A statement that is prepared, with all of its parameters undeclared. */
static const rw_conditions *prepare(const char *text, uint32_t parameters)
{
    const rw_table *pointers[TEST_TABLE_COUNT];
    rw_catalog catalog = test_catalog(pointers);
    rw_script script;
    here.text = exact(text);
    rw_script_parse(here.text, &catalog, &test_env, NULL, &here.arena, &script);
    assert_int_equal(script.count, 1);
    const rw_prepared prepared = {here.text, {NULL, 0}, parameters};
    rw_conditions_of(&script.statements[0], &prepared, &reading, &here.conditions);
    return &here.conditions;
}

static pgw_slice rendered(const rw_conditions *conditions)
{
    pgw_buf out = {0};
    rw_conditions_render(conditions, here.text, &out);
    pgw_buf_add_byte(&out, '\0');
    return pgw_arena_keep(&here.arena, &out);
}

static uint64_t hash_of(int64_t userid)
{
    pgw_value value = {.type = PGW_INT8, .as.integer = userid};
    return rw_hash_key(&test_tables[0], &value);
}

static rw_param text_of(const char *value)
{
    return (rw_param){.type = PGW_INT8, .null = value == NULL, .bytes = pgw_slice_str(value)};
}

static void a_bind_gives_a_hash_for_each_key_with_a_parameter(void **state)
{
    (void)state;
    const rw_conditions *conditions =
        prepare("SELECT event FROM events WHERE userid IN ($2, 7, $1) AND event = $3", 3);
    assert_int_equal(conditions->count, 1);
    assert_int_equal(conditions->parameters, 2);
    assert_int_equal(conditions->own, 3);
    char expected[200];
    snprintf(expected, sizeof expected,
             "SELECT event FROM events WHERE \"events\".\"userhash\" IN ($4, %lld, $5) AND"
             " userid IN ($2, 7, $1) AND event = $3",
             (long long)hash_of(7));
    assert_string_equal(rendered(conditions).ptr, expected);
    const rw_param list[] = {text_of("5"), text_of(" 6 "), text_of("x")};
    rw_further more[2];
    assert_int_equal(rw_conditions_bind(conditions, (rw_params){list, 3}, &reading, more),
                     PGW_KNOWN);
    assert_true(more[0].hash == hash_of(6));
    assert_true(more[1].hash == hash_of(5));
}

static void what_is_bound_may_have_no_hash(void **state)
{
    (void)state;
    static const struct {
        const char *value;
        pgw_verdict verdict;
    } cases[] = {
        {"5", PGW_KNOWN},
        {NULL, PGW_KNOWN}, /* which no row equals */
        {"five", PGW_INVALID},
        {"99999999999999999999", PGW_INVALID},
    };
    const rw_conditions *conditions = prepare("DELETE FROM events WHERE userid = $1", 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const rw_param list[] = {text_of(cases[i].value)};
        rw_further more = {.hash = 1};
        assert_int_equal(rw_conditions_bind(conditions, (rw_params){list, 1}, &reading, &more),
                         cases[i].verdict);
        if (cases[i].verdict == PGW_KNOWN)
            assert_true(more.hash == (cases[i].value != NULL ? hash_of(5) : 0));
    }
}

/* Several conditions number their parameters on, and a copy needs nothing of the first. */
static void conditions_of_several_places(void **state)
{
    (void)state;
    prepare("SELECT 1 FROM events WHERE userid = $1 AND EXISTS (SELECT FROM nullable n"
            " WHERE n.userid = $2::int8)",
            2);
    pgw_arena arena = {0};
    rw_conditions kept;
    rw_conditions_keep(&here.conditions, &arena, &kept);
    pgw_arena_free(&here.arena);
    assert_int_equal(kept.count, 2);
    assert_string_equal(
        rendered(&kept).ptr,
        "SELECT 1 FROM events WHERE \"events\".\"userhash\" = $3 AND userid = $1 AND"
        " EXISTS (SELECT FROM nullable n WHERE \"n\".\"userhash\" = $4 AND"
        " n.userid = $2::int8)");
    const rw_param list[] = {text_of("5"), text_of("6")};
    rw_further more[2];
    assert_int_equal(rw_conditions_bind(&kept, (rw_params){list, 2}, &reading, more), PGW_KNOWN);
    assert_true(more[0].hash == hash_of(5) && more[1].hash == hash_of(6));
    pgw_arena_free(&arena);
}

/* A key that is each table's own: under another table of the name all rows are looked at. */
static void another_table_of_the_name_loses_no_row(void **state)
{
    (void)state;
    rw_table own = test_tables[0];
    own.own_key = true;
    own.oid = 7;
    const rw_lookup read = {.table = &own, .called = "e", .keys = 1};
    const rw_lookup joined = {
        .table = &own, .called = "e", .other = &own, .other_called = "f", .wrapped = true};
    const uint64_t hashes[] = {5};
    pgw_buf out = {0};
    rw_lookup_render(&read, hashes, 0, &out);
    assert_true(pgw_slice_eq_str(pgw_slice_buf(&out),
                                 " (NOT '\"public\".\"events\"'::pg_catalog.regclass "
                                 "operator(pg_catalog.=) 7::pg_catalog.oid OR "
                                 "\"e\".\"userhash\" = 5) AND"));
    pgw_buf_clear(&out);
    rw_lookup_render(&joined, NULL, 0, &out);
    assert_true(pgw_slice_eq_str(
        pgw_slice_buf(&out),
        " WHERE (NOT '\"public\".\"events\"'::pg_catalog.regclass operator(pg_catalog.=) "
        "7::pg_catalog.oid OR NOT '\"public\".\"events\"'::pg_catalog.regclass "
        "operator(pg_catalog.=) 7::pg_catalog.oid OR \"e\".\"userhash\" = \"f\".\"userhash\")"));
    pgw_buf_free(&out);
}

static const char *rendered_lookup(const rw_lookup *lookup, const uint64_t *hashes, uint32_t first,
                                   pgw_buf *out)
{
    pgw_buf_clear(out);
    rw_lookup_render(lookup, hashes, first, out);
    pgw_buf_add_byte(out, '\0');
    return out->ptr;
}

/* A bucket has the type of its column, whether it is written or bound. */
static void buckets_are_of_their_columns_type(void **state)
{
    (void)state;
    rw_table table = test_tables[0];
    rw_column columns[8];
    assert_true(table.column_count <= 8);
    memcpy(columns, table.columns, table.column_count * sizeof *columns);
    table.columns = columns;
    table.buckets = 16;
    columns[table.hash_column].type = PGW_INT2;
    const uint64_t hashes[] = {5, 15};
    rw_cell bound = {.kind = RW_CELL_PARAM, .parameter = 1}, cells[2] = {bound, bound};
    rw_lookup one = {.table = &table, .called = "e", .keys = 1}, two = one, some = one;
    two.keys = 2;
    pgw_buf out = {0};
    assert_string_equal(rendered_lookup(&one, hashes, 0, &out), " \"e\".\"userhash\" = '5' AND");
    assert_string_equal(rendered_lookup(&two, hashes, 0, &out),
                        " \"e\".\"userhash\" IN ('5', '15') AND");
    one.cells = some.cells = cells;
    some.array = 1;
    const rw_lookup *lookups[] = {&one, &some};
    const rw_conditions conditions = {.lookups = lookups, .lookup_count = 2, .parameters = 2};
    uint32_t types[2];
    rw_conditions_types(&conditions, types);
    assert_int_equal(types[0], PGW_INT2);
    assert_int_equal(types[1], pgw_array_of(PGW_INT2));
    columns[table.hash_column].type = PGW_INT4;
    rw_conditions_types(&conditions, types);
    assert_int_equal(types[0], PGW_INT4);
    assert_int_equal(types[1], pgw_array_of(PGW_INT4));
    pgw_buf_free(&out);
}

/* What SQL's PREPARE keeps has its hashes computed when it runs, of what stands in the text. */
static void what_prepare_keeps_is_computed_there(void **state)
{
    (void)state;
    static const struct {
        const char *condition, *hashed;
    } cases[] = {
        {"n = 1.5 AND \"Text \"\"Id\"\"\" = $1",
         "cast(1.5 as numeric), cast(cast($1 as pg_catalog.text) as pg_catalog.text)"},
        {"n = -1.5 AND \"Text \"\"Id\"\"\" = $1",
         "cast(-1.5 as numeric), cast(cast($1 as pg_catalog.text) as pg_catalog.text)"},
        {"n = $1 AND \"Text \"\"Id\"\"\" = 'a''b'",
         "cast(cast($1 as numeric) as numeric), cast('a''b' as pg_catalog.text)"},
        {"n = $1::int AND \"Text \"\"Id\"\"\" = $2",
         "cast(cast($1 as integer) as numeric), cast(cast($2 as pg_catalog.text) as "
         "pg_catalog.text)"},
        {"n = 1.5::numeric AND \"Text \"\"Id\"\"\" = $1::text",
         "cast(cast(1.5 as numeric) as numeric), cast(cast($1 as pg_catalog.text) as "
         "pg_catalog.text)"},
    };
    rw_table mixed = test_tables[4];
    mixed.oid = 7;
    mixed.hash_function = RW_PG_HASH;
    const rw_table *pointer = &mixed;
    const rw_catalog catalog = {.tables = &pointer, .count = 1};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rw_script script;
        here.text = exact(pgw_arena_printf(
            &here.arena, "PREPARE p AS DELETE FROM \"Odd\".\"Mixed \"\"Case\"\"\" WHERE %s",
            cases[i].condition));
        rw_script_parse(here.text, &catalog, &test_env, NULL, &here.arena, &script);
        rw_conditions_of(&script.statements[0], NULL, &reading, &here.conditions);
        const char *sent = rendered(&here.conditions).ptr;
        const char *hash = pgw_arena_printf(
            &here.arena, "pg_catalog.hash_record_extended(row(%s), 0)", cases[i].hashed);
        assert_non_null(strstr(sent, hash));
    }
}

static void each_lookup_has_its_types(void **state)
{
    (void)state;
    uint32_t types[] = {1, 2, 3};
    rw_conditions_types(prepare("SELECT 1 FROM events WHERE userid = ANY($1) UNION"
                                " SELECT 1 FROM events WHERE userid = $2",
                                2),
                        types);
    assert_int_equal(types[0], pgw_array_of(PGW_INT8));
    assert_int_equal(types[1], PGW_INT8);
    assert_int_equal(types[2], 3);
}

/* … which is text where the column is varchar, that has no = of its own, unless it is cast. */
static void a_varchar_is_compared_as_text(void **state)
{
    (void)state;
    static const struct {
        uint32_t column;
        const char *condition;
        uint32_t type; /* of the parameter; PGW_UNSPECIFIED: nothing is put in */
    } cases[] = {
        {PGW_VARCHAR, "c = $1", PGW_TEXT},
        {PGW_VARCHAR, "c = $1::varchar", PGW_VARCHAR},
        {PGW_VARCHAR, "c = $1::text", PGW_TEXT},
        {PGW_VARCHAR, "c = ANY ($1)", 1009},
        {PGW_VARCHAR, "c = ANY ($1::varchar[])", 1015},
        {PGW_TEXT, "c = $1", PGW_TEXT},
        {PGW_TEXT, "c IN ('x', $1)", PGW_TEXT},
        {PGW_INT4, "c = $1", PGW_INT4},
        {PGW_INT4, "c = $1::int2", PGW_INT2},
        {PGW_INT4, "c = ANY ($1)", 1007},
    };
    static size_t key[] = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rw_column columns[] = {{.name = "c", .type = cases[i].column, .typmod = -1},
                               {.name = "h", .type = PGW_INT8, .typmod = -1}};
        rw_table words = test_tables[0];
        words.name = "words";
        words.columns = columns;
        words.column_count = 2;
        words.hash_column = 1;
        words.hash_key = words.primary_key = key;
        words.hash_key_count = words.primary_key_count = 1;
        const rw_table *pointer = &words;
        const rw_catalog catalog = {.tables = &pointer, .count = 1};
        rw_script script;
        here.text = exact(
            pgw_arena_printf(&here.arena, "SELECT 1 FROM words WHERE %s", cases[i].condition));
        rw_script_parse(here.text, &catalog, &test_env, NULL, &here.arena, &script);
        const rw_prepared prepared = {here.text, {NULL, 0}, 1};
        rw_conditions_of(&script.statements[0], &prepared, &reading, &here.conditions);
        uint32_t type = PGW_UNSPECIFIED;
        if (here.conditions.count > 0)
            rw_lookup_types(here.conditions.lookups[0], &type, 1);
        if (type != cases[i].type)
            fail_msg("%s: %u", cases[i].condition, type);
    }
}

/* A parameter without a type is as large as what stands beside it in a list; where that is larger
 * than its column, its hash is not computed there. */
static void a_larger_number_makes_a_parameter_larger(void **state)
{
    (void)state;
    static const struct {
        const char *cells[3][2]; /* of two integers, in three keys */
        bool computed;
    } cases[] = {
        {{{"1", "2"}, {"$", "3"}, {"4", "5"}}, true},
        {{{"1", "2"}, {"$", "3"}, {"9999999999", "5"}}, false},
        {{{"9999999999", "2"}, {"1", "3"}, {"$", "5"}}, false},
        {{{"9999999999", "2"}, {"1", "$"}, {"4", "5"}}, true},
        {{{"1", "9999999999"}, {"4", "$"}, {"6", "5"}}, false},
        {{{"1", "$"}, {"4", "2"}, {"6", "2147483647"}}, true},
        {{{"1", "$"}, {"4", "2"}, {"6", "2147483648"}}, false},
        {{{"$", "1"}, {"2", "9999999999"}, {"3", "4"}}, true},
        {{{"1", "2"}, {"3", "4"}, {"5", "$"}}, true},
    };
    static size_t key[] = {0, 1};
    rw_column columns[] = {{.name = "a", .type = PGW_INT4, .typmod = -1},
                           {.name = "b", .type = PGW_INT4, .typmod = -1},
                           {.name = "h", .type = PGW_INT8, .typmod = -1}};
    rw_table pairs = test_tables[0];
    pairs.oid = 7;
    pairs.columns = columns;
    pairs.column_count = 3;
    pairs.hash_column = 2;
    pairs.hash_key = pairs.primary_key = key;
    pairs.hash_key_count = pairs.primary_key_count = 2;
    const rw_sql_prepare prepared = {.kept = PGW_LITERAL("SELECT $1"), .parameters = 1};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rw_cell cells[6];
        for (size_t c = 0; c < 6; c++) {
            const char *text = cases[i].cells[c / 2][c % 2];
            cells[c] =
                (rw_cell){.kind = RW_CELL_INTEGER, .text = pgw_slice_str(text), .minus_after = -1};
            if (text[0] == '$')
                cells[c] = (rw_cell){.kind = RW_CELL_PARAM, .parameter = 1, .minus_after = -1};
        }
        const rw_lookup lookup = {.table = &pairs, .called = "p", .keys = 3, .cells = cells};
        if (rw_lookup_has_sql(&lookup, &prepared) != cases[i].computed)
            fail_msg("case %zu", i);
    }
}

/* An array gives an array of hashes, in text; what stands beside it is in each of its keys. */
static void an_array_gives_an_array(void **state)
{
    (void)state;
    static const struct {
        const char *array;
        const char *const hashes[3]; /* of these keys; NULL behind the last */
        pgw_verdict verdict;
    } cases[] = {
        {"{5,6}", {"5", "6"}, PGW_KNOWN},
        {"{ \"05\" }", {"5"}, PGW_KNOWN},
        {"{}", {NULL}, PGW_KNOWN},
        {NULL, {NULL}, PGW_KNOWN},
        {"{5,NULL}", {NULL}, PGW_UNKNOWABLE},
        {"{{5}}", {NULL}, PGW_UNKNOWABLE},
        {"{five}", {NULL}, PGW_INVALID},
        {"5", {NULL}, PGW_UNKNOWABLE},
    };
    const rw_conditions *conditions =
        prepare("DELETE FROM events WHERE userid = ANY($1) AND event = $2", 2);
    assert_string_equal(rendered(conditions).ptr,
                        "DELETE FROM events WHERE \"events\".\"userhash\" = ANY ($3) AND"
                        " userid = ANY($1) AND event = $2");
    assert_true(conditions->in_text);
    assert_false(prepare("DELETE FROM events WHERE userid = $1", 1)->in_text);
    conditions = prepare("DELETE FROM events WHERE userid = ANY($1) AND event = $2", 2);
    uint32_t type, own[2] = {0};
    rw_conditions_types(conditions, &type);
    rw_lookup_types(conditions->lookups[0], own, 2);
    assert_int_equal(type, pgw_array_of(PGW_INT8));
    assert_int_equal(own[0], pgw_array_of(PGW_INT8));
    assert_int_equal(own[1], PGW_UNSPECIFIED);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rw_param list[] = {text_of(cases[i].array), text_of("x")};
        list[0].type = own[0];
        rw_further more;
        assert_int_equal(rw_conditions_bind(conditions, (rw_params){list, 2}, &reading, &more),
                         cases[i].verdict);
        if (cases[i].verdict != PGW_KNOWN)
            continue;
        pgw_buf expected = {0};
        pgw_buf_add_byte(&expected, '{');
        for (size_t k = 0; cases[i].hashes[k] != NULL; k++)
            pgw_buf_addf(&expected, k > 0 ? ",%lld" : "%lld",
                         (long long)hash_of(atoi(cases[i].hashes[k])));
        pgw_buf_add_byte(&expected, '}');
        assert_true(pgw_slice_eq(more.hashes, pgw_slice_buf(&expected)));
        pgw_buf_free(&expected);
    }
}

static void an_array_may_be_binary(void **state)
{
    (void)state;
    static const char bytes[] = "\0\0\0\1\0\0\0\0\0\0\0\24"  /* one dimension, no NULL, of int8 */
                                "\0\0\0\2\0\0\0\1"           /* two elements, from 1 on */
                                "\0\0\0\10\0\0\0\0\0\0\0\5"  /* 5 */
                                "\0\0\0\10\0\0\0\0\0\0\0\6"; /* 6 */
    const rw_conditions *conditions = prepare("DELETE FROM events WHERE userid = ANY($1)", 1);
    rw_param array = {
        .type = pgw_array_of(PGW_INT8), .binary = true, .bytes = {bytes, sizeof bytes - 1}};
    rw_further more;
    assert_int_equal(rw_conditions_bind(conditions, (rw_params){&array, 1}, &reading, &more),
                     PGW_KNOWN);
    const char *expected =
        pgw_arena_printf(&here.arena, "{%lld,%lld}", (long long)hash_of(5), (long long)hash_of(6));
    assert_true(pgw_slice_eq_str(more.hashes, expected));
    array.bytes.len--;
    assert_int_not_equal(rw_conditions_bind(conditions, (rw_params){&array, 1}, &reading, &more),
                         PGW_KNOWN);
}

/* The types of both sides have one hash, or nothing is put in. */
static void an_array_is_of_the_columns_type(void **state)
{
    (void)state;
    static const struct {
        uint32_t declared, conditions;
    } cases[] = {{PGW_UNSPECIFIED, 1}, {1016, 1},     {1005, 1}, {1231, 0}, {1009, 0},
                 {PGW_INT8, 0},        {PGW_TEXT, 0}, {1028, 0} /* oid[] */};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        prepare("DELETE FROM events WHERE userid = ANY($1)", 1);
        const rw_table *pointers[TEST_TABLE_COUNT];
        rw_catalog catalog = test_catalog(pointers);
        rw_script script;
        rw_script_parse(here.text, &catalog, &test_env, NULL, &here.arena, &script);
        const rw_prepared prepared = {here.text, {&cases[i].declared, 1}, 1};
        rw_conditions_of(&script.statements[0], &prepared, &reading, &here.conditions);
        assert_int_equal(here.conditions.count, cases[i].conditions);
    }
}

static void no_more_parameters_than_a_bind_can_hold(void **state)
{
    (void)state;
    assert_int_equal(prepare("SELECT 1 FROM events WHERE userid = $1", UINT16_MAX - 1)->count, 1);
    assert_int_equal(prepare("SELECT 1 FROM events WHERE userid = $1", UINT16_MAX)->count, 0);
}

static void positions_are_those_of_the_clients_text(void **state)
{
    (void)state;
    const rw_conditions *conditions =
        prepare("SELECT 'é' FROM events WHERE userid = $1 AND event = é", 1);
    const size_t where = 29, added = strlen(" \"events\".\"userhash\" = $2 AND");
    static const size_t before[] = {1, 9, 28};
    for (size_t i = 0; i < sizeof before / sizeof *before; i++)
        assert_int_equal(rw_conditions_position(conditions, here.text, before[i], true), before[i]);
    for (size_t inside = 0; inside < added; inside++)
        assert_int_equal(rw_conditions_position(conditions, here.text, where + inside, true),
                         where);
    for (size_t behind = 0; behind < 30; behind++)
        assert_int_equal(
            rw_conditions_position(conditions, here.text, where + added + behind, true),
            where + behind);
}

/* … that is run as it is, in a TimeZone three hours west of UTC. */
static const char *run_in_the_west(const char *text)
{
    static const pgw_env west = {
        .utf8 = true, .conforming = true, .zone_known = true, .zone_seconds = -3 * 3600};
    static const rw_column columns[] = {
        {.name = "ts", .type = PGW_TIMESTAMPTZ, .typmod = -1, .not_null = true, .key_place = 2},
        {.name = "h", .type = PGW_INT8, .typmod = -1, .not_null = true, .key_place = 1}};
    static const size_t key[] = {0};
    rw_table table = test_tables[0];
    table.name = "moments";
    table.columns = (rw_column *)columns;
    table.column_count = 2;
    table.hash_column = 1;
    table.hash_key = (size_t *)key;
    table.primary_key = (size_t *)key;
    table.hash_key_count = table.primary_key_count = 1;
    const rw_table *pointer = &table;
    const rw_catalog catalog = {.tables = &pointer, .count = 1};
    const pgw_reading there = {&west, &here.arena, &here.error};
    rw_script script;
    here.text = exact(text);
    rw_script_parse(here.text, &catalog, &west, NULL, &here.arena, &script);
    assert_int_equal(script.count, 1);
    rw_conditions_of(&script.statements[0], NULL, &there, &here.conditions);
    return rendered(&here.conditions).ptr;
}

/* What is behind the conditions of a text. */
static const char *behind(const char *text)
{
    const char *and = strstr(text, " AND");
    return and != NULL ? and : "";
}

static void times_are_sent_with_their_zone(void **state)
{
    (void)state;
    static const struct {
        const char *text, *behind;
    } cases[] = {
        {"SELECT 1 FROM moments WHERE ts = '2026-01-01'", " AND ts = '2026-01-01 03:00:00+00'"},
        {"SELECT 1 FROM moments WHERE ts='2026-01-01'and true",
         " AND ts='2026-01-01 03:00:00+00'and true"},
        {"SELECT 1 FROM moments WHERE ts = timestamptz E'2026-01-01' OR ts = $$2026-01-02$$ ORDER "
         "BY 1",
         " AND ( ts = timestamptz '2026-01-01 03:00:00+00' OR ts = '2026-01-02 03:00:00+00')"
         " ORDER BY 1"},
        {"SELECT 1 FROM moments WHERE ts IN ('2026-01-01 00:00Z', '2026-01-01', 'infinity')",
         " AND ts IN ('2026-01-01 00:00Z', '2026-01-01 03:00:00+00', 'infinity')"},
        {"SELECT 1 FROM moments WHERE ts = ANY ('{2026-01-01 00:00Z}')",
         " AND ts = ANY ('{2026-01-01 00:00Z}')"},
        {"SELECT 1 FROM moments WHERE ts = ANY ('{2026-01-01}')", ""},
        {"SELECT 1 FROM moments WHERE ts IN ('2026-01-01', 'today')", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(behind(run_in_the_west(cases[i].text)), cases[i].behind);
}

/* A constant that two conditions are made of is put in once. */
static void a_time_of_two_keys_is_sent_once(void **state)
{
    (void)state;
    const char *sent = run_in_the_west("SELECT 1 FROM moments a JOIN moments b USING (ts)"
                                       " WHERE ts = '2026-01-01'");
    assert_non_null(strstr(sent, "\"a\".\"h\" = "));
    assert_non_null(strstr(sent, "\"b\".\"h\" = "));
    assert_non_null(strstr(sent, " AND ts = '2026-01-01 03:00:00+00'"));
    assert_null(strstr(sent, "+00'2026"));
}

/* … its position is where the client wrote it. */
static void positions_behind_a_time_are_those_of_the_clients_text(void **state)
{
    (void)state;
    const char *sent = run_in_the_west("SELECT 1 FROM moments WHERE ts = '2026-01-01' AND nope");
    size_t at = (size_t)(strstr(sent, "nope") - sent) + 1;
    assert_int_equal(rw_conditions_position(&here.conditions, here.text, at, true), 51);
    at = (size_t)(strstr(sent, "'2026") - sent) + 1;
    assert_int_equal(rw_conditions_position(&here.conditions, here.text, at, true), 34);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_bind_gives_a_hash_for_each_key_with_a_parameter, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(what_is_bound_may_have_no_hash, setup, teardown),
        cmocka_unit_test_setup_teardown(conditions_of_several_places, setup, teardown),
        cmocka_unit_test_setup_teardown(another_table_of_the_name_loses_no_row, setup, teardown),
        cmocka_unit_test(buckets_are_of_their_columns_type),
        cmocka_unit_test_setup_teardown(what_prepare_keeps_is_computed_there, setup, teardown),
        cmocka_unit_test_setup_teardown(each_lookup_has_its_types, setup, teardown),
        cmocka_unit_test_setup_teardown(a_larger_number_makes_a_parameter_larger, setup, teardown),
        cmocka_unit_test_setup_teardown(a_varchar_is_compared_as_text, setup, teardown),
        cmocka_unit_test_setup_teardown(an_array_gives_an_array, setup, teardown),
        cmocka_unit_test_setup_teardown(an_array_may_be_binary, setup, teardown),
        cmocka_unit_test_setup_teardown(an_array_is_of_the_columns_type, setup, teardown),
        cmocka_unit_test_setup_teardown(no_more_parameters_than_a_bind_can_hold, setup, teardown),
        cmocka_unit_test_setup_teardown(positions_are_those_of_the_clients_text, setup, teardown),
        cmocka_unit_test_setup_teardown(times_are_sent_with_their_zone, setup, teardown),
        cmocka_unit_test_setup_teardown(a_time_of_two_keys_is_sent_once, setup, teardown),
        cmocka_unit_test_setup_teardown(positions_behind_a_time_are_those_of_the_clients_text,
                                        setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
