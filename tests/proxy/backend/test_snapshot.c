/* Pictures of the configured tables: who holds them, and when two say the same. */
#include "proxy/backend/schema/snapshot.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static char *key[] = {(char *)"k"};
static cfg_column columns[] = {{.name = (char *)"k", .type = (char *)"bigint", .not_null = true},
                               {.name = (char *)"h", .type = (char *)"bigint", .not_null = true}};

#define TABLE(n)                                                                                   \
    {                                                                                              \
        .name = (char *)(n), .primary_key = key, .primary_key_count = 1, .hash_key = key,          \
        .hash_key_count = 1, .hash_column = (char *)"h", .columns = columns, .column_count = 2,    \
        .partitions = {                                                                            \
            .uniform = 1                                                                           \
        }                                                                                          \
    }

static cfg_table tables[] = {TABLE("a"), TABLE("b")};
static const cfg_config config = {.tables = tables, .table_count = 2};

static void tables_are_built_in_their_order(void **state)
{
    (void)state;
    px_catalog *catalog = px_catalog_build(&config, NULL, NULL);
    assert_int_equal(catalog->count, 2);
    assert_false(catalog->incomplete);
    assert_ptr_equal(catalog->config, &config);
    assert_int_equal(catalog->references, 1);
    for (size_t i = 0; i < 2; i++) {
        assert_string_equal(catalog->tables[i]->name, tables[i].name);
        assert_int_equal(catalog->tables[i]->epoch, catalog->epoch);
        assert_ptr_equal(px_catalog_config(catalog, catalog->tables[i]), &tables[i]);
    }
    rw_table other = {0};
    assert_null(px_catalog_config(catalog, &other));
    px_catalog_drop(catalog);
}

/* The backend was asked, and has none of them. */
static void tables_that_are_not_there_are_missed(void **state)
{
    (void)state;
    px_schema_rows *rows = px_schema_rows_new();
    px_catalog *catalog = px_catalog_build(&config, rows, NULL);
    assert_int_equal(catalog->count, 0);
    assert_true(catalog->incomplete);
    px_catalog_drop(catalog);
    px_schema_rows_free(rows);
}

static void epochs_are_never_the_same(void **state)
{
    (void)state;
    px_catalog *one = px_catalog_build(&config, NULL, NULL),
               *two = px_catalog_build(&config, NULL, NULL);
    assert_true(one->epoch > 0 && two->epoch > one->epoch);
    assert_true(px_catalog_same(one, two)); /* but for that */
    px_catalog_drop(one);
    px_catalog_drop(two);
}

static void what_makes_another_picture(void **state)
{
    (void)state;
    px_schema_rows *none = px_schema_rows_new();
    const cfg_config again = config;
    px_catalog *one = px_catalog_build(&config, NULL, NULL),
               *two = px_catalog_build(&again, NULL, NULL),
               *empty = px_catalog_build(&config, none, NULL),
               *turned = px_catalog_build(&config, NULL, NULL);
    assert_false(px_catalog_same(NULL, one));
    assert_false(px_catalog_same(one, two)); /* another configuration */
    assert_false(px_catalog_same(one, empty));
    assert_true(px_catalog_same(empty, empty));
    rw_table *first = turned->tables[0];
    turned->tables[0] = turned->tables[1];
    turned->tables[1] = first;
    assert_false(px_catalog_same(one, turned));
    const cfg_table *config_of_first = turned->configs[0];
    turned->configs[0] = turned->configs[1];
    assert_false(px_catalog_same(one, turned));
    turned->configs[0] = config_of_first;
    turned->tables[1] = turned->tables[0];
    turned->tables[0] = first;
    assert_true(px_catalog_same(one, turned));
    turned->tables[1]->columns[1].typmod = 3;
    assert_false(px_catalog_same(one, turned));
    px_catalog_drop(one);
    px_catalog_drop(two);
    px_catalog_drop(empty);
    px_catalog_drop(turned);
    px_schema_rows_free(none);
}

