#include "rewrite/hash/partition.h"

uint32_t rw_partition_in(const rw_partitions *map, rw_hash_type type, uint64_t hash)
{
    uint64_t wanted = rw_hash_ordered(type, hash);
    uint32_t low = 0, high = map->count > 0 ? map->count - 1 : 0;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (rw_hash_ordered(type, map->at[middle]) <= wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint64_t rw_partition_start(const rw_table *table, uint32_t number)
{
    if (table->partitions.kind == RW_PARTITION_AT)
        return table->partitions.at[number - 1];
    /* The least p with floor(p * N / 2^64) = number, or floor(p * N / buckets). */
    uint32_t count = table->partitions.count;
    if (table->buckets > 0)
        return ((uint64_t)number * table->buckets + count - 1) / count;
    unsigned __int128 product = ((unsigned __int128)number << 64) + count - 1;
    return rw_hash_ordered(table->hash_type, (uint64_t)(product / count));
}
