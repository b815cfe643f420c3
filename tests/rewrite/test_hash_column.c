/* What DDL says of the hash: the column, its CHECK, and the partitions. */
#include "rewrite/hash/hash_column.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/rewrite/tables.h"

static void expect(pgw_buf *out, const char *text)
{
    if (!pgw_slice_eq_str(pgw_slice_buf(out), text))
        fail_msg("%.*s\n  not\n%s", (int)out->len, out->ptr, text);
    pgw_buf_clear(out);
}

static void the_column_has_the_hashs_type(void **state)
{
    (void)state;
    rw_table table = test_tables[4];
    pgw_buf out = {0};
    rw_hash_column_define(&table, &out);
    expect(&out, "\"H\" bigint NOT NULL");
    rw_hash_column_partition_by(&table, &out);
    expect(&out, " PARTITION BY RANGE (\"H\")");
    assert_false(rw_hash_column_check(&table, &out));
    assert_int_equal(out.len, 0);
    table.hash_type = RW_HASH_UINT64;
    rw_hash_column_define(&table, &out);
    expect(&out, "\"H\" numeric(20,0) NOT NULL");
    table.hash_function = RW_PG_HASH;
    assert_true(rw_hash_column_check(&table, &out));
    expect(&out, "CHECK (\"H\" = hash_record_extended(ROW(\"n\", \"Text \"\"Id\"\"\"), 0))");
    pgw_buf_free(&out);
}

/* The smallest type, unless the table has it larger, or lists it so. */
static void buckets_are_small_numbers(void **state)
{
    (void)state;
    rw_table table = test_tables[0];
    rw_column columns[8];
    pgw_buf out = {0};
    assert_true(table.column_count <= 8);
    memcpy(columns, table.columns, table.column_count * sizeof *columns);
    table.columns = columns;
    table.buckets = 10;
    table.partitions.count = 3;
    rw_hash_column_define(&table, &out);
    expect(&out, "\"userhash\" smallint NOT NULL");
    columns[table.hash_column].type = PGW_INT4;
    rw_hash_column_define(&table, &out);
    expect(&out, "\"userhash\" integer NOT NULL");
    rw_hash_column_partition_of(&table, 1, &out);
    expect(&out, " PARTITION OF \"public\".\"events\" FOR VALUES FROM (4) TO (7)");
    pgw_buf_free(&out);
}

static void partitions_meet_without_a_gap(void **state)
{
    (void)state;
    rw_table table = test_tables[0];
    pgw_buf out = {0};
    table.partitions.count = 3;
    rw_hash_column_partition(&table, 0, &out);
    expect(&out, "CREATE TABLE \"public\".\"events_p0\" PARTITION OF \"public\".\"events\" FOR "
                 "VALUES FROM (MINVALUE) TO (-3074457345618258602)");
    rw_hash_column_partition(&table, 1, &out);
    expect(&out, "CREATE TABLE \"public\".\"events_p1\" PARTITION OF \"public\".\"events\" FOR "
                 "VALUES FROM (-3074457345618258602) TO (3074457345618258603)");
    rw_hash_column_partition(&table, 2, &out);
    expect(&out, "CREATE TABLE \"public\".\"events_p2\" PARTITION OF \"public\".\"events\" FOR "
                 "VALUES FROM (3074457345618258603) TO (MAXVALUE)");
    pgw_buf_free(&out);
}

static void only_ranges_are_partitions(void **state)
{
    (void)state;
    rw_table table = test_tables[0];
    assert_true(rw_table_is_partitioned(&table));
    table.partitions.count = 1;
    assert_false(rw_table_is_partitioned(&table));
    table.partitions = (rw_partitions){.kind = RW_PARTITION_BUCKETS, .count = 16};
    assert_false(rw_table_is_partitioned(&table));
}

/* PostgreSQL would cut the name, number and all. */
static void long_names_leave_room_for_the_number(void **state)
{
    (void)state;
    char name[64], expected[256];
    rw_table table = test_tables[0];
    pgw_buf out = {0};
    memset(name, 'n', 63);
    name[63] = '\0';
    memcpy(name + 58, "\xc3\xa4", 2); /* would be split */
    table.name = name;
    table.partitions.count = 200;
    rw_hash_column_partition(&table, 123, &out);
    snprintf(expected, sizeof expected, "CREATE TABLE \"public\".\"%.58s_p123\" PARTITION OF",
             name);
    assert_memory_equal(out.ptr, expected, strlen(expected));
    pgw_buf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_column_has_the_hashs_type),
        cmocka_unit_test(buckets_are_small_numbers),
        cmocka_unit_test(partitions_meet_without_a_gap),
        cmocka_unit_test(only_ranges_are_partitions),
        cmocka_unit_test(long_names_leave_room_for_the_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
