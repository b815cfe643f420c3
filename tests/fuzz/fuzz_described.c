/*
 * fuzz_described: any bytes as what monitoring says of a table. The first byte chooses the type of
 * the hash. What is taken for a map is one: its boundaries ascend, and each begins its partition.
 */
#include "ydb/places/described.h"
#include "rewrite/hash/partition.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    rw_hash_type type = data[0] % 2 == 0 ? RW_HASH_INT8 : RW_HASH_UINT64;
    uint32_t buckets = data[0] % 4 == 2 ? 16 : 0;
    rw_partitions map = {0};
    pgw_slice json = {(const char *)data + 1, size - 1};
    if (rw_partitions_described(json, "h", type, buckets, &map) != NULL) {
        require(map.at == NULL);
        return 0;
    }
    require(map.kind == RW_PARTITION_AT && map.count > 0);
    for (uint32_t i = 1; i < map.count; i++)
        require(rw_partition_in(&map, type, map.at[i - 1]) == i);
    free(map.at);
    return 0;
}
