/* Which tables are those of a pattern, by what the backend's catalog says of them, and with which
 * key. */
#include "proxy/backend/schema/pattern.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static px_schema_rows *rows;
static rw_table *found[16];
static const cfg_table *of[16];
static size_t count;

static int setup(void **state)
{
    (void)state;
    rows = px_schema_rows_new();
    count = 0;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    for (size_t i = 0; i < count; i++)
        rw_table_free(found[i]);
    px_schema_rows_free(rows);
    return 0;
}

/* A table with columns of bigint: "h:1 a:2 b" have their places in the primary key. */
static void add_table(const char *schema, const char *name, const char *oid, const char *columns)
{
    char text[512];
    unsigned number = 0;
    snprintf(text, sizeof text, "%s", columns);
    for (char *column = strtok(text, " "); column != NULL; column = strtok(NULL, " ")) {
        char attnum[4];
        pgw_slice cells[PX_SCHEMA_CELLS];
        const bool nulls[PX_SCHEMA_CELLS] = {false};
        char *place = strchr(column, ':');
        for (size_t i = 0; i < PX_SCHEMA_CELLS; i++)
            cells[i] = PGW_LITERAL("f");
        if (place != NULL)
            *place++ = '\0';
        snprintf(attnum, sizeof attnum, "%u", ++number);
        cells[PX_SCHEMA_SCHEMA] = pgw_slice_str(schema);
        cells[PX_SCHEMA_TABLE] = pgw_slice_str(name);
        cells[PX_SCHEMA_OID] = pgw_slice_str(oid);
        cells[PX_SCHEMA_RELKIND] = PGW_LITERAL("r");
        cells[PX_SCHEMA_COLUMN] = pgw_slice_str(column);
        cells[PX_SCHEMA_NUMBER] = pgw_slice_str(attnum);
        cells[PX_SCHEMA_TYPE] = PGW_LITERAL("20");
        cells[PX_SCHEMA_TYPMOD] = PGW_LITERAL("-1");
        cells[PX_SCHEMA_TYPE_NAME] = PGW_LITERAL("bigint");
        cells[PX_SCHEMA_EQUALITY] = PGW_LITERAL("t");
        cells[PX_SCHEMA_KEY] = pgw_slice_str(place != NULL ? place : "0");
        cells[PX_SCHEMA_EXPRESSION] = cells[PX_SCHEMA_PARTS] = PGW_LITERAL("");
        px_schema_rows_add(rows, cells, nulls, PX_SCHEMA_CELLS);
    }
}

static cfg_table pattern_of(const char *schema, const char *beginning)
{
    return (cfg_table){.schema = (char *)schema,
                       .name = (char *)beginning,
                       .label = (char *)beginning,
                       .pattern = true,
                       .hash_column = (char *)"h"};
}

static void find(const cfg_config *config)
{
    count = px_pattern_tables(config, rows, 7, found, of);
    assert_true(count <= px_pattern_most(config, rows));
}

static void find_by(cfg_table *pattern)
{
    const cfg_config config = {.tables = pattern, .pattern_count = 1};
    find(&config);
}

static void expect_key(const rw_table *table, const size_t *key, const char *names)
{
    char got[128] = "";
    size_t columns = key == table->hash_key ? table->hash_key_count : table->primary_key_count;
    for (size_t i = 0; i < columns; i++)
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s", i > 0 ? " " : "",
                 table->columns[key[i]].name);
    assert_string_equal(got, names);
}

static void expect_keys(size_t i, const char *primary, const char *hash)
{
    assert_null(found[i]->unusable);
    expect_key(found[i], found[i]->primary_key, primary);
    expect_key(found[i], found[i]->hash_key, hash);
    assert_string_equal(found[i]->columns[found[i]->hash_column].name, "h");
}

static void a_table_of_a_pattern(void **state)
{
    (void)state;
    cfg_table pattern = pattern_of(NULL, "log_");
    add_table("public", "log_1", "16384", "h:1 a:2 b");
    find_by(&pattern);
    assert_int_equal(count, 1);
    assert_ptr_equal(of[0], &pattern);
    assert_string_equal(found[0]->schema, "public");
    assert_string_equal(found[0]->name, "log_1");
    assert_int_equal(found[0]->oid, 16384);
    assert_int_equal(found[0]->epoch, 7);
    assert_int_equal(found[0]->column_count, 3);
    assert_true(found[0]->by_pattern);
    assert_false(found[0]->pattern);
    expect_keys(0, "a", "a");
}

/* In the key's own order; what is behind the hash. The hash is of the first, or of what the pattern
 * says. */
static void keys_are_as_each_table_has_them(void **state)
{
    (void)state;
    char *hashed[] = {(char *)"b", (char *)"a"};
    cfg_table pattern = pattern_of(NULL, "log_");
    add_table("public", "log_1", "1", "c a:3 h:1 b:2");
    add_table("public", "log_2", "2", "a:2 h:1 c:3 b:4");
    find_by(&pattern);
    assert_int_equal(count, 2);
    expect_keys(0, "b a", "b");
    expect_keys(1, "a c b", "a");
    teardown(NULL);
    setup(NULL);
    pattern.hash_key = hashed;
    pattern.hash_key_count = 2;
    add_table("public", "log_1", "1", "c a:3 h:1 b:2");
    add_table("public", "log_2", "2", "h:1 c:2 b:3 a"); /* the hash could not be made of its key */
    add_table("public", "log_3", "3", "h:1 a:2 b:3 c:4");
    find_by(&pattern);
    assert_int_equal(count, 2);
    expect_keys(0, "b a", "b a");
    expect_keys(1, "a b c", "b a");
    assert_int_equal(found[1]->oid, 3);
}

