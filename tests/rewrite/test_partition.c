/* From hashes to partitions and back. */
#include "rewrite/hash/partition.h"
#include "tests/protocol/value_vectors.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

enum { MOST_BOUNDARIES = 8 };

static unsigned wrong;

static rw_table read_table(const vector_line *line, uint64_t at[MOST_BOUNDARIES])
{
    rw_table table = {.hash_type = pgw_slice_eq_str(line->fields[1], "int8") ? RW_HASH_INT8
                                                                             : RW_HASH_UINT64};
    rw_partitions *map = &table.partitions;
    if (!pgw_slice_eq_str(line->fields[0], "at")) {
        bool buckets = pgw_slice_eq_str(line->fields[0], "buckets");
        map->kind = buckets ? RW_PARTITION_BUCKETS : RW_PARTITION_UNIFORM;
        map->count = (uint32_t)vector_number(line->fields[2]);
        return table;
    }
    map->kind = RW_PARTITION_AT;
    map->at = at;
    char copy[128] = "", *rest = NULL;
    memcpy(copy, line->fields[2].ptr, line->fields[2].len);
    for (char *word = strtok_r(copy, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest))
        at[map->count++] = (uint64_t)vector_number(pgw_slice_str(word));
    map->count++;
    return table;
}

static void check_partition(const vector_line *line)
{
    uint64_t at[MOST_BOUNDARIES];
    pgw_buf got = {0};
    rw_table table = read_table(line, at);
    uint64_t hash = (uint64_t)vector_number(line->fields[3]);
    uint32_t partition = rw_partition_of(&table, hash);
    pgw_buf_addf(&got, "%u", partition);
    wrong += !vector_same(line, line->fields[4], &got);
    pgw_buf_free(&got);
    /* It begins at its own start, and the hash before that is in the partition before it. */
    if (partition > 0) {
        uint64_t start = rw_partition_start(&table, partition);
        assert_int_equal(rw_partition_of(&table, start), partition);
        assert_int_equal(rw_partition_of(&table, start - 1), partition - 1);
    }
}

static void hashes_are_in_their_partition(void **state)
{
    (void)state;
    wrong = 0;
    assert_true(vector_each(VECTORS "/partitions.txt", check_partition) > 100);
    assert_int_equal(wrong, 0);
}

static void starts_of_four_signed_partitions_are_quarters(void **state)
{
    (void)state;
    rw_table table = {.hash_type = RW_HASH_INT8, .partitions = {.count = 4}};
    assert_int_equal((int64_t)rw_partition_start(&table, 1), INT64_C(-4611686018427387904));
    assert_int_equal((int64_t)rw_partition_start(&table, 2), 0);
    assert_int_equal((int64_t)rw_partition_start(&table, 3), INT64_C(4611686018427387904));
    table.hash_type = RW_HASH_UINT64;
    assert_int_equal(rw_partition_start(&table, 2), UINT64_C(1) << 63);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hashes_are_in_their_partition),
        cmocka_unit_test(starts_of_four_signed_partitions_are_quarters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
