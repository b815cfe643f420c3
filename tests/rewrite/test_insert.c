/* INSERT, UPSERT and REPLACE: the vectors, their keys, and PostgreSQL's grammar as the oracle. */
#include "rewrite/hash/hash.h"
#include "rewrite/insert/insert.h"
#include "rewrite/insert/key.h"
#include "rewrite/insert/answers.h"
#include "rewrite/insert/parse.h"
#include "rewrite/insert/render.h"
#include "rewrite/insert/row_width.h"
#include "tests/rewrite/exact.h"
#include "tests/rewrite/lines.h"
#include "tests/rewrite/tables.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/rewrite/shorten.h"

#include <pg_query.h>
#include <pg_query/pg_query.pb-c.h>

static const rw_table *pointers[TEST_TABLE_COUNT];

/* What parsing gave. The arena keeps it. */
typedef struct parsed {
    pgw_arena arena;
    bool accepted;
    rw_insert *insert;
    pgw_error error;
} parsed;

static parsed parse(const char *sql)
{
    parsed p = {.error = PGW_ERROR_NONE};
    rw_catalog catalog = test_catalog(pointers);
    p.accepted = rw_insert_parse(exact(sql), &catalog, &test_env, &p.arena, &p.insert, &p.error);
    return p;
}

static rw_insert *must_parse(parsed *p, const char *sql)
{
    *p = parse(sql);
    if (!p->accepted || p->insert == NULL)
        fail_msg("%s: %s %s", p->accepted ? "passed" : p->error.sqlstate, sql, p->error.message);
    return p->insert;
}

/* --- vectors --- */

static const char *blocker_name(rw_blocker blocker)
{
    static const char *const names[] = {
        [RW_BATCHABLE] = "batchable",
        [RW_BLOCKER_RETURNING] = "returning",
        [RW_BLOCKER_SEQUENCE] = "sequence",
        [RW_BLOCKER_TRIGGER] = "trigger",
        [RW_BLOCKER_EXPRESSION] = "expression",
        [RW_BLOCKER_UNCOMPUTABLE] = "uncomputable",
        [RW_BLOCKER_FORM] = "form",
    };
    return names[blocker];
}

static void describe(const parsed *p, pgw_buf *out)
{
    const rw_insert *insert = p->insert;
    if (!p->accepted) {
        pgw_buf_addf(out, "! %s %zu %s%s%s%s%s", p->error.sqlstate, p->error.position,
                     p->error.message, p->error.detail[0] != '\0' ? " DETAIL " : "",
                     p->error.detail, p->error.hint[0] != '\0' ? " HINT " : "", p->error.hint);
        return;
    }
    if (insert == NULL) {
        pgw_buf_add_str(out, "pass");
        return;
    }
    if (insert->wanted_count > 0) {
        pgw_arena arena = {0};
        rw_filled filled;
        rw_fill_parameters(insert, 901, &arena, &filled);
        pgw_buf_addf(out, "? %.*s", (int)filled.text.len, filled.text.ptr);
        pgw_arena_free(&arena);
        return;
    }
    uint64_t hashes[16];
    for (size_t i = 0; i < 16; i++)
        hashes[i] = 901 + i;
    rw_render_statement(insert, RW_HASH_CONSTANT, hashes, out);
    if (insert->query)
        test_shorten(out);
    pgw_buf_addf(out, "\t%s", blocker_name(insert->blocker));
    pgw_buf_add_str(out, insert->values_merge ? " merge" : "");
    pgw_buf_add_str(out, insert->key_constant ? " constant" : "");
    pgw_buf_add_str(out, insert->has_conflict ? " conflict" : "");
    pgw_buf_add_str(out, insert->hash_listed ? " listed" : "");
    for (uint32_t i = 0; i < insert->param_count; i++)
        pgw_buf_addf(out, "%s%u", i > 0 ? "," : " params=", insert->inferred[i]);
}

static void vectors_hold(void **state)
{
    (void)state;
    test_lines lines = {.file = fopen(VECTORS "/inserts", "r")};
    assert_non_null(lines.file);
    size_t cases = 0, wrong = 0;
    for (; test_next_line(&lines); cases++) {
        parsed p = parse(lines.fields[0]);
        pgw_buf actual = {0}, expected = {0};
        describe(&p, &actual);
        for (int i = 1; i < lines.count; i++)
            pgw_buf_addf(&expected, "%s%s", i > 1 ? "\t" : "", lines.fields[i]);
        if (!pgw_slice_eq(pgw_slice_buf(&actual), pgw_slice_buf(&expected))) {
            print_error("line %d:\n%s\n  gives\n%.*s\n  not\n%.*s\n", lines.number, lines.fields[0],
                        (int)actual.len, actual.ptr, (int)expected.len, expected.ptr);
            wrong++;
        }
        pgw_buf_free(&actual);
        pgw_buf_free(&expected);
        pgw_arena_free(&p.arena);
    }
    assert_int_equal(wrong, 0);
    assert_true(cases > 150);
}

