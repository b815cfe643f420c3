/*
 * partition: from a hash to the number of the partition that holds it.
 */
#ifndef RW_PARTITION_H
#define RW_PARTITION_H

#include "rewrite/hash/table.h"

/* The partition, from 0, for what the hash column holds. uniform and buckets: floor(p·N / 2^64)
 * with p the hash, its top bit flipped for int8 so that order is kept; with hash buckets p is the
 * bucket: floor(p·N / buckets); at: how many boundaries are not greater than the hash. */
uint32_t rw_partition_of(const rw_table *table, uint64_t hash);
/* The number of a partition, from 0, by a given map, whose kind must be RW_PARTITION_AT. */
uint32_t rw_partition_in(const rw_partitions *map, rw_hash_type type, uint64_t hash);
/* The first hash of partition `number` (> 0) as a bit pattern: what DDL needs. */
uint64_t rw_partition_start(const rw_table *table, uint32_t number);

#endif
