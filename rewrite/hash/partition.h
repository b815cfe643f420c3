/*
 * partition: from a hash to the number of the partition that holds it.
 */
#ifndef RW_PARTITION_H
#define RW_PARTITION_H

#include "rewrite/hash/table.h"

/* Maps a hash, signed or unsigned, to the same unsigned order; the map is its own inverse. */
static inline uint64_t rw_hash_ordered(rw_hash_type type, uint64_t hash)
{
    return type == RW_HASH_INT8 ? hash ^ UINT64_C(1) << 63 : hash;
}

/* The number of a partition, from 0, by a given map, whose kind must be RW_PARTITION_AT. */
uint32_t rw_partition_in(const rw_partitions *map, rw_hash_type type, uint64_t hash);
/* The partition, from 0, for what the hash column holds. uniform and buckets: floor(p·N / 2^64)
 * with p the hash, its top bit flipped for int8 so that order is kept; with hash buckets p is the
 * bucket: floor(p·N / buckets); at: how many boundaries are not greater than the hash. */
static inline uint32_t rw_partition_of(const rw_table *table, uint64_t hash)
{
    if (table->partitions.kind == RW_PARTITION_AT)
        return rw_partition_in(&table->partitions, table->hash_type, hash);
    if (table->buckets > 0)
        return (uint32_t)(hash * table->partitions.count / table->buckets);
    unsigned __int128 product =
        (unsigned __int128)rw_hash_ordered(table->hash_type, hash) * table->partitions.count;
    return (uint32_t)(product >> 64);
}
/* The first hash of partition `number` (> 0) as a bit pattern: what DDL needs. */
uint64_t rw_partition_start(const rw_table *table, uint32_t number);

#endif