static void what_heeds_settings_is_known(void **state)
{
    (void)state;
    static const struct {
        const char *row;
        bool heeds;
    } cases[] = {
        {"($1, $2, $3)", false},
        {"(1, $2, 'x')", false},
        {"('1', $2, NULL)", false},
        {"(-1, $2, 1.5)", false},
        {"(1, $2, DEFAULT), (2, $2, 'y')", false},
        {"(1, '2026-01-02 03:04:05-07', 'x')", false},
        {"(1, '2026-01-02', 'x')", true},
        {"(1, '2026-01-02 03:04:05', 'x')", true},
        {"(1, '2026-01-02 03:04:05+000', 'x')", true},
        {"(1, '02-01-2026 03:04:05+00', 'x')", true},
        {"(1, $2, $3::text)", true},
        {"(1, $2, lower('X'))", true},
        {"(1, $2, 'x'), (2, $2, 'y'::text)", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        parsed p;
        pgw_buf sql = {0};
        pgw_buf_addf(&sql, "INSERT INTO events (userid, ts, event) VALUES %s", cases[i].row);
        pgw_buf_add_byte(&sql, '\0');
        if (must_parse(&p, sql.ptr)->heeds_settings != cases[i].heeds)
            fail_msg("%s", cases[i].row);
        pgw_arena_free(&p.arena);
        pgw_buf_free(&sql);
    }
}

/* --- refusals --- */

/* There is nothing that could be written for it. */
static void a_generated_key_is_refused_with_another_way_out(void **state)
{
    (void)state;
    rw_table table = test_tables[0];
    rw_column columns[8];
    memcpy(columns, table.columns, table.column_count * sizeof *columns);
    columns[0].generated = columns[0].has_default = true;
    table.columns = columns;
    const rw_table *pointer = &table;
    pgw_arena arena = {0};
    pgw_error error;
    rw_insert *insert;
    assert_false(rw_insert_parse(PGW_LITERAL("INSERT INTO events (ts) VALUES (now())"),
                                 &(rw_catalog){.tables = &pointer, .count = 1}, &test_env, &arena,
                                 &insert, &error));
    assert_string_equal(error.hint, "Take columns for hash_key that \"userid\" is generated from.");
    pgw_arena_free(&arena);
}

static void refusals_name_table_column_and_a_way_out(void **state)
{
    (void)state;
    static const char *const refused[] = {
        "UPSERT INTO events (userid) VALUES ($1 + 1)",
        "UPSERT INTO events VALUES (CASE WHEN true THEN 1 END, now())"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        parsed p = parse(refused[i]);
        assert_false(p.accepted);
        assert_string_equal(p.error.sqlstate, "0A000");
        assert_non_null(strstr(p.error.message, "\"events\""));
        assert_non_null(strstr(p.error.message, "\"userid\""));
        assert_non_null(strstr(p.error.hint, "VALUES"));
        pgw_arena_free(&p.arena);
    }
}

static void names_of_others_are_ignored(void **state)
{
    (void)state;
    rw_catalog catalog = test_catalog(pointers);
    catalog.unqualified = test_others;
    pgw_arena arena = {0};
    pgw_error error;
    rw_insert *insert;
    assert_true(rw_insert_parse(PGW_LITERAL("INSERT INTO events VALUES (1)"), &catalog, &test_env,
                                &arena, &insert, &error));
    assert_null(insert);
    assert_true(rw_insert_parse(PGW_LITERAL("INSERT INTO public.events VALUES (1)"), &catalog,
                                &test_env, &arena, &insert, &error));
    assert_non_null(insert);
    pgw_arena_free(&arena);
}

/* Where types and operators of the database's own run its code. */
static void code_of_types_is_not_merged(void **state)
{
    (void)state;
    static const struct {
        const char *rest;
        bool plain;
    } cases[] = {
        {"VALUES (1, 'a')", true},
        {"VALUES (1, '1'::int)", true},
        {"VALUES (1, '1'::integer[])", true},
        {"VALUES (1, '1'::pg_catalog.whatever)", true},
        {"VALUES (1, CAST('1' AS double precision))", true},
        {"VALUES (1, '1'::numeric(6, 2)::jsonb)", true},
        {"VALUES (1, interval '1 day')", true},
        {"VALUES (1, '12:00'::time with time zone)", true},
        {"VALUES (1, ARRAY['1'::inet, now()])", true},
        {"VALUES (1, '1'::own)", false},
        {"VALUES (1, '1'::\"integer\")", false},
        {"VALUES (1, '1'::\"interval\")", false},
        {"VALUES (1, '1'::public.int4)", false},
        {"VALUES (1, '1'::a.pg_catalog.int4)", false},
        {"VALUES (1, CAST($1 AS own[]))", false},
        {"VALUES (1, own '1')", false},
        {"VALUES (1, own(3) '1')", false},
        {"VALUES (1, ARRAY[ARRAY['1'::text, 1::own]])", false},
        {"VALUES (1, 'a'), (2, -1::own)", false},
        {"VALUES (1, 'a') ON CONFLICT DO NOTHING", true},
        {"VALUES (1, 'a') ON CONFLICT (userid) DO UPDATE SET event = excluded.event", true},
        {"VALUES (1, 'a') ON CONFLICT (userid) DO UPDATE SET event ="
         " COALESCE(excluded.\"event\", events.event, 'b', $1, 2.5, NULL)",
         true},
        {"VALUES (1, 'a') ON CONFLICT (userid) DO UPDATE SET (event) = ROW (DEFAULT)", true},
        {"VALUES (1, 'a') ON CONFLICT (userid) DO UPDATE SET event = $1 WHERE true", true},
        {"VALUES (1, 'a') ON CONFLICT (userid) DO UPDATE SET event = 1::text", false},
        {"VALUES (1, 'a') ON CONFLICT (userid) DO UPDATE SET event = own '1'", false},
        {"VALUES (1, 'a') ON CONFLICT (userid) DO UPDATE SET event = \"own\" '1'", false},
        {"VALUES (1, 'a') ON CONFLICT (userid) DO UPDATE SET event = 'a' || 'b'", false},
        {"VALUES (1, 'a') ON CONFLICT (userid) DO UPDATE SET event = - events.event", false},
        {"VALUES (1, 'a') ON CONFLICT (userid) DO UPDATE SET event = $1[1]", false},
        {"VALUES (1, 'a') ON CONFLICT (userid) DO UPDATE SET (event) = (CAST('1' AS own))", false},
        {"VALUES (1, 'a') ON CONFLICT (userid) DO UPDATE SET event = 'a' WHERE 'a' LIKE 'a'",
         false},
        {"VALUES (1, 'a') ON CONFLICT (userid) WHERE 1 = 1 DO NOTHING", false},
    };
    rw_table strict = test_tables[0];
    strict.expressions_run = strict.casts_run = true;
    const rw_table *of[] = {&test_tables[0], &strict};
    for (size_t i = 0; i < 2 * (sizeof cases / sizeof *cases); i++) {
        char sql[200];
        pgw_arena arena = {0};
        pgw_error error;
        rw_insert *insert = NULL;
        snprintf(sql, sizeof sql, "INSERT INTO events (userid, event) %s", cases[i / 2].rest);
        assert_true(rw_insert_parse(pgw_slice_str(sql),
                                    &(rw_catalog){.tables = &of[i % 2], .count = 1}, &test_env,
                                    &arena, &insert, &error));
        rw_blocker expected =
            i % 2 == 0 || cases[i / 2].plain ? RW_BATCHABLE : RW_BLOCKER_EXPRESSION;
        if (insert == NULL || insert->blocker != expected)
            fail_msg("%s, %s", sql, insert == NULL ? "none" : blocker_name(insert->blocker));
        pgw_arena_free(&arena);
    }
}

/* A name behind a dot that is no column may be a function, of whatever database. */
static void functions_behind_dots_are_not_merged(void **state)
{
    (void)state;
    static const struct {
        const char *value;
        rw_blocker blocker;
    } cases[] = {{"events.event", RW_BATCHABLE},
                 {"now()", RW_BATCHABLE},
                 {"coalesce(excluded . event, 'a')", RW_BATCHABLE},
                 {"other.now()", RW_BLOCKER_EXPRESSION},
                 {"other . coalesce('a')", RW_BLOCKER_EXPRESSION},
                 {"events.own", RW_BLOCKER_EXPRESSION},
                 {"(excluded).\"own\"", RW_BLOCKER_EXPRESSION}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char sql[200];
        parsed p;
        snprintf(sql, sizeof sql,
                 "INSERT INTO events (userid, event) VALUES (1, 'a') ON CONFLICT (userid) DO UPDATE"
                 " SET event = %s",
                 cases[i].value);
        if (must_parse(&p, sql)->blocker != cases[i].blocker)
            fail_msg("%s", sql);
        pgw_arena_free(&p.arena);
    }
}

/* --- keys --- */

static uint64_t hash_of(const rw_table *table, int64_t userid)
{
    pgw_value value = {.type = PGW_INT8, .as.integer = userid};
    return rw_hash_key(table, &value);
}

static pgw_verdict key_of(parsed *p, const char *sql, const rw_param *params, size_t count,
                          rw_key *key)
{
    rw_insert *insert = must_parse(p, sql);
    return rw_insert_key(insert, 0, (rw_params){params, count},
                         &(pgw_reading){&test_env, &p->arena, &p->error}, key);
}

/* More columns than keys usually have. */
static void keys_may_be_of_many_columns(void **state)
{
    (void)state;
    enum { MANY = 9 };
    static char names[MANY + 1][2];
    rw_column columns[MANY + 1];
    size_t key[MANY];
    pgw_value values[MANY];
    for (size_t i = 0; i <= MANY; i++) {
        names[i][0] = (char)('a' + i);
        columns[i] = (rw_column){
            .name = names[i], .type = PGW_INT8, .typmod = -1, .type_name = "", .not_null = true};
    }
    for (size_t i = 0; i < MANY; i++) {
        key[i] = MANY - 1 - i;
        values[i] = (pgw_value){.type = PGW_INT8, .as.integer = (int64_t)(MANY - i)};
    }
    rw_table many = test_tables[0];
    many.name = (char *)"many";
    many.columns = columns;
    many.column_count = MANY + 1;
    many.primary_key = many.hash_key = key;
    many.primary_key_count = many.hash_key_count = many.hash_column = MANY;
    const rw_table *pointer = &many;
    rw_insert *insert = NULL;
    rw_key found;
    pgw_error error;
    pgw_arena arena = {0};
    assert_true(rw_insert_parse(PGW_LITERAL("INSERT INTO many VALUES (1, 2, 3, 4, 5, 6, 7, 8, 9)"),
                                &(rw_catalog){.tables = &pointer, .count = 1}, &test_env, &arena,
                                &insert, &error));
    assert_int_equal(
        rw_insert_key(insert, 0, RW_NO_PARAMS, &(pgw_reading){&test_env, &arena, &error}, &found),
        PGW_KNOWN);
    assert_int_equal(found.hash, rw_hash_key(&many, values));
    pgw_arena_free(&arena);
}

static void one_value_has_one_hash_in_every_spelling(void **state)
{
    (void)state;
    static const char *const spellings[] = {
        "5",
        "'5'",
        "005",
        "5::bigint",
        "' 5 '",
        "'+5'",
        "(((5)))",
        "('5'::int8)",
        "bigint '5'",
        "int8 '5'",
        "CAST(5 AS int2)",
        "CAST('5' AS text)::int8",
        "4.7",
        "5.2",
        "+5",
        "-(-5)",
        "E'\\x35'",
        "U&'\\0035'",
        "$$5$$",
        "5::int2::int4",
        "'5'::integer",
        "5e0",
        "'5.4'::numeric",
        "pg_catalog.int4 '5'",
        "\"int4\" '5'",
        "(5)::decimal(4, 2)",
        "-'-5'::int8",
        "'5'\n''",
        "-(-5)::int8",
    };
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++) {
        char sql[128];
        snprintf(sql, sizeof sql, "INSERT INTO events (userid, ts) VALUES (%s, now())",
                 spellings[i]);
        parsed p = parse(sql);
        rw_key key;
        bool twice_negated = strstr(spellings[i], "-(-") != NULL;
        if (twice_negated) { /* not followed that far: asked for, never guessed */
            assert_int_equal(p.insert->wanted_count, 1);
        } else {
            assert_non_null(p.insert);
            pgw_verdict verdict = rw_insert_key(
                p.insert, 0, RW_NO_PARAMS, &(pgw_reading){&test_env, &p.arena, &p.error}, &key);
            if (verdict != PGW_KNOWN || key.hash != hash_of(p.insert->table, 5))
                fail_msg("%s: verdict %d %s", spellings[i], verdict, p.error.message);
            assert_true(key.known[0]);
            assert_false(key.known[1]);
            assert_false(key.all_known);
            assert_true(key.partition < 16);
        }
        pgw_arena_free(&p.arena);
    }
}