/* What the backend says of table a, with these columns: k, and perhaps h. */
static px_catalog *seen(const cfg_config *asked, const char *kind, size_t column_count,
                        const px_catalog *last)
{
    static const char *const names[] = {"k", "h"}, *const numbers[] = {"1", "2"};
    const bool nulls[PX_SCHEMA_CELLS] = {false};
    px_schema_rows *rows = px_schema_rows_new();
    for (size_t i = 0; i < column_count; i++) {
        pgw_slice cells[PX_SCHEMA_CELLS];
        for (size_t c = 0; c < PX_SCHEMA_CELLS; c++)
            cells[c] = PGW_LITERAL("f");
        cells[PX_SCHEMA_SCHEMA] = PGW_LITERAL("public");
        cells[PX_SCHEMA_TABLE] = PGW_LITERAL("a");
        cells[PX_SCHEMA_RELKIND] = pgw_slice_str(kind);
        cells[PX_SCHEMA_COLUMN] = pgw_slice_str(names[i]);
        cells[PX_SCHEMA_NUMBER] = pgw_slice_str(numbers[i]);
        cells[PX_SCHEMA_TYPE] = PGW_LITERAL("20");
        cells[PX_SCHEMA_TYPMOD] = PGW_LITERAL("-1");
        cells[PX_SCHEMA_TYPE_NAME] = PGW_LITERAL("bigint");
        cells[PX_SCHEMA_EXPRESSION] = cells[PX_SCHEMA_PARTS] = PGW_LITERAL("");
        px_schema_rows_add(rows, cells, nulls, PX_SCHEMA_CELLS);
    }
    px_catalog *catalog = px_catalog_build(asked, rows, last);
    px_schema_rows_free(rows);
    return catalog;
}

/* A migrated table has no hash before the switch and after the way back; nor has one that nobody
 * migrates, which is refused. */
static void a_migrated_table_without_its_hash_is_ordinary(void **state)
{
    static const struct {
        const char *kind;
        size_t columns;
    } steps[] = {{"r+", 1}, {"r+", 2}, {"r", 1}, {"r", 1}};
    (void)state;
    cfg_table table = tables[0];
    table.column_count = 0;
    const cfg_config first = {.tables = &table, .table_count = 1}, reloaded = first;
    px_catalog *last = NULL, *refused = seen(&first, "r", 1, NULL);
    assert_int_equal(refused->count, 1);
    assert_non_null(refused->tables[0]->unusable);
    px_catalog_drop(refused);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        px_catalog *now = seen(i < 3 ? &first : &reloaded, steps[i].kind, steps[i].columns, last);
        assert_int_equal(now->count, steps[i].columns == 2);
        assert_int_equal(now->ordinary_count, steps[i].columns == 1);
        assert_false(px_catalog_same(last, now));
        px_catalog_drop(last);
        last = now;
    }
    px_catalog *same = seen(&reloaded, "r", 1, last), *gone = seen(&reloaded, "r", 0, last);
    assert_true(px_catalog_same(last, same));
    assert_false(px_catalog_same(last, gone));
    px_catalog_drop(last);
    px_catalog_drop(same);
    px_catalog_drop(gone);
}

static void the_last_reference_frees(void **state)
{
    (void)state;
    px_catalog *catalog = px_catalog_build(&config, NULL, NULL);
    assert_ptr_equal(px_catalog_take(catalog), catalog);
    assert_int_equal(catalog->references, 2);
    px_catalog_drop(catalog);
    assert_int_equal(catalog->references, 1);
    px_catalog_drop(catalog); /* a leak or a second free would be seen */
    px_catalog_drop(NULL);
    px_catalog *none = px_catalog_none();
    assert_int_equal(none->count, 0);
    px_catalog_drop(px_catalog_take(none));
    assert_ptr_equal(px_catalog_none(), none);
    assert_int_equal(none->references, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_are_built_in_their_order),
        cmocka_unit_test(tables_that_are_not_there_are_missed),
        cmocka_unit_test(epochs_are_never_the_same),
        cmocka_unit_test(what_makes_another_picture),
        cmocka_unit_test(a_migrated_table_without_its_hash_is_ordinary),
        cmocka_unit_test(the_last_reference_frees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
