/* How statements read tables, kept and told without their constants; explain.txt has more. */
#include "rewrite/statement/script/script.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "exact.h"
#include "tables.h"

static const rw_table *pointers[TEST_TABLE_COUNT];

static const rw_read_map *reads_of(const char *text, rw_shape_cache *shapes, pgw_arena *arena)
{
    rw_catalog catalog = test_catalog(pointers);
    rw_script script;
    rw_script_parse(exact(text), &catalog, &test_env, shapes, arena, &script);
    assert_int_equal(script.count, 1);
    return script.statements[0].reads;
}

static void shapes_have_no_constants(void **state)
{
    (void)state;
    static const struct {
        const char *text, *shape;
    } cases[] = {
        {"select * from events where event = 'x'", "select * from events where event = ?"},
        {"select *  from events\nwhere event IN ('x', 'y','z') -- why", "select * from events where event IN (?)"},
        {"select * from events where event = E'a\\'b' and ts > $1 and event <> $$x$$ and event < U&'x'",
         "select * from events where event = ? and ts > $1 and event <> ? and event < ?"},
        {"delete from events where event = '1' or ts < now() - interval '5' day and 1.5e3 > 2",
         "delete from events where event = ? or ts < now() - interval ? day and ? > ?"},
        {"select * from events where userid = 5", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pgw_arena arena = {0};
        const rw_read_map *map = reads_of(cases[i].text, NULL, &arena);
        assert_non_null(map);
        assert_string_equal(map->shape, cases[i].shape);
        pgw_arena_free(&arena);
    }
}

static void shapes_are_cut(void **state)
{
    (void)state;
    pgw_arena arena = {0};
    pgw_buf text = {0};
    pgw_buf_add_str(&text, "select * from events where event = ''");
    for (size_t i = 0; i < 100; i++)
        pgw_buf_add_str(&text, " or event = 'x'");
    pgw_buf_add_byte(&text, '\0');
    const rw_read_map *map = reads_of(text.ptr, NULL, &arena);
    assert_true(strlen(map->shape) <= RW_READ_SHAPE_MAX + 4);
    assert_string_equal(map->shape + strlen(map->shape) - 4, " …");
    pgw_buf_free(&text);
    pgw_arena_free(&arena);
}

/* Another text of a shape has the same, with its own place in memory. */
static void a_memory_changes_nothing(void **state)
{
    (void)state;
    rw_shape_cache shapes = {0};
    pgw_arena arena = {0};
    const rw_read_map *first = reads_of("select 1 from events where event = 'x'", &shapes, &arena),
                      *second = reads_of("select 2 from events where event = 'y'", &shapes, &arena);
    rw_shape_cache_clear(&shapes);
    assert_int_equal(second->count, 1);
    assert_int_equal(second->reads[0].kind, RW_READ_SCAN);
    assert_string_equal(second->shape, first->shape);
    assert_ptr_not_equal(second->reads, first->reads);
    pgw_arena_free(&arena);
}

static void reads_are_bounded(void **state)
{
    (void)state;
    pgw_arena arena = {0};
    pgw_buf text = {0};
    pgw_buf_add_str(&text, "select 1 from events");
    for (size_t i = 0; i < 2 * RW_READS_MAX; i++)
        pgw_buf_add_str(&text, " union all select 1 from events");
    pgw_buf_add_byte(&text, '\0');
    assert_int_equal(reads_of(text.ptr, NULL, &arena)->count, RW_READS_MAX);
    assert_null(reads_of("select 1", NULL, &arena));
    assert_null(reads_of("explain select * from events", NULL, &arena));
    assert_null(reads_of("insert into other select 1", NULL, &arena));
    pgw_buf_free(&text);
    pgw_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_have_no_constants),
        cmocka_unit_test(shapes_are_cut),
        cmocka_unit_test(a_memory_changes_nothing),
        cmocka_unit_test(reads_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
