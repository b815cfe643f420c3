/* Which tables and columns a text means. */
#include "rewrite/hash/table.h"
#include "tests/rewrite/exact.h"
#include "tests/rewrite/tables.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const rw_table *pointers[TEST_TABLE_COUNT];

static const char *found(const rw_catalog *catalog, const char *schema, const char *name)
{
    const rw_table *table = rw_catalog_find(catalog, pgw_slice_str(schema), pgw_slice_str(name));
    return table != NULL ? table->name : "";
}

static void tables_match_by_name_and_schema(void **state)
{
    (void)state;
    rw_catalog catalog = test_catalog(pointers);
    assert_string_equal(found(&catalog, NULL, "events"), "events");
    assert_string_equal(found(&catalog, "public", "events"), "events");
    assert_string_equal(found(&catalog, "other", "events"), "");
    assert_string_equal(found(&catalog, NULL, "Events"), "");
    assert_string_equal(found(&catalog, NULL, "event"), "");
    assert_string_equal(found(&catalog, NULL, ""), "");
    assert_string_equal(found(&catalog, "Odd", "Mixed \"Case\""), "Mixed \"Case\"");
    assert_string_equal(found(&catalog, "public", "Mixed \"Case\""), "");
    assert_string_equal(found(&catalog, NULL, "Mixed \"Case\""), "");
    catalog.unqualified = test_others;
    assert_string_equal(found(&catalog, NULL, "events"), "");
    assert_string_equal(found(&catalog, "public", "events"), "events");
}

/* Of two tables of a name that the session's name alone may mean, the one that it certainly does.
 */
static void what_is_certain_comes_first(void **state)
{
    (void)state;
    rw_table one = test_tables[0], other = test_tables[0];
    one.schema = "one";
    other.schema = "other";
    const rw_table *both[] = {&one, &other};
    rw_meaning means[2] = {RW_MEANS_UNKNOWN, RW_MEANS_OURS};
    rw_catalog catalog = {.tables = both, .count = 2, .unqualified = means};
    pgw_slice name = pgw_slice_str(one.name), nothing = {NULL, 0};
    assert_ptr_equal(rw_catalog_find(&catalog, nothing, name), &other);
    assert_ptr_equal(rw_catalog_find(&catalog, PGW_LITERAL("one"), name), &one);
    means[1] = RW_MEANS_UNKNOWN;
    assert_ptr_equal(rw_catalog_find(&catalog, nothing, name), &one);
    means[0] = RW_MEANS_OTHERS;
    assert_ptr_equal(rw_catalog_find(&catalog, nothing, name), &other);
}

/* PostgreSQL cuts names to 63 bytes, and never in the middle of a character. */
static void long_names_are_cut(void **state)
{
    (void)state;
    char name[64], written[80], split[80];
    memset(name, 'a', 63);
    name[63] = '\0';
    rw_table table = test_tables[0];
    table.name = name;
    const rw_table *one = &table;
    rw_catalog catalog = {.tables = &one, .count = 1};
    snprintf(written, sizeof written, "%sbcd", name);
    assert_string_equal(found(&catalog, NULL, written), name);
    snprintf(split, sizeof split, "%.62s\xc3\xa9", name);
    assert_string_equal(found(&catalog, NULL, split), "");
    name[62] = '\0';
    assert_string_equal(found(&catalog, NULL, split), name);
    table.schema = name;
    assert_string_equal(found(&catalog, split, name), name);
    assert_string_equal(found(&catalog, written, name), "");
}

static void columns_are_found_as_stored(void **state)
{
    (void)state;
    const rw_table *table = &test_tables[0];
    assert_int_equal(rw_table_column(table, PGW_LITERAL("userid")), 0);
    assert_int_equal(rw_table_column(table, PGW_LITERAL("userhash")), 3);
    assert_int_equal(rw_table_column(table, PGW_LITERAL("UserId")), table->column_count);
    assert_int_equal(rw_table_column(table, PGW_LITERAL("")), table->column_count);
}

