/* Which of PostgreSQL's own relations and functions are not shown as they are, by what tables there
 * are. */
#include "rewrite/statement/catalog/system_catalog.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/rewrite/tables.h"

/* Two tables that hide their hash, the first of which may do more. */
typedef struct world {
    rw_table tables[2];
    const rw_table *pointers[2];
    rw_catalog catalog;
} world;

static rw_catalog *make(world *it)
{
    for (size_t i = 0; i < 2; i++) {
        it->tables[i] = test_tables[0];
        it->pointers[i] = &it->tables[i];
    }
    it->catalog = (rw_catalog){.tables = it->pointers, .count = 2};
    return &it->catalog;
}

static void hide_nothing(rw_table *table)
{
    table->shows_hash = true;
}

static void only_hidden_columns_count(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        world it;
        const rw_catalog *catalog = make(&it);
        assert_true(rw_system_hides(catalog));
        hide_nothing(&it.tables[i]);
        assert_true(rw_system_hides(catalog));
        it.tables[1 - i].listed = true; /* its catalog is its client's to see */
        assert_false(rw_system_hides(catalog));
        it.tables[1 - i].listed = false;
        it.tables[1 - i].hash_column = it.tables[1 - i].column_count; /* none */
        assert_false(rw_system_hides(catalog));
    }
    assert_false(rw_system_hides(&(rw_catalog){.count = 0}));
}

static const rw_system_relation *relation(const rw_catalog *catalog, const char *name, bool gaps)
{
    const rw_system_relation *it = rw_system_relation_of(catalog, "pg_catalog", name, gaps);
    assert_ptr_equal(rw_system_relation_of(catalog, "", name, gaps), it);
    assert_null(rw_system_relation_of(catalog, "public", name, gaps));
    assert_null(rw_system_relation_of(catalog, "information_schema", name, gaps));
    return it;
}

/* Some are, as soon as one of the tables is partitioned; whichever it is. */
static void partitions_are_hidden_where_there_are_some(void **state)
{
    (void)state;
    static const char *const names[] = {"pg_type",
                                        "pg_inherits",
                                        "pg_partitioned_table",
                                        "pg_tables",
                                        "pg_trigger",
                                        "pg_attrdef",
                                        "pg_locks",
                                        "pg_shdepend",
                                        "pg_stat_all_tables",
                                        "pg_stat_user_tables",
                                        "pg_statio_all_tables",
                                        "pg_statio_user_tables",
                                        "pg_stat_xact_all_tables",
                                        "pg_stat_xact_user_tables"};
    for (size_t i = 0; i < 2; i++) {
        world it;
        const rw_catalog *catalog = make(&it);
        for (size_t k = 0; k < sizeof names / sizeof *names; k++)
            assert_null(relation(catalog, names[k], true));
        const rw_system_relation *depend = relation(catalog, "pg_depend", true);
        it.tables[i].in_parts = true;
        for (size_t k = 0; k < sizeof names / sizeof *names; k++)
            if (relation(catalog, names[k], true) == NULL)
                fail_msg("%s", names[k]);
        assert_ptr_not_equal(relation(catalog, "pg_depend", true), depend);
        hide_nothing(&it.tables[i]);
        assert_null(relation(catalog, "pg_type", true));
        assert_ptr_equal(relation(catalog, "pg_depend", true), depend);
    }
}

/* A column behind the hash column leaves a gap, which is shown as one that was dropped. */
static void gaps_are_shown_to_who_asks_for_dropped_columns(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        world it;
        const rw_catalog *catalog = make(&it);
        const rw_system_relation *usual = relation(catalog, "pg_attribute", true);
        assert_non_null(usual);
        it.tables[i].last = 9;
        assert_true(rw_table_has_gap(&it.tables[i]));
        assert_ptr_equal(relation(catalog, "pg_attribute", false), usual);
        assert_ptr_not_equal(relation(catalog, "pg_attribute", true), usual);
        it.tables[i].in_parts = true; /* is another need */
        assert_ptr_equal(relation(catalog, "pg_attribute", false), usual);
        it.tables[i].shows_hash = true;
        assert_ptr_equal(relation(catalog, "pg_attribute", true), usual);
    }
}