static void the_sign_is_applied_where_it_stands(void **state)
{
    (void)state;
    static const char *const spellings[] = {"-5",   "- 5",  "-5::int8",   "(-5)::int8",
                                            "-(5)", "'-5'", "-'5'::int8", "(-5::int2)::int8"};
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++) {
        char sql[128];
        parsed p;
        rw_key key;
        snprintf(sql, sizeof sql, "INSERT INTO events (userid, ts) VALUES (%s, now())",
                 spellings[i]);
        assert_int_equal(key_of(&p, sql, NULL, 0, &key), PGW_KNOWN);
        assert_true(key.hash == hash_of(p.insert->table, -5));
        pgw_arena_free(&p.arena);
    }
    parsed p;
    rw_key key;
    assert_int_equal(
        key_of(&p, "INSERT INTO events VALUES (-9223372036854775808::int8, now())", NULL, 0, &key),
        PGW_INVALID);
    assert_string_equal(p.error.sqlstate, "22003");
    pgw_arena_free(&p.arena);
}

static void parameters_give_the_key(void **state)
{
    (void)state;
    static const char sql[] = "INSERT INTO events (ts, userid) VALUES ($2, $1)";
    const rw_param params[] = {{PGW_INT4, true, false, {"\0\0\0\5", 4}},
                               {PGW_TIMESTAMPTZ, false, false, {"2026-01-02 00:00:00+00", 22}}};
    parsed p;
    rw_key key;
    assert_int_equal(key_of(&p, sql, params, 2, &key), PGW_KNOWN);
    assert_true(key.hash == hash_of(p.insert->table, 5));
    assert_true(key.all_known);
    assert_int_equal(rw_insert_key(p.insert, 0, RW_NO_PARAMS,
                                   &(pgw_reading){&test_env, &p.arena, &p.error}, &key),
                     PGW_UNKNOWABLE);
    assert_string_equal(p.error.sqlstate, "0A000");
    pgw_arena_free(&p.arena);
}

/* The hash of (userid) = (NULL): nothing was added to it. */
static void null_is_left_to_the_backend_where_it_rejects_it(void **state)
{
    (void)state;
    static const struct {
        const char *sql, *sqlstate; /* "": hashed */
        uint32_t type;              /* of $1, which is NULL */
    } cases[] = {
        {"INSERT INTO events (userid, ts) VALUES (NULL, now())", "", 0},
        {"INSERT INTO events (userid, ts) VALUES (NULL::int8, now())", "", 0},
        {"INSERT INTO events (userid, ts) VALUES (CAST(NULL AS int2), now())", "", 0},
        {"INSERT INTO events (userid, ts) VALUES (DEFAULT, now())", "", 0},
        {"INSERT INTO events (ts) VALUES (now())", "", 0},
        {"INSERT INTO events (userhash, userid, ts) VALUES (1, NULL, now())", "", 0},
        {"INSERT INTO events (userid, ts) VALUES ($1, now())", "", PGW_INT8},
        {"INSERT INTO events (userid, ts) VALUES ($1::int8, now())", "", PGW_TEXT},
        {"INSERT INTO nullable (userid, ts) VALUES ($1, now())", "", PGW_INT8},
        {"INSERT INTO events (userid, ts) VALUES (NULL::bool, now())", "42804", 0},
        {"INSERT INTO events (userid, ts) VALUES (NULL::date, now())", "42804", 0},
        {"INSERT INTO loose (userid, ts) VALUES (NULL::date, now())", "42804", 0},
        {"INSERT INTO events (userid, ts) VALUES ($1, now())", "42804", PGW_BOOL},
        {"INSERT INTO loose (userid, ts) VALUES ($1, now())", "42804", PGW_DATE},
        {"INSERT INTO loose (userid, ts) VALUES (NULL::int8, now())", "23502", 0},
        {"INSERT INTO loose (userid, ts) VALUES ($1, now())", "23502", PGW_INT8},
        {"INSERT INTO triggered (userid, ts) VALUES ($1, now())", "23502", PGW_INT8},
        {"INSERT INTO nullable (userhash, userid, ts) VALUES (1, NULL, now())", "22023", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        parsed p;
        rw_key key;
        const rw_param null = {cases[i].type, false, true, {NULL, 0}};
        pgw_verdict verdict = key_of(&p, cases[i].sql, &null, 1, &key);
        if (verdict != (cases[i].sqlstate[0] == '\0' ? PGW_KNOWN : PGW_INVALID) ||
            strcmp(p.error.sqlstate, cases[i].sqlstate) != 0)
            fail_msg("%s: %d %s %s", cases[i].sql, verdict, p.error.sqlstate, p.error.message);
        if (verdict == PGW_KNOWN) {
            assert_true(key.known[0] && key.values[0].null);
            assert_true(key.hash == rw_xxh3(PGW_LITERAL("")));
        }
        pgw_arena_free(&p.arena);
    }
}

static void values_that_cannot_be_told_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *value, *sqlstate;
        size_t position;
    } cases[] = {{"'x'", "22P02", 41},           {"'2.5'", "22P02", 41},
                 {"'0x10'", "22P02", 41},        {"'99999999999999999999'", "22003", 41},
                 {"'x'::int4", "22P02", 41},     {"99999999999999999999", "22003", 0},
                 {"99999::int2", "22003", 0},    {"5::unheard_of", "0A000", 41},
                 {"'5'::app.int8", "0A000", 41}, {"5::\"char\"", "0A000", 41},
                 {"'{5}'::int8[]", "0A000", 41}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char sql[128];
        parsed p;
        rw_key key;
        snprintf(sql, sizeof sql, "INSERT INTO events (userid, ts) VALUES (%s, now())",
                 cases[i].value);
        assert_int_not_equal(key_of(&p, sql, NULL, 0, &key), PGW_KNOWN);
        if (strcmp(p.error.sqlstate, cases[i].sqlstate) != 0)
            fail_msg("%s: %s %s", cases[i].value, p.error.sqlstate, p.error.message);
        assert_int_equal(p.error.position, cases[i].position);
        pgw_arena_free(&p.arena);
    }
}

