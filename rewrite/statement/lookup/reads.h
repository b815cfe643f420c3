/*
 * reads: how a statement reads configured tables: by their keys, by seeks, or whole. Found in its
 * tree (reads_tree.h), the same for each text of its shape, and told to people and metrics.
 */
#ifndef RW_READS_H
#define RW_READS_H

#include "rewrite/statement/lookup/lookup.h"

typedef enum rw_read_kind {
    RW_READ_KEY,  /* the hash is asked for: one partition a key */
    RW_READ_SEEK, /* an index finds the place where it begins, in each partition */
    RW_READ_SCAN, /* nothing says where it could begin, or stop */
    RW_READ_KINDS
} rw_read_kind;

/* A table where it stands in a FROM, an UPDATE or a DELETE. */
typedef struct rw_read {
    uint32_t table;    /* Its place in the catalog, from 0. */
    uint32_t name;     /* the token of the table's name, as a lookup of it has it */
    rw_read_kind kind; /* if the hash is not asked for: a seek or a scan */
    bool row;          /* a whole primary key is asked for */
    uint32_t buckets;  /* of a seek: one in each of so many; 0: one in each partition */
    uint32_t asked; /* 1 + the column that a condition or the order of a scan is about, the first of
                       the key before others; 0: there is none. */
} rw_read;

/* All of a statement's. No pointers but into itself, so that it can be kept. */
typedef struct rw_read_map {
    size_t size; /* bytes, with all that it points to */
    uint32_t count;
    const rw_read *reads;
    const char *shape; /* the text, with `?` for constants, cut off where it is long; "" if all
                          reads are of keys */
} rw_read_map;

enum {
    RW_READS_MAX = 16,      /* So many tables of a statement are told of. */
    RW_READ_SHAPE_MAX = 200 /* bytes of a shape */
};

/* Of an array of reads, at least one, in the arena. `tokens` are the text's. */
const rw_read_map *rw_read_map_make(const pgw_buf *reads, pgw_slice text, const rw_token *tokens,
                                    size_t count, pgw_arena *arena);
/* A copy, freed by free(). */
rw_read_map *rw_read_map_copy(const rw_read_map *map);
/* A copy in the arena; NULL of NULL. */
const rw_read_map *rw_read_map_keep(const rw_read_map *map, pgw_arena *arena);
/* What a read is by the lookups whose conditions were put in. `found`: one of them that is this
 * read's, or NULL. */
rw_read_kind rw_read_is(const rw_read *read, const rw_lookup *const *lookups, size_t count,
                        const rw_lookup **found);

#endif