static void each_has_its_name_and_its_columns(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        unsigned oid;
    } told[] = {
        {"pg_attribute", 1249}, {"pg_class", 1259}, {"pg_index", 2610}, {"pg_constraint", 2606}};
    const rw_system_relation *one;
    for (size_t i = 0; (one = rw_system_relation_at(i)) != NULL; i++) {
        unsigned oid = 0;
        for (size_t k = 0; k < sizeof told / sizeof *told; k++)
            oid = strcmp(told[k].name, one->name) == 0 ? told[k].oid : oid;
        if (one->oid != oid)
            fail_msg("%s: %u", one->name, one->oid);
        bool information = strcmp(one->schema, "information_schema") == 0;
        assert_true(information || strcmp(one->schema, "pg_catalog") == 0);
        assert_int_equal(strncmp(one->name, "pg_", 3) != 0, information);
    }
}

/* A word of a text says whether the catalog may be asked at all. */
static void names_are_known_in_any_case(void **state)
{
    (void)state;
    static const char *const others[] = {"",
                                         "pg_proc",
                                         "pg_clas",
                                         "pg_classes",
                                         "pg-class",
                                         "has_column",
                                         "information",
                                         "ig_class",
                                         "hat_column_privilege",
                                         "events",
                                         "col description"};
    size_t count = 0;
    for (const char *name; (name = rw_system_name(count)) != NULL; count++) {
        char upper[64];
        size_t len = 0;
        for (; name[len] != '\0'; len++)
            upper[len] = (char)(name[len] >= 'a' && name[len] <= 'z' ? name[len] - 32 : name[len]);
        bool within = strncmp(name, "pg_", 3) == 0 || strncmp(name, "col_", 4) == 0 ||
                      strncmp(name, "has_", 4) == 0; /* the others by the name of their schema */
        if (rw_system_names(pgw_slice_str(name)) != within ||
            rw_system_names((pgw_slice){upper, len}) != within)
            fail_msg("%s", name);
    }
    assert_true(count > 40);
    assert_true(rw_system_names(PGW_LITERAL("Information_Schema")));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (rw_system_names(pgw_slice_str(others[i])))
            fail_msg("%s", others[i]);
}

static const rw_system_function *function(const rw_catalog *catalog, const char *name, size_t count)
{
    const rw_system_function *it = rw_system_function_of(catalog, "", name, count, false);
    assert_ptr_equal(rw_system_function_of(catalog, "pg_catalog", name, count, false), it);
    assert_null(rw_system_function_of(catalog, "public", name, count, false));
    return it;
}

static void functions_have_so_many_arguments(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        size_t count, argument;
        rw_system_need need;
        bool there;
    } cases[] = {
        {"pg_get_indexdef", 1, 1, RW_SYSTEM_ALWAYS, true},
        {"pg_get_indexdef", 3, 1, RW_SYSTEM_ALWAYS, true},
        {"pg_get_constraintdef", 2, 0, RW_SYSTEM_ALWAYS, true},
        {"col_description", 2, 1, RW_SYSTEM_ALWAYS, true},
        {"pg_describe_object", 3, 2, RW_SYSTEM_ALWAYS, true},
        {"pg_identify_object", 3, 2, RW_SYSTEM_ALWAYS, true},
        {"pg_identify_object_as_address", 3, 2, RW_SYSTEM_ALWAYS, true},
        {"pg_index_column_has_property", 3, 1, RW_SYSTEM_ALWAYS, true},
        {"pg_get_partkeydef", 1, 0, RW_SYSTEM_PARTS, true},
        {"pg_partition_tree", 1, 0, RW_SYSTEM_PARTS, true},
        {"pg_partition_root", 1, 0, RW_SYSTEM_PARTS, true},
        {"pg_partition_ancestors", 1, 0, RW_SYSTEM_PARTS, true},
        {"has_column_privilege", 3, 0, RW_SYSTEM_STRICT, true},
        {"has_column_privilege", 4, 1, RW_SYSTEM_STRICT, true},
        {"has_column_privilege", 2, 0, RW_SYSTEM_STRICT, false},
        {"pg_get_viewdef", 1, 0, RW_SYSTEM_ALWAYS, false},
    };
    for (size_t at = 0; at < 2; at++) {
        world it;
        const rw_catalog *catalog = make(&it);
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            const char *name = cases[i].name;
            size_t count = cases[i].count;
            it.tables[at].strict = it.tables[at].in_parts = false;
            const rw_system_function *usual = function(catalog, name, count);
            it.tables[at].strict = cases[i].need == RW_SYSTEM_STRICT;
            it.tables[at].in_parts = cases[i].need == RW_SYSTEM_PARTS;
            const rw_system_function *one = function(catalog, name, count);
            assert_int_equal(one != NULL, cases[i].there);
            assert_ptr_equal(usual, cases[i].need == RW_SYSTEM_ALWAYS ? one : NULL);
            if (one != NULL && one->opens != NULL && one->argument != cases[i].argument)
                fail_msg("%s: %zu", name, one->argument);
            it.tables[at].shows_hash = true; /* and so needs nothing */
            assert_ptr_equal(function(catalog, name, count), usual);
            it.tables[at].shows_hash = false;
        }
    }
}

