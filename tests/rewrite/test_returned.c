/* Whether a statement that is made anew returns what its client was told that it would. */
#include "rewrite/insert/returned.h"
#include "rewrite/insert/parse.h"
#include "tests/rewrite/exact.h"
#include "tests/rewrite/tables.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static rw_insert *parse(const char *sql, const rw_table *table, pgw_arena *arena)
{
    const rw_catalog catalog = {.tables = &table, .count = 1};
    pgw_error error;
    rw_insert *insert;
    assert_true(rw_insert_parse(exact(sql), &catalog, &test_env, arena, &insert, &error));
    return insert;
}

/* The table of events, of which `change` is said: a letter a column that has another type. */
static bool returns_same(const char *returning, const char *change)
{
    char sql[200];
    rw_column columns[sizeof test_event_columns / sizeof *test_event_columns];
    rw_table now = test_tables[0];
    pgw_arena arena = {0};
    memcpy(columns, test_event_columns, sizeof columns);
    now.columns = columns;
    for (; *change != '\0'; change++)
        switch (*change) {
        case 'n':
            columns[2].name = (char *)"renamed";
            break;
        case 't':
            columns[2].type = PGW_VARCHAR;
            break;
        case 'm':
            columns[2].typmod = 9;
            break;
        default:
            columns[1].type = PGW_TIMESTAMP;
        }
    snprintf(sql, sizeof sql, "INSERT INTO events (userid) VALUES (1) %s", returning);
    bool same =
        rw_insert_returns_same(parse(sql, &test_tables[0], &arena), parse(sql, &now, &arena));
    pgw_arena_free(&arena);
    return same;
}

static void what_is_returned_is_the_same(void **state)
{
    (void)state;
    static const struct {
        const char *returning, *change;
        bool same;
    } cases[] = {
        {"", "", true},
        {"", "tmn", true},
        {"RETURNING userid", "", true},
        {"RETURNING userid", "tn", true},
        {"RETURNING event", "t", false},
        {"RETURNING lower(event)", "m", false},
        {"RETURNING event", "s", true},
        {"RETURNING ts", "s", false},
        {"RETURNING *", "", true},
        {"RETURNING *", "n", false},
        {"RETURNING *", "t", false},
        {"RETURNING userid, events.*", "s", false},
        {"RETURNING events", "n", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (returns_same(cases[i].returning, cases[i].change) != cases[i].same)
            fail_msg("%s, %s", cases[i].returning, cases[i].change);
}

/* The texts are of one table, and are not. */
static void other_texts_are_not_the_same(void **state)
{
    (void)state;
    pgw_arena arena = {0};
    const rw_insert *one =
        parse("INSERT INTO events (userid) VALUES (1) RETURNING ts", &test_tables[0], &arena);
    const rw_insert *other =
        parse("INSERT INTO events (userid) VALUES (1) RETURNING event", &test_tables[0], &arena);
    assert_false(rw_insert_returns_same(one, other));
    pgw_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_returned_is_the_same),
        cmocka_unit_test(other_texts_are_not_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
