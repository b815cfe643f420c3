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
    const pgw_slice type = line->fields[1];
    rw_table table = {.hash_type =
                          pgw_slice_eq_str(type, "uint64") ? RW_HASH_UINT64 : RW_HASH_INT8};
    if (type.ptr[0] >= '0' && type.ptr[0] <= '9')
        table.buckets = (uint32_t)vector_number(type);
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

/* Partitions of all counts cover all buckets, in their order, and none is empty. */
static void buckets_are_never_cut(void **state)
{
    (void)state;
    for (uint32_t buckets = 2; buckets <= 40; buckets++)
        for (uint32_t count = 1; count <= buckets; count++) {
            const rw_table table = {.buckets = buckets, .partitions = {.count = count}};
            uint32_t last = 0;
            for (uint32_t bucket = 0; bucket < buckets; bucket++) {
                uint32_t partition = rw_partition_of(&table, bucket);
                assert_true(partition == last || partition == last + 1);
                if (partition > last)
                    assert_int_equal(rw_partition_start(&table, partition), bucket);
                last = partition;
            }
            assert_int_equal(last, count - 1);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hashes_are_in_their_partition),
        cmocka_unit_test(starts_of_four_signed_partitions_are_quarters),
        cmocka_unit_test(buckets_are_never_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