/* What can be written in the place of a value that cannot be told, by the column's type. */
static void modifiers_are_read_up_to_their_limits(void **state)
{
    (void)state;
    static const struct {
        const char *type;
        uint32_t oid; /* 0: not known here */
        int32_t typmod;
    } cases[] = {{"numeric(1)", PGW_NUMERIC, (1 << 16) + 4},
                 {"numeric(0)", 0, -1},
                 {"numeric(1000)", PGW_NUMERIC, (1000 << 16) + 4},
                 {"numeric(1001)", 0, -1},
                 {"numeric(1000,1000)", PGW_NUMERIC, (1000 << 16 | 1000) + 4},
                 {"numeric(1000,1001)", 0, -1},
                 {"numeric(6,2)", PGW_NUMERIC, (6 << 16 | 2) + 4},
                 {"varchar(1)", PGW_VARCHAR, 5},
                 {"varchar(0)", 0, -1},
                 {"varchar(10485760)", PGW_VARCHAR, 10485764},
                 {"varchar(10485761)", 0, -1},
                 {"varchar(1,2)", 0, -1},
                 {"char(1)", PGW_BPCHAR, 5},
                 {"char(0)", 0, -1},
                 {"character(10485760)", PGW_BPCHAR, 10485764},
                 {"character(10485761)", 0, -1},
                 {"float(0)", 0, -1},
                 {"float(1)", PGW_FLOAT4, -1},
                 {"float(24)", PGW_FLOAT4, -1},
                 {"float(25)", PGW_FLOAT8, -1},
                 {"float(53)", PGW_FLOAT8, -1},
                 {"float(54)", 0, -1},
                 {"int8(1)", 0, -1},
                 {"timestamp(0)", PGW_TIMESTAMP, 0},
                 {"timestamp(6)", PGW_TIMESTAMP, 6},
                 {"timestamp(7)", 0, -1},
                 {"timestamp(1,2)", 0, -1},
                 {"timestamptz(6)", PGW_TIMESTAMPTZ, 6},
                 {"timestamptz(7)", 0, -1},
                 {"timestamp(3) with time zone", PGW_TIMESTAMPTZ, 3},
                 {"timestamp(3) without time zone", PGW_TIMESTAMP, 3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char sql[128];
        parsed p;
        snprintf(sql, sizeof sql, "INSERT INTO events (userid) VALUES ('5'::%s)", cases[i].type);
        const rw_cell *cell = &must_parse(&p, sql)->rows[0].key[0];
        assert_int_equal(cell->cast_count, 1);
        if (cell->casts[0].type != cases[i].oid || cell->casts[0].typmod != cases[i].typmod)
            fail_msg("%s: %u %d", cases[i].type, cell->casts[0].type, cell->casts[0].typmod);
        pgw_arena_free(&p.arena);
    }
}

/* How deep a value may be nested in each way, so that what is deeper is left to the server. */
static void values_are_looked_into_so_deep(void **state)
{
    (void)state;
    static const struct {
        const char *before, *value, *after;
        bool key; /* else the value is one of another column */
        int most;
    } cases[] = {{"(", "5", ")", true, 31},
                 {"(", "-5", ")", true, 31},
                 {"CAST(", "5", " AS int8)", true, 4}, /* so many are kept */
                 {"CAST((", "5", ") AS int8)", true, 4},
                 {"(", "'x'", ")", false, 31},
                 {"CAST(", "'x'", " AS text)", false, 31},
                 {"ARRAY[", "1", "]", false, 15},
                 {"ARRAY[(", "1", ")]", false, 10},
                 {"[", "1", "]", false, 30}}; /* behind ARRAY */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int most = 0;
        for (int depth = 1; depth < 100; depth++) {
            pgw_buf sql = {0};
            pgw_buf_add_str(&sql, cases[i].key ? "INSERT INTO events (userid) VALUES ("
                                               : "INSERT INTO events (userid, event) VALUES (5, ");
            if (cases[i].before[0] == '[')
                pgw_buf_add_str(&sql, "ARRAY");
            for (int n = 0; n < depth; n++)
                pgw_buf_add_str(&sql, cases[i].before);
            pgw_buf_add_str(&sql, cases[i].value);
            for (int n = 0; n < depth; n++)
                pgw_buf_add_str(&sql, cases[i].after);
            pgw_buf_add(&sql, ")", 2);
            parsed p = parse(sql.ptr);
            if (p.accepted && p.insert->wanted_count == 0 &&
                p.insert->blocker != RW_BLOCKER_EXPRESSION)
                most = depth;
            pgw_buf_free(&sql);
            pgw_arena_free(&p.arena);
        }
        if (most != cases[i].most)
            fail_msg("%s %d times", cases[i].before, most);
    }
}

static void hints_say_what_to_write(void **state)
{
    (void)state;
    static const struct {
        uint32_t type;
        const char *type_name, *value;
        bool utf8;
        const char *hint;
    } cases[] = {
        {PGW_TIMESTAMPTZ, "", "'tomorrow'", true,
         "Write a constant or a parameter with its offset from UTC for \"k\", as in '2026-01-31 "
         "12:00:00+00'."},
        {PGW_TIMESTAMP, "", "'tomorrow'", true,
         "Write a constant or a parameter in ISO form for \"k\", as in '2026-01-31'."},
        {PGW_DATE, "", "'tomorrow'", true,
         "Write a constant or a parameter in ISO form for \"k\", as in '2026-01-31'."},
        {PGW_TEXT, "text", "'\xc3\xa9'", false, "SET client_encoding TO 'UTF8'."},
        {PGW_VARCHAR, "varchar", "'\xc3\xa9'", false, "SET client_encoding TO 'UTF8'."},
        {PGW_BPCHAR, "bpchar", "'\xc3\xa9'", false, "SET client_encoding TO 'UTF8'."},
        {PGW_TEXT, "text", "'5'::float8", true,
         "Write a plain constant or a parameter of type text for \"k\"."},
        {PGW_INT8, "bigint", "'5'::name::int8", true,
         "Write a plain constant or a parameter of type bigint for \"k\"."},
        {PGW_INT8, NULL, "'5'::name::int8", true,
         "Write a plain constant or a parameter of type the column for \"k\"."},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rw_column columns[] = {{.name = (char *)"k",
                                .type = cases[i].type,
                                .typmod = -1,
                                .type_name = (char *)cases[i].type_name,
                                .not_null = true},
                               {.name = (char *)"h", .type = PGW_INT8, .typmod = -1}};
        size_t key[] = {0};
        const rw_table table = {.schema = (char *)"public",
                                .name = (char *)"t",
                                .columns = columns,
                                .column_count = 2,
                                .primary_key = key,
                                .primary_key_count = 1,
                                .hash_key = key,
                                .hash_key_count = 1,
                                .hash_column = 1,
                                .partitions = {.count = 1}};
        const rw_table *pointer = &table;
        const rw_catalog catalog = {.tables = &pointer, .count = 1};
        pgw_env env = test_env;
        env.utf8 = cases[i].utf8;
        char sql[64];
        snprintf(sql, sizeof sql, "INSERT INTO t (k) VALUES (%s)", cases[i].value);
        pgw_arena arena = {0};
        pgw_error error = PGW_ERROR_NONE;
        rw_insert *insert = NULL;
        rw_key key_of_row;
        pgw_reading reading = {&env, &arena, &error};
        assert_true(rw_insert_parse(exact(sql), &catalog, &env, &arena, &insert, &error));
        assert_non_null(insert);
        assert_int_equal(rw_insert_key(insert, 0, RW_NO_PARAMS, &reading, &key_of_row),
                         PGW_UNKNOWABLE);
        assert_string_equal(error.message, "cannot compute the hash of table \"t\": the value of "
                                           "column \"k\" cannot be told from the statement alone");
        assert_string_equal(error.hint, cases[i].hint);
        assert_int_equal(error.position, 27);
        pgw_arena_free(&arena);
    }
}