static void mentions_are_never_missed(void **state)
{
    (void)state;
    rw_catalog catalog = test_catalog(pointers);
    static const char *const yes[] = {
        "SELECT * FROM events",
        "EVENTS",
        "select \"Events\"",
        "xxeventsxx",
        "-- events",
        "U&\"\\0065vents\"",
        "u&\"x\"",
        "SELECT 1 FROM \"Odd\".\"Mixed \"\"Case\"\"\"",
        "eventevents",
    };
    static const char *const no[] = {"",      "e",       "SELECT 1", "event", "select U & \"x\"",
                                     "vents", "ev ents", "a&\"b\"x", "&\""};
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        if (!rw_catalog_mentioned(&catalog, exact(yes[i])))
            fail_msg("missed in: %s", yes[i]);
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        if (rw_catalog_mentioned(&catalog, exact(no[i])))
            fail_msg("seen in: %s", no[i]);
    rw_table bracket = test_tables[0];
    bracket.name = (char *)"a[@Z";
    const rw_table *one = &bracket;
    rw_catalog brackets = {.tables = &one, .count = 1};
    assert_true(rw_catalog_mentioned(&brackets, exact("A[@z")));
    assert_false(rw_catalog_mentioned(&brackets, exact("a{@z")));
    assert_false(rw_catalog_mentioned(&brackets, exact("a[`z")));
    rw_catalog empty = {.count = 0};
    assert_false(rw_catalog_mentioned(&empty, PGW_LITERAL("U&\"x\" events")));
}

static void a_table_is_freed_whole(void **state)
{
    (void)state;
    rw_table *table = pgw_calloc(1, sizeof *table);
    table->schema = pgw_strndup("public", 6);
    table->name = pgw_strndup("t", 1);
    table->columns = pgw_calloc(1, sizeof *table->columns);
    table->column_count = 1;
    table->columns[0].name = pgw_strndup("a", 1);
    table->columns[0].type_name = pgw_strndup("bigint", 6);
    table->primary_key = pgw_calloc(1, sizeof *table->primary_key);
    table->hash_key = pgw_calloc(1, sizeof *table->hash_key);
    table->partitions.at = pgw_calloc(1, sizeof *table->partitions.at);
    table->unusable = pgw_strndup("why", 3);
    rw_table_free(table);
    rw_table_free(NULL);
}

static void hashes_are_alike_by_rule_and_names(void **state)
{
    (void)state;
    rw_column columns[4];
    rw_table one = test_tables[0], other = test_tables[0];
    memcpy(columns, test_event_columns, sizeof columns);
    other.columns = columns;
    assert_true(rw_table_hashes_alike(&one, &other));
    columns[3].name = (char *)"another";
    assert_false(rw_table_hashes_alike(&one, &other));
    assert_true(rw_table_shares_rule(&one, &other));
    columns[3].name = test_event_columns[3].name;
    columns[0].name = (char *)"another";
    assert_false(rw_table_hashes_alike(&one, &other));
    columns[0].name = test_event_columns[0].name;
    other.hash_function = RW_PG_HASH;
    assert_false(rw_table_hashes_alike(&one, &other));
}

static void only_a_last_hash_column_shifts_nothing(void **state)
{
    (void)state;
    assert_false(rw_table_shifts(&test_tables[0]));
    assert_true(rw_table_shifts(&test_tables[1])); /* the first */
}

static void columns_behind_the_hash_leave_a_gap(void **state)
{
    (void)state;
    rw_table table = test_tables[0];
    table.last = table.columns[table.hash_column].attnum;
    assert_false(rw_table_has_gap(&table));
    table.last++;
    assert_true(rw_table_has_gap(&table));
    table.last = 0; /* not known */
    assert_false(rw_table_has_gap(&table));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_match_by_name_and_schema),
        cmocka_unit_test(what_is_certain_comes_first),
        cmocka_unit_test(long_names_are_cut),
        cmocka_unit_test(columns_are_found_as_stored),
        cmocka_unit_test(mentions_are_never_missed),
        cmocka_unit_test(a_table_is_freed_whole),
        cmocka_unit_test(hashes_are_alike_by_rule_and_names),
        cmocka_unit_test(only_a_last_hash_column_shifts_nothing),
        cmocka_unit_test(columns_behind_the_hash_leave_a_gap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
