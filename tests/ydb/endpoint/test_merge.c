/* Units whose rows can stand in one VALUES list, as the text of one INSERT. */
#include "ydb/endpoint/merge.h"
#include "tests/ydb/endpoint/units.h"

enum { MOST_WRITE_GROUPS = 4 };

static px_write_group *write_groups[MOST_WRITE_GROUPS];
static size_t write_group_count;

static int teardown(void **state)
{
    (void)state;
    while (write_group_count > 0)
        px_write_group_free(write_groups[--write_group_count]);
    assert_int_equal(write_group_identity.references, 1);
    return 0;
}

static void add(px_write_group *write_group)
{
    write_groups[write_group_count++] = write_group;
}

/* What stands in front of it stays, whatever becomes of it. */
static bool merges(size_t most, const char *expected)
{
    pgw_buf text = {0};
    pgw_buf_add_str(&text, "before:");
    bool merged = px_ydb_merge(write_groups, write_group_count, &write_group_catalog, most, &text);
    pgw_buf_add_byte(&text, '\0');
    assert_memory_equal(text.ptr, "before:", 7);
    assert_string_equal(text.ptr + 7, merged ? expected : "");
    pgw_buf_free(&text);
    return merged;
}

static void rows_stand_between_head_and_tail(void **state)
{
    (void)state;
    add(row_write_group(1));
    add(write_group_of(PX_WRITE_GROUP_ROWS, 2));
    source_of(write_groups[1])->rows[0] = PGW_LITERAL("(2), (3)");
    source_of(write_groups[1])->rows[1] = PGW_LITERAL("(4)");
    assert_true(merges(1000, "insert into t values (1),\n(2), (3),\n(4)"));
    write_groups[0]->tail = PGW_LITERAL(" on conflict do nothing");
    assert_true(merges(1000, "insert into t values (1),\n(2), (3),\n(4) on conflict do nothing"));
}

static void a_text_has_a_longest_length(void **state)
{
    (void)state;
    static const char text[] = "insert into t values (1),\n(2)";
    add(row_write_group(1));
    add(row_write_group(2));
    assert_true(merges(strlen(text), text));
    assert_false(merges(strlen(text) - 1, text));
}

static void whole_statements_are_not_merged(void **state)
{
    (void)state;
    add(write_group_of(PX_WRITE_GROUP_TEXT, 1));
    add(write_group_of(PX_WRITE_GROUP_TEXT, 1));
    assert_false(merges(1000, ""));
}

/* Two executions of a statement with parameters (5, 'a''b') and (6, NULL). */
static void bind_two(const char *text, const uint32_t *types, size_t type_count)
{
    teardown(NULL);
    add(bound_write_group(text, types, type_count, "5 a'b"));
    add(bound_write_group(text, types, type_count, "6 -"));
}

static void parameters_are_constants_of_their_types(void **state)
{
    (void)state;
    static const uint32_t types[] = {23, 1043}, none[] = {0, 0};
    static const struct {
        const char *text, *merged;
        const uint32_t *types;
        size_t count;
    } table[] = {
        /* as they are declared, … */
        {"insert into t (k, v) values ($1, $2)",
         "insert into t (k, v) values ('5'::int4, 'a''b'::varchar),\n"
         "('6'::int4, NULL::varchar)",
         types, 2},
        /* … or as their columns are */
        {"insert into t (k, v) values ($1, $2)",
         "insert into t (k, v) values ('5'::int8, 'a''b'::text),\n"
         "('6'::int8, NULL::text)",
         none, 0},
        {"INSERT INTO t (v, k) VALUES ($2, $1), ('values ($1)', 7)",
         "INSERT INTO t (v, k) VALUES ('a''b'::text, '5'::int8), ('values ($1)', "
         "7),\n"
         "(NULL::text, '6'::int8), ('values ($1)', 7)",
         none, 2},
        {"insert into t (k, v) values (($1 + (1)), $2) on conflict (k) do update set v = "
         "excluded.v",
         "insert into t (k, v) values (('5'::int4 + (1)), 'a''b'::varchar),\n"
         "(('6'::int4 + (1)), NULL::varchar) on conflict (k) do update set v = "
         "excluded.v",
         types, 2},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        bind_two(table[i].text, table[i].types, table[i].count);
        assert_true(merges(1000, table[i].merged));
        assert_true(merges(strlen(table[i].merged), table[i].merged));
        assert_false(merges(strlen(table[i].merged) - 1, ""));
    }
}

/* What stands behind the rows would be another thing for all of them. */
static void what_looks_at_its_rows_stays_alone(void **state)
{
    (void)state;
    static const uint32_t types[] = {20, 25};
    static const char *const texts[] = {
        "insert into t (k, v) values ($1, $2) on conflict do nothing",
        "insert into t (k, v) values ($1, 'a') on conflict (k) do update set v = $2",
        "insert into t (k, v) values ($1, $2) on conflict (k) do update set v = 'x' where t.k > 1",
        "insert into t (k, v) values ($1, $2) returning k",
        "insert into t (k, v) values ($1, $2) on conflict (k) do update set v = 'x' returning k",
        "insert into t (k, v) select $1, $2",
        "insert into t (k, v) values",
        "insert into t default values",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        bind_two(texts[i], types, 2);
        assert_false(merges(1000, ""));
    }
}

static void what_gives_rows_or_is_several_stays_alone(void **state)
{
    (void)state;
    static const uint32_t types[] = {20, 25};
    static const char text[] = "insert into t (k, v) values ($1, $2)";
    bind_two(text, types, 2);
    write_groups[0]->prepared->columns = PGW_LITERAL("\0\0");
    assert_false(merges(1000, ""));
    bind_two(text, types, 2);
    write_groups[0]->prepared_count = 2;
    assert_false(merges(1000, ""));
    write_groups[0]->prepared_count = 1; /* There is memory for one alone. */
}

static void what_is_no_execution_stays_alone(void **state)
{
    (void)state;
    static const uint32_t types[] = {20, 25};
    static const char text[] = "insert into t (k, v) values ($1, $2)";
    add(bound_write_group(text, types, 2, "5 a"));
    add(bound_write_group(text, types, 2, "6 b"));
    write_groups[1]->statements[0].messages = PGW_LITERAL("E\0\0\0\x09\0\0\0\0\0");
    assert_false(merges(1000, ""));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_teardown(name, teardown)
    const struct CMUnitTest tests[] = {
        TEST(rows_stand_between_head_and_tail),   TEST(a_text_has_a_longest_length),
        TEST(whole_statements_are_not_merged),    TEST(parameters_are_constants_of_their_types),
        TEST(what_looks_at_its_rows_stays_alone), TEST(what_gives_rows_or_is_several_stays_alone),
        TEST(what_is_no_execution_stays_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