static void the_clients_own_hash_is_checked(void **state)
{
    (void)state;
    char digits[32], right[128], quoted[128];
    snprintf(digits, sizeof digits, "%lld", (long long)hash_of(&test_tables[0], 5));
    snprintf(right, sizeof right, "INSERT INTO events (userhash, userid) VALUES (%s, 5)", digits);
    snprintf(quoted, sizeof quoted, "INSERT INTO events (userhash, userid) VALUES ('%s', 5)",
             digits);
    const struct {
        const char *sql, *sqlstate;
    } cases[] = {{right, ""},
                 {quoted, ""},
                 {"INSERT INTO events (userhash, userid) VALUES (DEFAULT, 5)", ""},
                 {"INSERT INTO events (userhash, userid) VALUES (1, 5)", "22023"},
                 {"INSERT INTO events (userhash, userid) VALUES (NULL, 5)", "22023"},
                 {"INSERT INTO events (userhash, userid) VALUES (f(5), 5)", "22023"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        parsed p;
        rw_key key;
        pgw_verdict verdict = key_of(&p, cases[i].sql, NULL, 0, &key);
        assert_int_equal(verdict, cases[i].sqlstate[0] == '\0' ? PGW_KNOWN : PGW_INVALID);
        assert_string_equal(p.error.sqlstate, cases[i].sqlstate);
        pgw_arena_free(&p.arena);
    }
}

static void two_columns_are_hashed_in_their_order(void **state)
{
    (void)state;
    parsed p;
    rw_key key;
    assert_int_equal(
        key_of(&p, "INSERT INTO \"Odd\".\"Mixed \"\"Case\"\"\" VALUES ('a', 1.50)", NULL, 0, &key),
        PGW_KNOWN);
    assert_true(key.hash == rw_xxh3(PGW_LITERAL("1.5a")));
    assert_true(key.all_known);
    pgw_arena_free(&p.arena);
}

/* --- UPSERT of one key twice --- */

static void the_last_of_equal_keys_wins(void **state)
{
    (void)state;
    static const char upsert[] = "UPSERT INTO events (userid, ts, event) VALUES "
                                 "(1, '2026-01-01 00:00:00+00', 'a'), /* two */ (2, now(), 'b'), "
                                 "('1', '2026-01-01 03:00:00+03', 'c'), (2, now(), 'd')";
    parsed p;
    rw_insert *insert = must_parse(&p, upsert);
    rw_key keys[4];
    uint64_t hashes[4];
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(rw_insert_key(insert, i, RW_NO_PARAMS,
                                       &(pgw_reading){&test_env, &p.arena, &p.error}, &keys[i]),
                         PGW_KNOWN);
        hashes[i] = i + 1;
    }
    assert_int_equal(rw_insert_supersede(insert, keys, &p.arena), 1);
    assert_true(insert->rows[0].superseded);
    pgw_buf out = {0};
    rw_render_statement(insert, RW_HASH_CONSTANT, hashes, &out);
    pgw_buf_add_byte(&out, '\0');
    assert_non_null(strstr(out.ptr, "VALUES (2, now(), 'b', 2), ('1', '2026-01-01 03:00:00+03', "
                                    "'c', 3), (2, now(), 'd', 4) ON CONFLICT"));
    pgw_buf_free(&out);
    insert->verb = RW_VERB_INSERT;
    assert_int_equal(rw_insert_supersede(insert, keys, &p.arena), 0);
    pgw_arena_free(&p.arena);
}

/* A row gives way to a later one of the same key, all columns of it, and to no other. */
static void rows_of_one_key_give_way(void **state)
{
    (void)state;
    static const struct {
        const char *rows;
        const char *superseded; /* x: that one is */
    } cases[] = {
        {"(1, 'A'), (1, 'B'), (2, 'A'), (1, 'A'), (2, 'B')", "x...."},
        {"(1, 'A'), (2, 'A'), (3, 'A'), (4, 'A'), (5, 'A')", "....."},
        {"(1, 'A'), (1, 'A'), (1, 'A')", "xx."},
        {"(1, 'A'), (2, 'B'), (1, 'A'), (2, 'B'), (1, 'A')", "xxx.."},
        {"(256, 'A'), (1, 'A'), (65536, 'A')", "..."},
        {"(1, 'A')", "."},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pgw_buf text = {0};
        parsed p;
        rw_key keys[8];
        size_t marked = 0;
        pgw_buf_add_str(&text, "UPSERT INTO events (userid, ts) VALUES ");
        for (const char *at = cases[i].rows; *at != '\0'; at++)
            if (*at == 'A' || *at == 'B')
                pgw_buf_addf(&text, "2026-01-0%d 00:00:00+00", *at - 'A' + 1);
            else
                pgw_buf_add_byte(&text, *at);
        pgw_buf_add_byte(&text, '\0');
        rw_insert *insert = must_parse(&p, text.ptr);
        for (size_t k = 0; k < insert->row_count; k++)
            assert_int_equal(rw_insert_key(insert, k, RW_NO_PARAMS,
                                           &(pgw_reading){&test_env, &p.arena, &p.error}, &keys[k]),
                             PGW_KNOWN);
        for (size_t k = 0; k < strlen(cases[i].superseded); k++)
            marked += cases[i].superseded[k] == 'x';
        assert_int_equal(rw_insert_supersede(insert, keys, &p.arena), marked);
        for (size_t k = 0; k < insert->row_count; k++)
            assert_int_equal(insert->rows[k].superseded, cases[i].superseded[k] == 'x');
        pgw_arena_free(&p.arena);
        pgw_buf_free(&text);
    }
}

/* --- rows that are alike --- */