/* A pattern with a key of its own: of each table, whatever that has. */
static void keys_of_the_pattern(void **state)
{
    (void)state;
    char *key[] = {(char *)"a", (char *)"b"};
    cfg_table pattern = pattern_of(NULL, "log_");
    pattern.primary_key = pattern.hash_key = key;
    pattern.primary_key_count = 2;
    pattern.hash_key_count = 1;
    add_table("public", "log_1", "1", "a b h");
    add_table("public", "log_2", "2", "h:1 b:2 a:3");
    add_table("public", "log_3", "3", "h:1");
    find_by(&pattern);
    assert_int_equal(count, 3);
    expect_keys(0, "a b", "a");
    expect_keys(1, "a b", "a");
    assert_non_null(found[2]->unusable); /* its columns are not there */
}

static void the_hash_stands_anywhere_in_the_key(void **state)
{
    (void)state;
    cfg_table pattern = pattern_of(NULL, "log_");
    add_table("public", "log_1", "1", "a:1 b:2 h:3");
    add_table("public", "log_2", "2", "b:3 h:2 a:1");
    add_table("public", "log_3", "3", "h:1 b:2 a:3");
    find_by(&pattern);
    assert_int_equal(count, 3);
    expect_keys(0, "a b", "a");
    expect_keys(1, "a b", "a");
    expect_keys(2, "b a", "b");
}

static void others_are_left_alone(void **state)
{
    (void)state;
    static const char *const others[][2] = {
        {"log_a", "a:1 h"},              /* the hash is not in the key */
        {"log_b", "a:1 b:2"},            /* there is none */
        {"log_c", "h:1 b"},              /* nothing is behind it */
        {"log_d", "h b c"},              /* no key at all */
        {"log_\xC3\xA4", "h:1 a:2"},     /* names beyond ASCII */
        {"log_e", "h:1 \xC3\xA4:2"},     /* … of the key */
        {"log_f", "h:1 a:2 \xC2\x80:3"}, /* … of all of it */
        {"log_g", "a:2 h"},              /* who is in front is not seen */
        {"log_h", "h2:1 a:2 h"},         /* another one */
        {"lo_i", "h:1 a:2"},             /* of no such name */
        {"log_j", "H:1 a:2"},            /* in other letters */
    };
    cfg_table pattern = pattern_of(NULL, "log_");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        add_table("public", others[i][0], "1", others[i][1]);
    add_table("app", "log_k", "1", "h:1 a:2");
    find_by(&pattern);
    assert_int_equal(count, 0);
    add_table("public", "log_z\x7F", "1", "h:1 a:2 \xC3\xA4");
    find_by(&pattern);
    assert_int_equal(count, 1);
    pattern.hash_column = (char *)"h\xC3\xA4";
    teardown(NULL);
    setup(NULL);
    add_table("public", "log_a", "1", "h\xC3\xA4:1 a:2");
    find_by(&pattern);
    assert_int_equal(count, 0);
}

/* PostgreSQL allows no longer keys; places beyond are not read. */
static void long_keys(void **state)
{
    (void)state;
    char columns[512] = "h:1";
    cfg_table pattern = pattern_of(NULL, "log_");
    for (unsigned i = 2; i <= 33; i++)
        snprintf(columns + strlen(columns), sizeof columns - strlen(columns), " k%u:%u", i, i);
    add_table("public", "log_1", "1", columns);
    find_by(&pattern);
    assert_int_equal(count, 1);
    assert_int_equal(found[0]->primary_key_count, 31);
}

/* In the order of their oids, numbers without a sign; each by the longest pattern. */
static void several_patterns(void **state)
{
    (void)state;
    cfg_table list[] = {pattern_of(NULL, "log_5"), pattern_of("app", "log_6"),
                        pattern_of(NULL, "log_"), pattern_of(NULL, "log_7"),
                        pattern_of("app", "l")};
    const cfg_config config = {.tables = list, .table_count = 2, .pattern_count = 3};
    list[0].pattern = list[1].pattern = false;
    add_table("public", "log_9", "4000000000", "h:1 a:2");
    add_table("app", "log_5", "50", "h:1 a:2");
    add_table("public", "log_5", "1", "h:1 a:2"); /* these have their entries */
    add_table("app", "log_6", "2", "h:1 a:2");
    add_table("public", "log_6", "60", "h:1 a:2");
    add_table("public", "log_77", "3", "h:1 a:2");
    find(&config);
    assert_int_equal(px_pattern_most(&config, rows), 4);
    static const struct {
        uint32_t oid;
        size_t pattern;
    } expected[] = {{3, 3}, {50, 4}, {60, 2}, {4000000000, 2}};
    assert_int_equal(count, 4);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(found[i]->oid, expected[i].oid);
        assert_ptr_equal(of[i], &list[expected[i].pattern]);
    }
}

static void without_patterns_or_rows(void **state)
{
    (void)state;
    cfg_table pattern = pattern_of(NULL, "log_");
    const cfg_config none = {.tables = &pattern}, one = {.tables = &pattern, .pattern_count = 1};
    add_table("public", "log_1", "1", "h:1 a:2");
    assert_int_equal(px_pattern_most(&none, rows), 0);
    find(&none);
    assert_int_equal(count, 0);
    assert_int_equal(px_pattern_most(&one, NULL), 0);
    assert_int_equal(px_pattern_tables(&one, NULL, 7, found, of), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_table_of_a_pattern),  TEST(keys_are_as_each_table_has_them),
        TEST(keys_of_the_pattern),   TEST(the_hash_stands_anywhere_in_the_key),
        TEST(others_are_left_alone), TEST(long_keys),
        TEST(several_patterns),      TEST(without_patterns_or_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
