/* UPDATEs that change a key: what is put in, and the way back from positions in it. */
#include "rewrite/hash/hash_sql.h"
#include "rewrite/statement/script/conditions.h"
#include "rewrite/statement/script/key_change_put.h"
#include "rewrite/statement/script/script.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "exact.h"
#include "tables.h"
#include "vectors.h"

static pgw_arena arena;
static pgw_error error;
static const pgw_reading reading = {&test_env, &arena, &error};

static int teardown(void **state)
{
    (void)state;
    pgw_arena_free(&arena);
    return 0;
}

static const rw_statement *parse(const char *text)
{
    const rw_table *pointers[TEST_TABLE_COUNT];
    rw_catalog catalog = test_catalog(pointers);
    rw_script script;
    rw_script_parse(exact(text), &catalog, &test_env, NULL, &arena, &script);
    assert_int_equal(script.count, 1);
    return script.statements;
}

/* With HASH in the place of its expression, which other tests look at. */
static char *rendered(const rw_conditions *conditions, const char *text)
{
    pgw_buf out = {0};
    rw_conditions_render(conditions, pgw_slice_str(text), &out);
    pgw_buf_add_byte(&out, '\0');
    char *all = (char *)pgw_arena_keep(&arena, &out).ptr;
    char *hash = strstr(all, " case when cast("), *end = strstr(all, " end FROM (VALUES ");
    if (hash == NULL || end == NULL)
        return all;
    return pgw_arena_printf(&arena, "%.*s HASH%s", (int)(hash - all), all, end + strlen(" end"));
}

static void keys_are_changed_with_their_hash(void **state)
{
    (void)state;
    vectors it = {.file = fopen(VECTORS "/key_changes.txt", "r")};
    assert_non_null(it.file);
    int wrong = 0;
    while (vectors_next(&it, 2)) {
        const rw_statement *statement = parse(it.field[0]);
        const char *got = "refused";
        rw_conditions conditions;
        const rw_prepared prepared = {
            pgw_slice_str(it.field[0]), {NULL, 0}, rw_highest_parameter(exact(it.field[0]), true)};
        rw_conditions_of(statement, &prepared, &reading, &conditions);
        if (statement->kind == RW_STATEMENT_FORWARD)
            got = rendered(&conditions, it.field[0]);
        if (strcmp(got, it.field[1]) != 0) {
            print_error("line %d: %s\n", it.line, got);
            wrong++;
        }
    }
    fclose(it.file);
    assert_int_equal(wrong, 0);
}

/* What is there of the client's text is told where it was; nothing is told behind its end. */
static void positions_lead_back(void **state)
{
    (void)state;
    vectors it = {.file = fopen(VECTORS "/key_changes.txt", "r")};
    assert_non_null(it.file);
    size_t told = 0;
    while (vectors_next(&it, 2)) {
        const rw_statement *statement = parse(it.field[0]);
        rw_conditions conditions;
        pgw_slice text = exact(it.field[0]);
        pgw_buf out = {0};
        rw_conditions_of(statement, NULL, &reading, &conditions);
        rw_conditions_render(&conditions, text, &out);
        for (size_t at = 0; at < out.len; at++) {
            size_t back = rw_conditions_position(&conditions, text, at + 1, false);
            assert_in_range(back, 1, text.len + 1);
            if (rw_conditions_put_in(&conditions, text, at + 1, false))
                continue;
            assert_int_equal(out.ptr[at], text.ptr[back - 1]);
            told++;
        }
        pgw_buf_free(&out);
    }
    fclose(it.file);
    assert_true(told > 500);
}

static void declared_parameters_keep_their_types(void **state)
{
    (void)state;
    static const char text[] = "UPDATE events SET userid = $1";
    static const uint32_t types[] = {PGW_INT4};
    const rw_prepared prepared = {exact(text), {types, 1}, 1};
    rw_conditions conditions;
    rw_conditions_of(parse(text), &prepared, &reading, &conditions);
    assert_non_null(strstr(rendered(&conditions, text), "(VALUES ($1) OFFSET"));
}

static void a_parameter_that_is_used_elsewhere_needs_a_type(void **state)
{
    (void)state;
    const rw_key_change *change = parse("UPDATE events SET userid = $2, event = $1")->change;
    assert_int_equal(change->value_count, 1);
    assert_int_equal(change->values[0].shared, 0);
    change = parse("UPDATE events SET userid = $2, event = $2")->change;
    assert_int_equal(change->values[0].shared, 2);
    change = parse("UPDATE events SET userid = $2 + 1, event = $2")->change;
    assert_int_equal(change->values[0].shared, 0);
}

static void only_keys_that_the_server_can_hash_change(void **state)
{
    (void)state;
    rw_table table = test_tables[0];
    rw_column columns[4];
    size_t both[] = {0, 1};
    memcpy(columns, test_event_columns, sizeof columns);
    table.columns = columns;
    table.hash_key = both;
    table.hash_key_count = 2;
    assert_true(rw_key_may_change(&table));
    for (size_t i = 0; i < 2; i++) {
        columns[i].generated = true;
        assert_false(rw_key_may_change(&table));
        columns[i].generated = false;
    }
    table.hash_function = RW_CITYHASH64;
    assert_false(rw_key_may_change(&table));
    table.hash_function = RW_XXH3;
    table.heeds_updates = true;
    assert_false(rw_key_may_change(&table));
}

/* A statement whose parameters decide is sent as it is until they say that the key changes. */
static void a_change_is_put_in_when_its_parameters_ask_for_it(void **state)
{
    (void)state;
    static const char text[] = "UPDATE events SET userid = $1 WHERE userid = $2";
    const rw_statement *statement = parse(text);
    rw_statement changed;
    rw_conditions conditions;
    assert_non_null(statement->otherwise);
    assert_null(statement->change);
    rw_conditions_of(statement, NULL, &reading, &conditions);
    assert_string_equal(rendered(&conditions, text), text);
    assert_true(rw_key_change_of(statement, &arena, &changed));
    assert_non_null(changed.change);
    assert_null(changed.otherwise);
    rw_conditions_of(&changed, NULL, &reading, &conditions);
    assert_non_null(strstr(rendered(&conditions, text), "(\"userid\", \"userhash\") = (SELECT"));
    assert_false(rw_key_change_of(&changed, &arena, &changed));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(keys_are_changed_with_their_hash, teardown),
        cmocka_unit_test_teardown(positions_lead_back, teardown),
        cmocka_unit_test_teardown(declared_parameters_keep_their_types, teardown),
        cmocka_unit_test_teardown(a_parameter_that_is_used_elsewhere_needs_a_type, teardown),
        cmocka_unit_test_teardown(a_change_is_put_in_when_its_parameters_ask_for_it, teardown),
        cmocka_unit_test(only_keys_that_the_server_can_hash_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