static void rows_that_repeat_the_first_have_a_width(void **state)
{
    (void)state;
    static const struct {
        const char *rows;
        size_t width;
    } cases[] = {
        {"($1, $2, $3)", 3},
        {"($1, $2, $3), ($4, $5, $6)", 3},
        {"($2, $1, 'x'),($4,$3 /* c */, 'x')", 2},
        {"($1, now(), $1), ($2, now(), $2), ($3, now(), $3)", 1},
        {"($1, $2, 'x'), ($3, $4, 'y')", 0},
        {"($1, $2, $3), ($4, $6, $5)", 0},
        {"($1, $2, $3), ($1, $5, $6)", 0},
        {"($1, $2, 'x'), ($3, $4, $5)", 0},
        {"($1, $3), ($2, $4)", 0},
        {"($4, $5, $6), ($1, $2, $3)", 0},
        {"($1, $2), ($3, $4) ON CONFLICT DO UPDATE SET event = $5", 0},
        {"($1, $2), ($3, $4) ON CONFLICT (userid, ts) DO UPDATE SET event = $1", 0},
        {"(1, now()), (2, now())", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        parsed p;
        char sql[256];
        snprintf(sql, sizeof sql, "INSERT INTO events VALUES %s", cases[i].rows);
        size_t width = rw_insert_row_width(must_parse(&p, sql), &test_env);
        if (width != cases[i].width)
            fail_msg("%s: %zu", cases[i].rows, width);
        pgw_arena_free(&p.arena);
    }
}

/* --- the oracle --- */

static uint32_t seed = 99;

static uint32_t any(uint32_t below)
{
    seed = seed * 1664525u + 1013904223u;
    return (uint32_t)(((uint64_t)seed * below) >> 32);
}

#define ANY(array) (array)[any(sizeof(array) / sizeof *(array))]

static const char *const constants[] = {
    "1",
    "0",
    "-5",
    "+7",
    "2147483648",
    "-2147483649",
    "99999999999999999999",
    "1.5",
    "-.5",
    "1e3",
    "'5'",
    "'it''s'",
    "E'\\t\\x41'",
    "U&'d\\0061ta'",
    "U&'d!0061' UESCAPE '!'",
    "$$a$$",
    "$q$'$q$",
    "N'n'",
    "TRUE",
    "false",
    "NULL",
    "'5'::int8",
    "5::int2::int8",
    "-5::int8",
    "(-5)::int4",
    "((('x')))",
    "('0'::int8)",
    "CAST('5' AS bigint)",
    "cast(cast(5 as text) as int8)",
    "timestamp '2026-01-01'",
    "timestamp(3) with time zone 'now'",
    "date '2026-01-01'",
    "double precision '1'",
    "numeric(10,2) '1.234'",
    "'a'::varchar(3)",
    "'a'::character varying(3)",
    "'a'::char",
    "char 'abc'",
    "'a'::character(3)",
    "'1'::timestamp with time zone",
    "'1'::timestamp(2) without time zone",
    "'x'::text",
    "'x'::\"text\"",
    "'x'::pg_catalog.text",
    "'x'::\"char\"",
    "1::float(20)",
    "1::float",
    "1::real",
    "1::dec(3)",
    "'1'::time",
    "$1",
    "$2",
    "($3)",
    "$4::int8",
    "CAST($5 AS text)",
    "'x'::national character varying(4)",
    "'1'::nchar(2)",
    "'a'\n'b'",
    "'x'::app.thing",
    "'{1}'::int[]",
    "'x'::int8[3][]",
    "1::int array[2]",
};
static const char *const others[] = {
    "DEFAULT",
    "now()",
    "1 + 1",
    "f(1, 'a)', (2))",
    "ARRAY[1, 2]",
    "ARRAY[[1],[2]]",
    "(SELECT 1)",
    "'a' || 'b'",
    "- -1",
    "-'5'",
    "current_timestamp(3)",
    "interval '1 day'",
    "B'1'",
    "x IS NULL",
    "CASE WHEN a THEN b ELSE c END",
    "(1, 2)",
    "row(1)",
    "a.b",
    "'x' COLLATE \"C\"",
    "int8('5')",
    "now() AT TIME ZONE 'UTC'",
    "'1' < '2'",
    "not true",
    "$1 + 1",
    "-$1",
    "coalesce($1, 'a')",
    "1 BETWEEN 0 AND 2",
    "(ARRAY[1,2])[1]",
    "'a' LIKE 'b'",
    "interval '1' day to second",
    "extract(day from now())",
    "exists (select 1)",
    "1 = ANY ('{1,2}')",
    "5::int8 + 1",
};
static const char *const blanks[] = {" ", " ", " ", "\n", " /* , ( */ ", " -- ) '\n", "\t"};
static const char *const tails[] = {"",
                                    "",
                                    "",
                                    " ON CONFLICT DO NOTHING",
                                    " ON CONFLICT (userid, ts) DO UPDATE SET event = 'a'",
                                    " RETURNING *",
                                    " returning userid, e.*",
                                    " ON CONFLICT ON CONSTRAINT c DO NOTHING RETURNING 1"};

typedef struct writer {
    char text[4096];
    size_t len;
} writer;

static void put(writer *w, const char *text)
{
    w->len += (size_t)snprintf(w->text + w->len, sizeof w->text - w->len, "%s", text);
}

static void write_row(writer *w, size_t cells)
{
    put(w, any(3) ? "(" : "( ");
    for (size_t i = 0; i < cells; i++) {
        put(w, i > 0 ? "," : "");
        put(w, any(2) ? ANY(blanks) : "");
        put(w, any(4) > 0 ? ANY(constants) : ANY(others));
        put(w, any(4) ? "" : ANY(blanks));
    }
    put(w, ")");
}

static void write_insert(writer *w)
{
    static const char *const lists[] = {"(userid,ts,event)", "(userid, ts)", "( \"ts\",USERID )",
                                        "(event, ts, userid)"};
    static const size_t widths[] = {3, 2, 2, 3};
    static const char *const names[] = {"nullable",        "NULLABLE",
                                        "public.nullable", "\"nullable\"",
                                        "nullable AS e",   "public . \"nullable\" as \"e\""};
    w->len = 0;
    put(w, any(2) ? "INSERT INTO" : "insert into");
    put(w, ANY(blanks));
    put(w, ANY(names));
    uint32_t list = any(5);
    size_t width = list < 4 ? widths[list] : 1 + any(3);
    put(w, any(2) ? " " : "");
    put(w, list < 4 ? lists[list] : " ");
    put(w, any(2) ? "VALUES" : ANY(blanks));
    if (strcmp(w->text + w->len - 6, "VALUES") != 0)
        put(w, "values");
    for (uint32_t rows = 1 + any(3), i = 0; i < rows; i++) {
        put(w, i > 0 ? "," : "");
        put(w, any(2) ? ANY(blanks) : "");
        write_row(w, width);
    }
    put(w, ANY(tails));
}

/* The constant that an expression of the grammar is, with its casts from inside out. */
typedef struct theirs {
    const PgQuery__AConst *constant; /* one of these two, or NULL */
    const PgQuery__ParamRef *param;
    const PgQuery__TypeName *casts[8];
    size_t cast_count;
    int minus_after;
    bool other;
} theirs;

static void unwrap(const PgQuery__Node *node, theirs *t)
{
    if (node->node_case == PG_QUERY__NODE__NODE_TYPE_CAST) {
        unwrap(node->type_cast->arg, t);
        if (t->cast_count < 8)
            t->casts[t->cast_count++] = node->type_cast->type_name;
    } else if (node->node_case == PG_QUERY__NODE__NODE_A_CONST) {
        t->constant = node->a_const;
    } else if (node->node_case == PG_QUERY__NODE__NODE_PARAM_REF) {
        t->param = node->param_ref;
    } else if (node->node_case == PG_QUERY__NODE__NODE_A_EXPR && node->a_expr->lexpr == NULL &&
               node->a_expr->n_name == 1) {
        const char *name = node->a_expr->name[0]->string->sval;
        unwrap(node->a_expr->rexpr, t);
        if (strcmp(name, "-") == 0)
            t->minus_after = (int)t->cast_count;
        else if (strcmp(name, "+") != 0)
            t->other = true;
    } else {
        t->other = true;
    }
}

static bool same_type(const rw_cast *cast, const PgQuery__TypeName *type)
{
    const char *name = type->names[type->n_names - 1]->string->sval;
    bool known = type->n_array_bounds == 0 &&
                 (type->n_names == 1 || strcmp(type->names[0]->string->sval, "pg_catalog") == 0) &&
                 !(strcmp(name, "char") == 0);
    uint32_t expected = known ? pgw_type_by_name(pgw_slice_str(name)) : PGW_UNSPECIFIED;
    if (cast->type != expected)
        return false;
    if (expected == PGW_UNSPECIFIED || type->n_typmods == 0)
        return cast->typmod == -1;
    int32_t first = type->typmods[0]->a_const->ival->ival;
    int32_t second = type->n_typmods > 1 ? type->typmods[1]->a_const->ival->ival : 0;
    int32_t packed = expected == PGW_NUMERIC ? (first << 16 | second) + 4
                     : expected == PGW_VARCHAR || expected == PGW_BPCHAR ? first + 4
                                                                         : first;
    return cast->typmod == packed;
}

/* Whether our number, with its sign if it was folded into the constant, is theirs. */
static bool same_number(const rw_cell *cell, const theirs *t)
{
    char ours[64], number[64];
    const PgQuery__AConst *constant = t->constant;
    snprintf(ours, sizeof ours, "%s%.*s", cell->minus_after == 0 ? "-" : "", (int)cell->text.len,
             cell->text.ptr);
    if (constant->val_case == PG_QUERY__A__CONST__VAL_IVAL)
        snprintf(number, sizeof number, "%d", constant->ival->ival);
    else if (constant->val_case == PG_QUERY__A__CONST__VAL_FVAL)
        snprintf(number, sizeof number, "%s", constant->fval->fval);
    else
        return false;
    return strcmp(ours, number) == 0;
}

static bool same_constant(const rw_cell *cell, const theirs *t)
{
    const PgQuery__AConst *constant = t->constant;
    switch (cell->kind) {
    case RW_CELL_NULL:
        return constant != NULL && constant->isnull;
    case RW_CELL_BOOL:
        return constant != NULL && constant->val_case == PG_QUERY__A__CONST__VAL_BOOLVAL &&
               pgw_slice_eq_str(cell->text, constant->boolval->boolval ? "true" : "false");
    case RW_CELL_STRING:
        return constant != NULL && constant->val_case == PG_QUERY__A__CONST__VAL_SVAL &&
               pgw_slice_eq_str(cell->text, constant->sval->sval);
    case RW_CELL_INTEGER:
    case RW_CELL_DECIMAL:
        return constant != NULL && same_number(cell, t);
    case RW_CELL_PARAM:
        return t->param != NULL && (uint32_t)t->param->number == cell->parameter;
    default:
        return false;
    }
}

static size_t understood;

static bool same_cell(const rw_cell *cell, const PgQuery__Node *node)
{
    if (node->node_case == PG_QUERY__NODE__NODE_SET_TO_DEFAULT)
        return cell->kind == RW_CELL_DEFAULT;
    if (cell->kind == RW_CELL_EXPRESSION)
        return true; /* checked by how often that is */
    theirs t = {.minus_after = -1};
    unwrap(node, &t);
    understood++;
    bool folded =
        cell->minus_after == 0 && (cell->kind == RW_CELL_INTEGER || cell->kind == RW_CELL_DECIMAL);
    if (t.other || !same_constant(cell, &t) || cell->cast_count != t.cast_count ||
        (!folded && cell->minus_after != t.minus_after))
        return false;
    for (size_t i = 0; i < t.cast_count; i++)
        if (!same_type(&cell->casts[i], t.casts[i]))
            return false;
    return true;
}

/* In which place of their list the column of our key stands. */
static size_t place_of(const PgQuery__InsertStmt *insert, const char *column, size_t position)
{
    if (insert->n_cols == 0)
        return position;
    size_t i = 0;
    while (i < insert->n_cols && strcmp(insert->cols[i]->res_target->name, column) != 0)
        i++;
    return i;
}

static void compare_rows(const char *sql, const rw_insert *ours, const PgQuery__InsertStmt *insert)
{
    const PgQuery__SelectStmt *values = insert->select_stmt->select_stmt;
    const rw_table *table = ours->table;
    if (ours->row_count != values->n_values_lists)
        fail_msg("%zu rows, not %zu: %s", ours->row_count, values->n_values_lists, sql);
    for (size_t r = 0; r < ours->row_count; r++) {
        const PgQuery__List *list = values->values_lists[r]->list;
        for (size_t k = 0; k < table->primary_key_count; k++) {
            const rw_cell *cell = &ours->rows[r].key[k];
            size_t place = place_of(insert, table->columns[table->primary_key[k]].name, k);
            if (place >= list->n_items ? cell->kind != RW_CELL_ABSENT
                                       : !same_cell(cell, list->items[place]))
                fail_msg("row %zu, key %zu differs: %s", r, k, sql);
        }
    }
}

static void compare(const char *sql, size_t *compared)
{
    PgQueryProtobufParseResult result = pg_query_parse_protobuf(sql);
    parsed p = parse(sql);
    if (result.error != NULL) {
        if (p.accepted && p.insert != NULL)
            fail_msg("PostgreSQL says %s: %s", result.error->message, sql);
    } else if (p.insert != NULL) {
        PgQuery__ParseResult *tree = pg_query__parse_result__unpack(
            NULL, result.parse_tree.len, (const uint8_t *)result.parse_tree.data);
        const PgQuery__InsertStmt *insert = tree->stmts[0]->stmt->insert_stmt;
        assert_string_equal(insert->relation->relname, p.insert->table->name);
        assert_int_equal(insert->on_conflict_clause != NULL, p.insert->has_conflict);
        assert_int_equal(insert->n_returning_list > 0, p.insert->returning > 0);
        compare_rows(sql, p.insert, insert);
        pg_query__parse_result__free_unpacked(tree, NULL);
        ++*compared;
    } else if (p.accepted || !pgw_error_is(&p.error, "0A000")) {
        fail_msg("%s %s: %s", p.error.sqlstate, p.error.message, sql);
    }
    pg_query_free_protobuf_parse_result(result);
    pgw_arena_free(&p.arena);
}

/* What we put in must be SQL as well, and mean what it meant. */
static void compare_rendered(const char *sql)
{
    parsed p = parse(sql);
    if (p.accepted && p.insert != NULL) {
        uint64_t hashes[4] = {1, (uint64_t)-2, (uint64_t)INT64_MIN, 4};
        pgw_buf out = {0};
        rw_render_statement(p.insert, RW_HASH_CONSTANT, hashes, &out);
        pgw_buf_add_byte(&out, '\0');
        size_t compared = 0;
        compare(out.ptr, &compared);
        if (compared != 1)
            fail_msg("rendered: %s", out.ptr);
        pgw_buf_free(&out);
    }
    pgw_arena_free(&p.arena);
}

static void generated_inserts_agree_with_postgresql(void **state)
{
    (void)state;
    size_t compared = 0;
    for (int i = 0; i < 8000; i++) {
        writer w;
        write_insert(&w);
        compare(w.text, &compared);
        if (i % 4 == 0)
            compare_rendered(w.text);
    }
    assert_true(compared > 2000);
    assert_true(understood > compared); /* most cells are not left as expressions */
}

/* --- defaults that the session decides --- */

typedef struct blocker_case {
    const char *sql;
    rw_blocker blocker;
} blocker_case;

/* Of INSERTs into this table. */
static void expect_blockers(const rw_table *table, const blocker_case *cases, size_t count)
{
    const rw_catalog catalog = {.tables = &table, .count = 1};
    for (size_t i = 0; i < count; i++) {
        pgw_arena arena = {0};
        rw_insert *insert = NULL;
        pgw_error error;
        assert_true(
            rw_insert_parse(exact(cases[i].sql), &catalog, &test_env, &arena, &insert, &error));
        if (insert->blocker != cases[i].blocker)
            fail_msg("%s: %s", cases[i].sql, blocker_name(insert->blocker));
        pgw_arena_free(&arena);
    }
}

static void what_a_default_computes_is_the_sessions_own(void **state)
{
    (void)state;
    rw_column columns[4];
    memcpy(columns, test_event_columns, sizeof columns);
    columns[2].has_default = columns[2].computed = true;
    rw_table table = test_tables[0];
    table.columns = columns;
    static const blocker_case cases[] = {
        {"INSERT INTO events (userid, ts) VALUES (1, now())", RW_BLOCKER_EXPRESSION},
        {"INSERT INTO events (userid, ts, event) VALUES (1, now(), 'x')", RW_BATCHABLE},
        {"INSERT INTO events (userid, ts, event) VALUES (1, now(), DEFAULT)",
         RW_BLOCKER_EXPRESSION},
        {"INSERT INTO events (userid, ts, event) VALUES (1, now(), 'x') ON CONFLICT (userid, ts) "
         "DO "
         "UPDATE SET event = DEFAULT",
         RW_BLOCKER_EXPRESSION},
        {"INSERT INTO events (userid, ts, event) VALUES (1, now(), 'x') ON CONFLICT (userid, ts) "
         "DO "
         "UPDATE SET event = 'y'",
         RW_BATCHABLE},
        {"REPLACE INTO events (userid, ts) VALUES (1, '2026-01-01 00:00+00')",
         RW_BLOCKER_EXPRESSION},
    };
    expect_blockers(&table, cases, sizeof cases / sizeof *cases);
}

/* Rows that exist are changed: triggers on UPDATE are heeded, too. */
static void an_update_of_a_row_fires_triggers(void **state)
{
    (void)state;
    rw_table table = test_tables[0];
    table.heeds_updates = true;
    static const blocker_case cases[] = {
        {"INSERT INTO events (userid, ts) VALUES (1, now())", RW_BATCHABLE},
        {"INSERT INTO events (userid, ts) VALUES (1, now()) ON CONFLICT DO NOTHING", RW_BATCHABLE},
        {"INSERT INTO events (userid, ts) VALUES (1, now()) ON CONFLICT (userid, ts) DO UPDATE SET "
         "event = 'y'",
         RW_BLOCKER_TRIGGER},
        {"UPSERT INTO events (userid, ts) VALUES (1, '2026-01-01 00:00+00')", RW_BLOCKER_TRIGGER},
    };
    expect_blockers(&table, cases, sizeof cases / sizeof *cases);
}

/* A Bind counts them in 16 bits. */
static void parameters_go_up_to_the_last(void **state)
{
    (void)state;
    parsed p;
    const rw_insert *insert =
        must_parse(&p, "INSERT INTO events (userid, ts) VALUES ($65535, now())");
    assert_int_equal(insert->param_count, 65535);
    assert_int_equal(insert->inferred[65534], PGW_INT8);
    assert_int_equal(insert->inferred[0], PGW_UNSPECIFIED);
    pgw_arena_free(&p.arena);
}

/* Tiny rows take many times what they are long. */
static void what_takes_too_much_memory_is_refused(void **state)
{
    (void)state;
    enum { ROWS = 2000000 };
    static const char head[] = "INSERT INTO events VALUES (1)";
    pgw_buf text = {0};
    pgw_buf_add_str(&text, head);
    for (size_t i = 0; i < ROWS; i++)
        pgw_buf_add(&text, ",(1)", 4);
    rw_catalog catalog = test_catalog(pointers);
    pgw_arena arena = {0};
    pgw_error error = PGW_ERROR_NONE;
    rw_insert *insert = NULL;
    assert_false(
        rw_insert_parse(pgw_slice_buf(&text), &catalog, &test_env, &arena, &insert, &error));
    assert_string_equal(error.sqlstate, "54000");
    assert_in_range(arena.bytes, RW_PARSED_MOST / 2, 2 * (size_t)RW_PARSED_MOST);
    pgw_arena_free(&arena);
    pgw_buf_free(&text);
}

static void the_target_is_known_whatever_follows(void **state)
{
    (void)state;
    static const struct {
        const char *text, *table; /* NULL: none of ours */
    } cases[] = {
        {"insert into events (userid, no_such_column) values (1)", "events"},
        {"insert into events values (1, 2, 3, 4, 5, 6, 7)", "events"},
        {"upsert into public.events as e", "events"},
        {"with x as (select 1) insert into events (a) select 1", "events"},
        {"with x as (delete from events) insert into events (a) select 1", NULL},
        {"insert into other (a) values (1)", NULL},
        {"insert into other.events (a) values (1)", NULL},
        {"insert events (a) values (1)", NULL},
        {"update events set event = 'x'", NULL},
        {"with x as (select 1", NULL},
        {"", NULL},
    };
    rw_catalog catalog = test_catalog(pointers);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pgw_slice text = exact(cases[i].text);
        const rw_table *found = rw_insert_target(text, &catalog, &test_env);
        const char *name = found != NULL ? found->name : "none";
        assert_string_equal(name, cases[i].table != NULL ? cases[i].table : "none");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_target_is_known_whatever_follows),
        cmocka_unit_test(vectors_hold),
        cmocka_unit_test(refusals_name_table_column_and_a_way_out),
        cmocka_unit_test(a_generated_key_is_refused_with_another_way_out),
        cmocka_unit_test(names_of_others_are_ignored),
        cmocka_unit_test(code_of_types_is_not_merged),
        cmocka_unit_test(functions_behind_dots_are_not_merged),
        cmocka_unit_test(keys_may_be_of_many_columns),
        cmocka_unit_test(one_value_has_one_hash_in_every_spelling),
        cmocka_unit_test(what_heeds_settings_is_known),
        cmocka_unit_test(the_sign_is_applied_where_it_stands),
        cmocka_unit_test(parameters_give_the_key),
        cmocka_unit_test(null_is_left_to_the_backend_where_it_rejects_it),
        cmocka_unit_test(values_that_cannot_be_told_are_refused),
        cmocka_unit_test(modifiers_are_read_up_to_their_limits),
        cmocka_unit_test(values_are_looked_into_so_deep),
        cmocka_unit_test(hints_say_what_to_write),
        cmocka_unit_test(the_clients_own_hash_is_checked),
        cmocka_unit_test(two_columns_are_hashed_in_their_order),
        cmocka_unit_test(the_last_of_equal_keys_wins),
        cmocka_unit_test(rows_of_one_key_give_way),
        cmocka_unit_test(rows_that_repeat_the_first_have_a_width),
        cmocka_unit_test(generated_inserts_agree_with_postgresql),
        cmocka_unit_test(what_a_default_computes_is_the_sessions_own),
        cmocka_unit_test(an_update_of_a_row_fires_triggers),
        cmocka_unit_test(parameters_go_up_to_the_last),
        cmocka_unit_test(what_takes_too_much_memory_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
