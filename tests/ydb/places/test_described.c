/* Partitions as they are described, in every form that is known, and in many that are none. */
#include "protocol/value.h"
#include "ydb/places/described.h"
#include "rewrite/hash/hash.h"
#include "rewrite/hash/partition.h"
#include "tests/protocol/value_vectors.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static unsigned wrong;

static void check_map(const rw_table *table, pgw_buf *got)
{
    const rw_partitions *map = &table->partitions;
    assert_int_equal(map->kind, RW_PARTITION_AT);
    for (uint32_t i = 1; i < map->count; i++) {
        pgw_buf_add_str(got, i > 1 ? " " : "");
        rw_hash_print(table, map->at[i - 1], got);
        assert_int_equal(rw_partition_in(map, table->hash_type, map->at[i - 1]), i);
    }
}

static void check_description(const vector_line *line)
{
    pgw_buf got = {0};
    uint32_t buckets = pgw_slice_eq_str(line->fields[1], "bucket") ? 1024 : 0;
    rw_table table = {.hash_type = pgw_slice_eq_str(line->fields[1], "uint64") ? RW_HASH_UINT64
                                                                               : RW_HASH_INT8};
    const char *reason =
        rw_partitions_described(line->fields[0], "h", table.hash_type, buckets, &table.partitions);
    if (reason != NULL)
        pgw_buf_add_str(&got, reason);
    else
        check_map(&table, &got);
    wrong += !vector_same(line, line->fields[2], &got);
    free(table.partitions.at);
    pgw_buf_free(&got);
}

static void descriptions_are_understood_or_not(void **state)
{
    (void)state;
    wrong = 0;
    assert_true(vector_each(VECTORS "/described.txt", check_description) > 40);
    assert_int_equal(wrong, 0);
}

/* Wherever it is cut off, it is no map. */
static void cut_descriptions_are_none(void **state)
{
    (void)state;
    static const char text[] = "{\"Table\":{\"SplitBoundary\":[{\"KeyPrefix\":{\"Tuple\":[{"
                               "\"Optional\":{\"Int64\":\"5\"}}]}}]}}";
    rw_partitions map;
    for (size_t len = 0; len + 1 < sizeof text - 1; len++) {
        char *copy = malloc(len + 1); /* nothing is read behind it */
        memcpy(copy, text, len);
        assert_non_null(
            rw_partitions_described((pgw_slice){copy, len}, "h", RW_HASH_INT8, 0, &map));
        free(copy);
    }
}

static void what_is_too_much_is_none(void **state)
{
    (void)state;
    pgw_buf text = {0};
    rw_partitions map;
    for (int i = 0; i < 100000; i++)
        pgw_buf_add_byte(&text, '[');
    assert_string_equal(rw_partitions_described(pgw_slice_buf(&text), "h", RW_HASH_INT8, 0, &map),
                        "it is no JSON");
    while (text.len <= RW_DESCRIBED_MOST)
        pgw_buf_add_str(&text, "                                                                ");
    assert_string_equal(rw_partitions_described(pgw_slice_buf(&text), "h", RW_HASH_INT8, 0, &map),
                        "it is too long");
    pgw_buf_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(descriptions_are_understood_or_not),
        cmocka_unit_test(cut_descriptions_are_none),
        cmocka_unit_test(what_is_too_much_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
