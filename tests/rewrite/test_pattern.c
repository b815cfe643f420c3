/* Tables that are made by a name which only a pattern covers: by vectors; and bounds. */
#include "rewrite/statement/script/conditions.h"
#include "rewrite/statement/script/script.h"
#include "rewrite/statement/define/define_pattern.h"
#include "rewrite/statement/special/unspread.h"
#include "tests/protocol/value_vectors.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "tests/rewrite/pattern_tables.h"

static pgw_arena arena;
static unsigned wrong;

static void add_made(const rw_table *made, pgw_buf *out)
{
    pgw_buf_addf(out, "%s.%s(", made->schema, made->name);
    for (size_t i = 0; i < made->column_count; i++)
        pgw_buf_addf(out, "%s%s", i > 0 ? "," : "", made->columns[i].name);
    pgw_buf_addf(out, ") key");
    for (size_t i = 0; i < made->primary_key_count; i++)
        pgw_buf_addf(out, " %zu", made->primary_key[i]);
    pgw_buf_add_str(out, " hashed");
    for (size_t i = 0; i < made->hash_key_count; i++)
        pgw_buf_addf(out, " %zu", made->hash_key[i]);
    pgw_buf_addf(out, " in %zu: ", made->hash_column);
    assert_true(made->by_pattern && !made->pattern);
}

static void describe(const rw_statement *statement, pgw_slice text, pgw_buf *out)
{
    static const pgw_reading reading = {&test_env, &arena, NULL};
    rw_conditions conditions;
    if (statement->error != NULL) {
        pgw_buf_addf(out, "!%s@%zu %s", statement->error->sqlstate, statement->error->position,
                     statement->error->message);
        return;
    }
    if (statement->made != NULL)
        add_made(statement->made, out);
    rw_conditions_of(statement, NULL, &reading, &conditions);
    rw_conditions_render(&conditions, text, out);
    if (statement->before.len > 0)
        pgw_buf_addf(out, " before: %.*s", (int)statement->before.len, statement->before.ptr);
    if (statement->behind.len > 0)
        pgw_buf_addf(out, " behind: %.*s",
                     (int)(statement->behind.len < 130 ? statement->behind.len : 130),
                     statement->behind.ptr);
}

static const rw_catalog *script_catalog; /* what was parsed with last */

static rw_script parse(pgw_slice text, size_t count, const rw_table *const *tables)
{
    static const rw_table *planned_tables[PATTERNS];
    static rw_catalog planned, catalog;
    for (size_t i = 0; i < PATTERNS; i++)
        planned_tables[i] = &patterns[i];
    planned = (rw_catalog){.tables = planned_tables, .count = PATTERNS};
    catalog = (rw_catalog){.tables = tables, .count = count, .planned = &planned};
    rw_script script;
    script_catalog = &catalog;
    rw_script_parse(text, &catalog, &test_env, NULL, &arena, &script);
    return script;
}

static void check(const vector_line *line)
{
    static const rw_table *const tables[] = {&there};
    pgw_buf got = {0};
    rw_script script = parse(line->fields[0], 1, tables);
    for (size_t i = 0; i < script.count; i++) {
        pgw_buf_add_str(&got, i > 0 ? "; " : "");
        const rw_statement *it = &script.statements[i];
        describe(it, (pgw_slice){line->fields[0].ptr + it->start, it->end - it->start}, &got);
    }
    wrong += !vector_same(line, line->fields[1], &got);
    pgw_buf_free(&got);
    pgw_arena_free(&arena);
}

static void patterns_make_tables(void **state)
{
    (void)state;
    assert_true(vector_each(VECTORS "/patterns.txt", check) > 40);
    assert_int_equal(wrong, 0);
}

