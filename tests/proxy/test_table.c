/* Names in tables: what is found, and that no step grows with what is there. */
#include "proxy/client/core/statements.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MANY = 100000 };

typedef struct thing {
    px_entry entry;
    char name[16];
} thing;

static size_t longest_chain(const px_table *table)
{
    size_t longest = 0;
    for (size_t i = 0; i < table->bucket_count; i++) {
        size_t len = 0;
        for (const px_entry *e = table->buckets[i]; e != NULL; e = e->next)
            len++;
        longest = len > longest ? len : longest;
    }
    return longest;
}

/* Buckets grow with the entries, one at a time, and chains do not. */
static void test_chains_stay_short(void **state)
{
    (void)state;
    px_table table = {0};
    thing *things = calloc(MANY, sizeof *things);
    for (size_t i = 0; i < MANY; i++) {
        snprintf(things[i].name, sizeof things[i].name, "s%zu", i);
        size_t before = table.bucket_count;
        px_table_add(&table, &things[i].entry, pgw_slice_str(things[i].name));
        assert_true(i == 0 || table.bucket_count - before <= 1);
    }
    assert_int_equal(table.count, MANY);
    assert_true(table.bucket_count >= MANY);
    assert_in_range(longest_chain(&table), 1, 16);
    for (size_t i = 0; i < MANY; i++)
        assert_ptr_equal(px_table_find(&table, pgw_slice_str(things[i].name)), &things[i]);
    for (size_t i = 0; i < MANY; i += 2)
        assert_ptr_equal(px_table_remove(&table, pgw_slice_str(things[i].name)), &things[i]);
    for (size_t i = 0; i < MANY; i++)
        assert_ptr_equal(px_table_find(&table, pgw_slice_str(things[i].name)),
                         i % 2 == 0 ? NULL : &things[i]);
    px_table_free(&table);
    free(things);
}

static void test_an_empty_table(void **state)
{
    (void)state;
    px_table table = {0};
    thing one = {0};
    assert_null(px_table_find(&table, PGW_LITERAL("")));
    assert_null(px_table_remove(&table, PGW_LITERAL("a")));
    px_table_clear(&table);
    px_table_add(&table, &one.entry, PGW_LITERAL(""));
    assert_ptr_equal(px_table_find(&table, PGW_LITERAL("")), &one);
    assert_null(px_table_find(&table, PGW_LITERAL("a")));
    px_table_clear(&table);
    assert_null(px_table_find(&table, PGW_LITERAL("")));
    px_table_free(&table);
}

/* ---- statements ---- */

static px_statement *passthrough(px_statements *statements, const char *name, const char *parse)
{
    px_statement *s = px_statements_put(statements, pgw_slice_str(name), NULL, true);
    px_statements_keep(statements, s, pgw_slice_str(parse));
    return s;
}

static void test_those_away_come_first(void **state)
{
    (void)state;
    px_statements map = {0};
    passthrough(&map, "a", "parse a");
    passthrough(&map, "b", "parse b");
    assert_null(px_statements_away(&map));
    px_statements_lose_link(&map);
    px_statement *a = px_statements_find(&map, PGW_LITERAL("a"));
    assert_false(px_statements_on_link(&map, a));
    px_statements_move(&map, a, true);
    assert_string_equal(px_statements_away(&map)->name, "b");
    passthrough(&map, "c", "parse c");
    assert_string_equal(px_statements_away(&map)->name, "b");
    px_statements_remove(&map, PGW_LITERAL("b"));
    assert_null(px_statements_away(&map));
    px_statements_move(&map, a, false);
    assert_ptr_equal(px_statements_away(&map), a);
    px_statements_free(&map);
}

static void test_drafts_are_away_until_they_are_moved(void **state)
{
    (void)state;
    px_statements map = {0};
    passthrough(&map, "a", "parse a");
    px_statement *b = passthrough(&map, "b", "parse b");
    assert_false(px_statements_is_raw_parse(&map, b));
    px_statements_raw_parse(&map, b);
    passthrough(&map, "c", "parse c");
    assert_true(px_statements_is_raw_parse(&map, b));
    assert_true(px_statements_on_link(&map, b));
    assert_ptr_equal(px_statements_away(&map), b);
    px_statements_restore(&map, PGW_LITERAL("b"), px_statements_take(&map, PGW_LITERAL("b")));
    assert_ptr_equal(px_statements_away(&map), b);
    px_statements_move(&map, b, true);
    assert_false(px_statements_is_raw_parse(&map, b));
    assert_null(px_statements_away(&map));
    px_statements_raw_parse(&map, b);
    px_statements_lose_link(&map);
    assert_false(px_statements_is_raw_parse(&map, b));
    px_statements_free(&map);
}

static void test_what_is_kept_is_bounded(void **state)
{
    (void)state;
    px_statements map = {0};
    char *large = malloc(PX_KEPT_PARSES + 1);
    memset(large, 'x', PX_KEPT_PARSES);
    large[PX_KEPT_PARSES] = '\0';
    assert_int_equal(map.unkept, 0);
    passthrough(&map, "a", large);
    assert_int_equal(map.unkept, 0);
    passthrough(&map, "b", "x");
    assert_int_equal(map.unkept, 1);
    px_statement *taken = px_statements_take(&map, PGW_LITERAL("a"));
    assert_int_equal(map.kept_bytes, 0);
    passthrough(&map, "b", "x");
    assert_int_equal(map.unkept, 0);
    px_statements_restore(&map, PGW_LITERAL("a"), taken);
    assert_int_equal(map.kept_bytes, PX_KEPT_PARSES + 1);
    px_statements_restore(&map, PGW_LITERAL("b"), NULL);
    assert_null(px_statements_find(&map, PGW_LITERAL("b")));
    assert_int_equal(map.kept_bytes, PX_KEPT_PARSES);
    px_statements_free(&map);
    free(large);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_chains_stay_short),
                                       cmocka_unit_test(test_an_empty_table),
                                       cmocka_unit_test(test_those_away_come_first),
                                       cmocka_unit_test(test_drafts_are_away_until_they_are_moved),
                                       cmocka_unit_test(test_what_is_kept_is_bounded)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
