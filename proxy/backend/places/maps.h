/*
 * maps: the partitions of tables as they were discovered. Each worker has its own list, and gets a
 * newer map as a message, so that no map changes while a statement is looked at. A wrong one costs
 * speed only: the store itself knows where rows belong.
 */
#ifndef PX_MAPS_H
#define PX_MAPS_H

#include "proxy/base/shared.h"
#include "proxy/loop/worker.h"
#include "rewrite/hash/partition.h"

#include <stdatomic.h>

/* The partitions of one table. Immutable, but for the count, and shared by the workers. */
typedef struct px_map {
    _Atomic unsigned references;
    char *schema, *name; /* schema and name of the table */
    rw_hash_type type;
    rw_partitions partitions; /* partitions.count 0: they are not known any more */
} px_map;

/* Makes a map with one reference, which takes `partitions.at` over. */
px_map *px_map_new(const char *schema, const char *name, rw_hash_type type,
                   rw_partitions partitions);
void px_map_drop(px_map *map); /* NULL is fine */
/* Sends the map to all workers, which put it in place of an older one of the same table. Any
 * thread. */
void px_map_send(px_server *server, px_map *map);

/* The partition of rows with this hash, and how many partitions there are: by the worker's map, if
 * partitions of the table are discovered and there is one; else by the configuration. */
uint32_t px_map_discovered(const px_worker *worker, const rw_table *table, uint64_t hash);
static inline uint32_t px_map_partition(const px_worker *worker, const rw_table *table,
                                        uint64_t hash)
{
    return table->partitions.discovered ? px_map_discovered(worker, table, hash)
                                        : rw_partition_of(table, hash);
}
uint32_t px_map_count(const px_worker *worker, const rw_table *table);
void px_maps_free(px_worker *worker);

#endif