/* Of these there is SQL that reads their arguments twice, where that says the same. */
static void some_read_plain_arguments_twice(void **state)
{
    (void)state;
    static const char *const names[] = {"pg_get_indexdef", "pg_get_constraintdef",
                                        "pg_index_column_has_property", "col_description"};
    world it;
    const rw_catalog *catalog = make(&it);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const rw_system_function *any = function(catalog, names[i], 2);
        const rw_system_function *plain = rw_system_function_of(catalog, "", names[i], 2, true);
        assert_false(any->plain);
        assert_int_equal(plain->plain, i < 3);
        assert_string_equal(plain->name, any->name);
    }
}

/* Which columns there are is PostgreSQL's to say, by whichever table has been looked up. */
static void columns_are_those_of_the_server(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        world it;
        const rw_catalog *catalog = make(&it);
        const rw_system_relation *class = relation(catalog, "pg_class", false);
        const rw_system_relation *stats = relation(catalog, "pg_stats", false);
        const char *at = NULL;
        pgw_slice name;
        assert_false(rw_system_knows_columns(catalog, class));
        assert_true(rw_system_knows_columns(catalog, stats));
        assert_false(rw_system_next_column(catalog, class, &at, &name));
        it.tables[i].system_columns = " 125.no 1259.oid 1259.relname 12590.not 1260.other  1259.x ";
        assert_true(rw_system_knows_columns(catalog, class));
        static const char *const columns[] = {"oid", "relname", "x"};
        at = NULL;
        for (size_t k = 0; k < 3; k++) {
            assert_true(rw_system_next_column(catalog, class, &at, &name));
            assert_true(pgw_slice_eq_str(name, columns[k]));
            assert_true(rw_system_has_column(catalog, class, columns[k]));
        }
        assert_false(rw_system_next_column(catalog, class, &at, &name));
        assert_true(
            rw_system_has_column(catalog, class, "relnatts")); /* which is shown otherwise */
        assert_false(rw_system_has_column(catalog, class, "other"));
        assert_false(rw_system_has_column(catalog, class, "relid"));
        assert_true(rw_system_has_column(catalog, stats, "inhrelid"));
        assert_true(rw_system_has_column(catalog, stats, "oid"));
        assert_true(rw_system_has_column(catalog, stats, "udt_name"));
        assert_false(rw_system_has_column(catalog, stats, "mine"));
        assert_non_null(rw_system_shown(class, PGW_LITERAL("relnatts")));
        assert_null(rw_system_shown(class, PGW_LITERAL("relname")));
        assert_null(rw_system_shown(stats, PGW_LITERAL("inhrelid")));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_hidden_columns_count),
        cmocka_unit_test(partitions_are_hidden_where_there_are_some),
        cmocka_unit_test(gaps_are_shown_to_who_asks_for_dropped_columns),
        cmocka_unit_test(each_has_its_name_and_its_columns),
        cmocka_unit_test(names_are_known_in_any_case),
        cmocka_unit_test(functions_have_so_many_arguments),
        cmocka_unit_test(some_read_plain_arguments_twice),
        cmocka_unit_test(columns_are_those_of_the_server),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
