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
    table->columns[0].default_text = pgw_strndup("7", 1);
    table->indexes = pgw_calloc(2, sizeof *table->indexes);
    table->index_count = 2;
    for (size_t i = 0; i < table->index_count; i++)
        table->indexes[i] = (rw_index){.name = pgw_strndup("i", 1),
                                       .columns = pgw_calloc(1, sizeof *table->indexes->columns)};
    table->primary_key = pgw_calloc(1, sizeof *table->primary_key);
    table->hash_key = pgw_calloc(1, sizeof *table->hash_key);
    table->partitions.at = pgw_calloc(1, sizeof *table->partitions.at);
    table->part_names = pgw_strndup("p", 1);
    table->key_name = pgw_strndup("k", 1);
    table->system_columns = pgw_strndup("1.a", 3);
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

/* Bytes of rows that are there stay right where the same columns of the table are hashed. */
static void hashes_are_kept_by_the_same_columns(void **state)
{
    (void)state;
    rw_column columns[4];
    rw_table one = test_tables[4], other = one; /* two columns are hashed */
    size_t name[] = {0, 1};
    one.hash_key = other.hash_key = name;
    memcpy(columns, one.columns, sizeof columns);
    for (size_t i = 0; i < 4; i++)
        columns[i].attnum = one.columns[i].attnum;
    other.columns = columns;
    assert_int_equal(one.hash_key_count, 2);
    assert_true(rw_table_keeps_hashes(&one, &other));
    for (size_t i = 0; i < 4; i++) {
        bool hashed = i < 2 || i == one.hash_column;
        columns[i].attnum += 7;
        assert_int_equal(rw_table_keeps_hashes(&one, &other), !hashed);
        columns[i].attnum -= 7;
        columns[i].name = (char *)"another";
        assert_int_equal(rw_table_keeps_hashes(&one, &other), !hashed);
        columns[i].name = one.columns[i].name;
    }
    other.hash_key_count = 1;
    assert_false(rw_table_keeps_hashes(&one, &other));
    assert_false(rw_table_keeps_hashes(&other, &one));
}

static void rules_are_shared_by_type(void **state)
{
    (void)state;
    rw_column left[2] = {{.type = PGW_INT8}, {.type = PGW_BPCHAR, .typmod = 7}}, right[2];
    size_t key[] = {0, 1};
    rw_table one = test_tables[0], other;
    one.columns = left;
    one.hash_key = key;
    one.hash_key_count = 2;
    other = one;
    other.columns = right;
    memcpy(right, left, sizeof right);
    assert_true(rw_table_shares_rule(&one, &other));
    right[1].typmod = 8; /* other blanks are hashed */
    assert_false(rw_table_shares_rule(&one, &other));
    left[1].type = right[1].type = PGW_VARCHAR;
    assert_true(rw_table_shares_rule(&one, &other));
    right[0].type = PGW_INT4;
    assert_false(rw_table_shares_rule(&one, &other));
    other.hash_key_count = one.hash_key_count = 0;
    assert_true(rw_table_shares_rule(&one, &other));
    other.hash_type = RW_HASH_UINT64;
    assert_false(rw_table_shares_rule(&one, &other));
    other.hash_type = one.hash_type;
    other.buckets = 16;
    assert_false(rw_table_shares_rule(&one, &other));
    one.buckets = 16;
    assert_true(rw_table_shares_rule(&one, &other));
}

/* Rows are looked for by their hash only where equal keys have equal hashes, and nobody is shown
 * more. */
static void tables_are_looked_up_where_that_is_sure(void **state)
{
    (void)state;
    rw_column columns[4];
    rw_table table = test_tables[0];
    size_t key[] = {0, 1};
    memcpy(columns, test_event_columns, sizeof columns);
    table.columns = columns;
    table.hash_key = key;
    table.hash_key_count = 2;
    bool *const flags[] = {&columns[0].nondeterministic, &columns[1].nondeterministic,
                           &columns[0].own_equals,       &columns[1].own_equals,
                           &columns[0].granted,          &columns[1].granted,
                           &columns[0].cascaded,         &columns[1].cascaded,
                           &table.changes_rows,          &table.forward_uncomputable};
    assert_true(rw_table_is_looked_up(&table));
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        *flags[i] = true;
        assert_false(rw_table_is_looked_up(&table));
        *flags[i] = false;
    }
    columns[2].own_equals = columns[2].granted = true; /* of no key */
    assert_true(rw_table_is_looked_up(&table));
    columns[1].type = 4711;
    assert_false(rw_table_is_looked_up(&table));
    columns[1].type = PGW_TEXT;
    assert_true(rw_table_is_looked_up(&table));
    table.looked_up = false;
    assert_false(rw_table_is_looked_up(&table));
    table.looked_up = true;
    table.unusable = (char *)"why";
    assert_false(rw_table_is_looked_up(&table));
    table.unusable = NULL;
    table.hash_column = table.column_count;
    assert_false(rw_table_is_looked_up(&table));
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
        cmocka_unit_test(hashes_are_kept_by_the_same_columns),
        cmocka_unit_test(rules_are_shared_by_type),
        cmocka_unit_test(tables_are_looked_up_where_that_is_sure),
        cmocka_unit_test(only_a_last_hash_column_shifts_nothing),
        cmocka_unit_test(columns_behind_the_hash_leave_a_gap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
