/*
 * reads: how a statement reads configured tables: by their keys, by seeks, or whole. Found in its
 * tree (reads_tree.h), the same for each text of its shape, and told to people and metrics.
 */
#ifndef RW_READS_H
#define RW_READS_H

#include "rewrite/statement/lookup/lookup.h"

typedef enum rw_read_kind {
    RW_READ_KEY,  /* a condition asks for the hash: one partition for each key */
    RW_READ_SEEK, /* an index finds the place where it begins, in each partition */
    RW_READ_SCAN, /* no condition says where the reading could begin or stop */
    RW_READ_KINDS
} rw_read_kind;

/* A table where it stands in a FROM, an UPDATE or a DELETE. */
typedef struct rw_read {
    uint32_t table;    /* index of the table in the catalog */
    uint32_t name;     /* the token of the table's name, as a lookup of it has it */
    rw_read_kind kind; /* a seek or a scan, unless a condition on the hash makes it RW_READ_KEY */
    bool row;          /* a whole primary key is asked for */
    uint32_t buckets;  /* buckets in each of which a seek begins; 0: one begins in each partition */
    uint32_t asked;    /* 1 + index of the column that a condition or the order of a scan is about,
                          preferably the first of the key; 0: there is none */
} rw_read;

/* All reads of a statement. The map has no pointers but into itself, so that it can be kept. */
typedef struct rw_read_map {
    size_t size; /* bytes, with all that it points to */
    uint32_t count;
    const rw_read *reads;
    const char *shape; /* the statement with `?` for constants, cut off if it is long; "" if it has
                          no RW_READ_SCAN */
} rw_read_map;

enum {
    RW_READS_MAX = 16,      /* reads of a statement; further tables are left out */
    RW_READ_SHAPE_MAX = 200 /* bytes of a shape */
};

/* Makes a map, in the arena, of an array of reads (at least one). `tokens` are the text's. */
const rw_read_map *rw_read_map_make(const pgw_buf *reads, pgw_slice text, const rw_token *tokens,
                                    size_t count, pgw_arena *arena);
/* A copy of the map, freed by free(). */
rw_read_map *rw_read_map_copy(const rw_read_map *map);
/* A copy of the map in the arena; NULL if `map` is NULL. */
const rw_read_map *rw_read_map_keep(const rw_read_map *map, pgw_arena *arena);
/* The kind of a read, given the lookups whose conditions were put in. `found`: a lookup of the same
 * table, or NULL. */
rw_read_kind rw_read_is(const rw_read *read, const rw_lookup *const *lookups, size_t count,
                        const rw_lookup **found);

#endif
