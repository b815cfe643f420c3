#include "proxy/backend/places/maps.h"

#include <stdlib.h>
#include <string.h>

struct px_known_map {
    struct px_known_map *next;
    px_map *map; /* counted */
};

px_map *px_map_new(const char *schema, const char *name, rw_hash_type type,
                   rw_partitions partitions)
{
    px_map *map = pgw_calloc(1, sizeof *map);
    map->references = 1;
    map->schema = pgw_strndup(schema, strlen(schema));
    map->name = pgw_strndup(name, strlen(name));
    map->type = type;
    map->partitions = partitions;
    return map;
}

void px_map_drop(px_map *map)
{
    if (map == NULL || atomic_fetch_sub(&map->references, 1) > 1)
        return;
    free(map->schema);
    free(map->name);
    free(map->partitions.at);
    free(map);
}

/* ---- to the workers ---- */

typedef struct delivery {
    px_message message;
    px_map *map;
} delivery;

static bool is_of(const px_map *map, const char *schema, const char *name)
{
    return strcmp(map->name, name) == 0 && strcmp(map->schema, schema) == 0;
}

static void receive(px_worker *worker, px_message *message)
{
    px_map *map = ((delivery *)message)->map;
    struct px_known_map *known = worker->maps;
    free(message);
    while (known != NULL && !is_of(known->map, map->schema, map->name))
        known = known->next;
    if (known == NULL) {
        known = pgw_calloc(1, sizeof *known);
        known->next = worker->maps;
        worker->maps = known;
    }
    px_map_drop(known->map);
    known->map = map;
}

void px_map_send(px_server *server, px_map *map)
{
    for (unsigned i = 0; i < server->worker_count; i++) {
        delivery *d = pgw_alloc(sizeof *d);
        *d = (delivery){.message.run = receive, .map = map};
        atomic_fetch_add(&map->references, 1);
        px_worker_send(&server->workers[i], &d->message);
    }
}

void px_maps_free(px_worker *worker)
{
    while (worker->maps != NULL) {
        struct px_known_map *known = worker->maps;
        worker->maps = known->next;
        px_map_drop(known->map);
        free(known);
    }
}

/* ---- what a worker knows ---- */

static const rw_partitions *find(const px_worker *worker, const rw_table *table)
{
    if (!table->partitions.discovered)
        return NULL;
    for (const struct px_known_map *known = worker->maps; known != NULL; known = known->next) {
        const px_map *map = known->map;
        if (is_of(map, table->schema, table->name))
            return map->partitions.count > 0 && map->type == table->hash_type ? &map->partitions
                                                                              : NULL;
    }
    return NULL;
}

uint32_t px_map_discovered(const px_worker *worker, const rw_table *table, uint64_t hash)
{
    const rw_partitions *map = find(worker, table);
    return map != NULL ? rw_partition_in(map, table->hash_type, hash)
                       : rw_partition_of(table, hash);
}

uint32_t px_map_count(const px_worker *worker, const rw_table *table)
{
    const rw_partitions *map = find(worker, table);
    return map != NULL ? map->count : table->partitions.count;
}
