/* Tables that are made or altered: where a refusal points, and where a position leads back to. */
#include "rewrite/read/conditions.h"
#include "rewrite/read/script.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/rewrite/exact.h"
#include "tests/rewrite/tables.h"

static pgw_arena arena;

static int teardown(void **state)
{
    (void)state;
    pgw_arena_free(&arena);
    return 0;
}

/* The tables are there, ordinary ones. */
static const rw_statement *parse(const char *text)
{
    static rw_table made[TEST_TABLE_COUNT];
    static const rw_table *pointers[TEST_TABLE_COUNT];
    for (size_t i = 0; i < TEST_TABLE_COUNT; i++) {
        made[i] = test_tables[i];
        made[i].partitions.kind = RW_PARTITION_BUCKETS;
        pointers[i] = &made[i];
    }
    const rw_catalog planned = {.tables = pointers, .count = TEST_TABLE_COUNT};
    rw_catalog catalog = planned;
    rw_script script;
    if (strncmp(text, "CREATE TABLE", 12) == 0)
        catalog.count = 0; /* it is not there yet: else PostgreSQL would say so */
    catalog.planned = &planned;
    rw_script_parse(exact(text), &catalog, &test_env, NULL, &arena, &script);
    assert_int_equal(script.count, 1);
    return script.statements;
}

static void refusals_point_at_what_is_wrong(void **state)
{
    (void)state;
    static const struct {
        const char *text, *sqlstate;
        size_t position;
    } cases[] = {
        {"CREATE TABLE events (userid int)", "42P16", 14},
        {"CREATE TABLE /* \xc3\xa4 */ events (userid int)", "42P16", 22},
        {"CREATE TABLE events (userid int PRIMARY KEY, ts int)", "42P16", 33},
        {"CREATE TABLE events (userid int, ts int, PRIMARY KEY (userid))", "42P16", 42},
        {"CREATE TABLE events (LIKE other INCLUDING INDEXES)", "0A000", 27},
        {"CREATE TABLE events AS SELECT 1", "0A000", 14},
        {"SELECT 1 AS userid INTO events", "0A000", 25},
        {"(WITH x AS (SELECT 1) SELECT 1 INTO events FROM x) UNION SELECT 2", "0A000", 37},
        {"CREATE TABLE events OF a_type", "0A000", 14},
        {"ALTER TABLE events DROP userhash", "0A000", 13},
        {"ALTER TABLE events ADD PRIMARY KEY (userid)", "42P16", 24},
        {"ALTER TABLE events ADD PRIMARY KEY USING INDEX i", "0A000", 13},
        {"ALTER TABLE events RENAME userhash TO h", "0A000", 13},
        {"ALTER TABLE other INHERIT events", "0A000", 13},
        {"ALTER TABLE other ATTACH PARTITION events FOR VALUES IN (1)", "0A000", 36},
        {"ALTER TABLE other ADD FOREIGN KEY (a, b) REFERENCES serials", "0A000", 53},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const rw_statement *statement = parse(cases[i].text);
        if (statement->error == NULL)
            fail_msg("%s", cases[i].text);
        assert_string_equal(statement->error->sqlstate, cases[i].sqlstate);
        if (statement->error->position != cases[i].position)
            fail_msg("%s: %zu", cases[i].text, statement->error->position);
        assert_true(statement->error->hint[0] != '\0');
    }
}

/* What is the client's is told where it wrote it. */
static void positions_lead_back(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "CREATE TABLE events (userid int, ts nosuch, PRIMARY KEY (userid, ts)) TABLESPACE x",
        "CREATE TABLE loose (userid int, ts int CHECK (ts > 0), PRIMARY KEY (ts, userid), x int)",
        "ALTER TABLE events ADD PRIMARY KEY (userid, ts), ADD x int"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        static const pgw_reading reading = {&test_env, &arena, NULL};
        pgw_slice text = exact(texts[i]);
        const rw_statement *statement = parse(texts[i]);
        rw_conditions conditions;
        pgw_buf out = {0};
        size_t told = 0;
        rw_conditions_of(statement, NULL, &reading, &conditions);
        rw_conditions_render(&conditions, text, &out);
        assert_true(out.len > text.len);
        for (size_t at = 0; at < out.len; at++) {
            size_t back = rw_conditions_position(&conditions, text, at + 1, false);
            if (rw_conditions_put_in(&conditions, text, at + 1, false))
                continue;
            assert_in_range(back, 1, text.len);
            assert_int_equal(out.ptr[at], text.ptr[back - 1]);
            told++;
        }
        assert_int_equal(told, text.len);
        pgw_buf_free(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(refusals_point_at_what_is_wrong, teardown),
        cmocka_unit_test_teardown(positions_lead_back, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