/* With a key that comes late, the hash column comes. */
static void a_late_key_brings_the_column(void **state)
{
    (void)state;
    static const struct {
        const char *text, *column, *key;
    } cases[] = {
        {"ALTER TABLE events_1 ADD PRIMARY KEY (k)", "''\"h\" bigint NOT NULL''",
         ", k, pg_catalog.format(''%s, %I%s'', "},
        {"ALTER TABLE events_long_1 ADD PRIMARY KEY (k)", "''\"hash of long\" bigint NOT NULL''",
         ", k, pg_catalog.format(''%s, %I%s'', "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rw_script script = parse(pgw_slice_str(cases[i].text), 0, NULL);
        const char *sent = pgw_arena_copy(&arena, script.statements[0].behind).ptr;
        const char *change = strstr(sent, "'alter table %s drop constraint %I, add column %s, add"
                                          " constraint %I %s'', t, k, ");
        assert_non_null(change);
        change = strstr(change, "t, k, ") + strlen("t, k, ");
        assert_string_equal(pgw_arena_printf(&arena, "%.*s", (int)strlen(cases[i].column), change),
                            cases[i].column);
        change += strlen(cases[i].column);
        assert_true(strncmp(change, cases[i].key, strlen(cases[i].key)) == 0);
        pgw_arena_free(&arena);
    }
}

/* So many tables there may be, in one database, that only patterns name. */
static void patterns_make_so_many(void **state)
{
    (void)state;
    static const char text[] = "CREATE TABLE events_1 (k int PRIMARY KEY)";
    static const rw_table *tables[RW_PATTERN_TABLES];
    for (size_t i = 0; i < RW_PATTERN_TABLES; i++)
        tables[i] = &there;
    rw_script script = parse(PGW_LITERAL(text), RW_PATTERN_TABLES - 1, tables);
    assert_non_null(script.statements[0].made);
    script = parse(PGW_LITERAL(text), RW_PATTERN_TABLES, tables);
    assert_null(script.statements[0].made);
    assert_null(script.statements[0].error);
    pgw_arena_free(&arena);
}

/* A key of 32 columns may be, one of 33 may not. */
static void keys_are_bounded(void **state)
{
    (void)state;
    for (int count = 31; count <= 32; count++) {
        pgw_buf text = {0};
        pgw_buf_add_str(&text, "CREATE TABLE events_1 (");
        for (int i = 0; i < count; i++)
            pgw_buf_addf(&text, "c%d int, ", i);
        pgw_buf_add_str(&text, "PRIMARY KEY (");
        for (int i = 0; i < count; i++)
            pgw_buf_addf(&text, "%sc%d", i > 0 ? ", " : "", i);
        pgw_buf_add_str(&text, "))");
        rw_script script = parse(pgw_slice_buf(&text), 0, NULL);
        assert_int_equal(script.statements[0].made != NULL, count == 31);
        if (count == 31)
            assert_string_equal(script.statements[0].made->columns[30].name, "c30");
        pgw_buf_free(&text);
        pgw_arena_free(&arena);
    }
}

/* What has such a name and stays an ordinary table, and why; and other statements about one. */
static const struct {
    const char *text, *why;
} unspread[] = {
    {"CREATE TABLE events_1 (k int GENERATED ALWAYS AS (j * 2) STORED PRIMARY KEY, j int)",
     "a column that the hash would be made of is generated"},
    {"CREATE TABLE events_1 (k int, j int GENERATED ALWAYS AS (k * 2) STORED, PRIMARY KEY (k, j))",
     NULL},
    {"CREATE TABLE events_1 (k int GENERATED ALWAYS AS IDENTITY PRIMARY KEY)", NULL},
    {"CREATE TABLE events_1 (a int, b int, c int, d int, e int, f int, g int, h1 int, i int, j int,"
     " k int, l int, m int, n int, o int, p int, q int, r int, s int, t int, u int, v int, w int,"
     " x int, y int, z int, a1 int, b1 int, c1 int, d1 int, e1 int, f1 int, primary key (a, b, c,"
     " d, e, f, g, h1, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, a1, b1, c1, d1, e1,"
     " f1))",
     "its primary key has too many columns"},
    {"CREATE TABLE events_1 (k int)", "its CREATE TABLE has no primary key"},
    {"CREATE TABLE keyed_1 (k int PRIMARY KEY)", "its primary key is not that of the pattern"},
    {"CREATE TABLE keyed_1 (a json, b text, PRIMARY KEY (a, b))",
     "a column of its primary key is of"},
    {"CREATE TABLE events_1 (k text COLLATE \"de_DE\" PRIMARY KEY)",
     "a column of its primary key is of"},
    {"CREATE TABLE events_1 (LIKE o, PRIMARY KEY (k))", "or is not written there"},
    {"CREATE TABLE events_1 OF t (PRIMARY KEY (k))", "made of a type"},
    {"CREATE TABLE events_1 (k int PRIMARY KEY) PARTITION BY RANGE (k)",
     "a PARTITION BY of its own"},
    {"CREATE TABLE events_1 (k int PRIMARY KEY, j int PRIMARY KEY)", "several primary keys"},
    {"CREATE TABLE events_é (k int PRIMARY KEY)", "letters beyond ASCII"},
    {"CREATE TABLE events_1 (é int PRIMARY KEY)", "letters beyond ASCII"},
    {"CREATE TABLE number_1 (k text PRIMARY KEY)", "a column of its primary key is of"},
    {"CREATE TABLE partly_1 (a bigint PRIMARY KEY)", "has not all columns of hash_key"},
    {"CREATE TABLE partly_1 (a bigint, b text, c int, PRIMARY KEY (c, a))",
     "has not all columns of hash_key"},
    {"CREATE TABLE partly_1 (a bigint, b text, PRIMARY KEY (a, b))", NULL},
    {"CREATE TABLE events_1 (k int PRIMARY KEY)", NULL},
    {"CREATE TABLE other.events_1 (k int)", NULL},
    {"CREATE TEMP TABLE events_1 (k int)", NULL},
    {"SELECT * FROM events_1",
     "events_1 has the name of a pattern, public.events_*, but no such table "
     "with the column h is known"},
    {"INSERT INTO app.events_1 VALUES (1)", "events_1 has the name of a pattern, app.events_*"},
    {"DELETE FROM events_there USING events_long_5", "public.events_long_*"},
    {"WITH events_1 AS (SELECT 1) SELECT * FROM events_1", NULL},
    {"WITH events_1 AS (SELECT 1) SELECT * FROM public.events_1", "public.events_*"},
    {"SELECT events_1 FROM t AS events_2", NULL},
    {"SELECT * FROM events_there", NULL},
    {"SELECT * FROM other.events_1", NULL},
    {"SELECT * FROM events_1 WHERE", NULL},
};

static void what_is_not_spread_is_told(void **state)
{
    (void)state;
    static const rw_table *const tables[] = {&there};
    for (size_t i = 0; i < sizeof unspread / sizeof *unspread; i++) {
        pgw_slice text = pgw_slice_str(unspread[i].text);
        rw_script script = parse(text, 1, tables);
        const char *why = script.statements[0].unspread;
        pgw_buf line = {0};
        if (why == NULL)
            rw_unspread_say(text, script_catalog, &test_env, &arena, &line);
        else
            pgw_buf_add_str(&line, why);
        pgw_buf_add_byte(&line, '\0');
        bool created = strncmp(unspread[i].text, "CREATE", 6) == 0;
        bool unhashed = why != NULL && (strstr(why, "hashed") != NULL ||
                                        strstr(why, "generated") != NULL ||
                                        strstr(why, "too many columns") != NULL);
        unsigned warning = script.statements[0].warning;
        assert_int_equal(warning != 0, unhashed);
        if (unhashed)
            assert_ptr_equal(rw_define_warning(warning), why);
        if (unspread[i].why != NULL)
            assert_non_null(strstr(line.ptr, unspread[i].why));
        else if (created)
            assert_null(why);
        else
            assert_string_equal(line.ptr, "");
        pgw_buf_free(&line);
        pgw_arena_free(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_make_tables),
        cmocka_unit_test(a_late_key_brings_the_column),
        cmocka_unit_test(patterns_make_so_many),
        cmocka_unit_test(keys_are_bounded),
        cmocka_unit_test(what_is_not_spread_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
