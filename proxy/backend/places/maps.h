/*
 * maps: the partitions of tables as they were discovered. Each worker has its own list, and gets a
 * newer map as a message, so that no map changes while a statement is looked at. A wrong one costs
 * speed only: the store itself knows where rows belong.
 */
#ifndef PX_MAPS_H
#define PX_MAPS_H

#include "proxy/base/shared.h"
#include "proxy/loop/worker.h"
#include "rewrite/hash/table.h"

#include <stdatomic.h>

/* Immutable, and shared by the workers. */
typedef struct px_map {
    _Atomic unsigned references;
    char *schema, *name; /* of the table */
    rw_hash_type type;
    rw_partitions partitions; /* count 0: they are not known any more */
} px_map;

/* With one reference. `partitions.at` is given away. */
px_map *px_map_new(const char *schema, const char *name, rw_hash_type type,
                   rw_partitions partitions);
void px_map_drop(px_map *map); /* NULL is fine */
/* Any thread. Every worker has it soon, in place of an older one of the same table. */
void px_map_send(px_server *server, px_map *map);

/* Where rows with this hash are, and how many partitions there are: by the map of the worker, if
 * the table's are to be discovered and it has one. */
uint32_t px_map_partition(const px_worker *worker, const rw_table *table, uint64_t hash);
uint32_t px_map_count(const px_worker *worker, const rw_table *table);
void px_maps_free(px_worker *worker);

#endif
