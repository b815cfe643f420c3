/*
 * partitions: which ranges of the hash column each table is cut into, and when each partition has
 * time: it executes one request at a time, and a request holds all that it touches (3).
 *
 * A table that nobody told of has one partition. All functions may be called by any thread.
 */
#ifndef YE_PARTITIONS_H
#define YE_PARTITIONS_H

#include "tests/ydb_endpoint/status.h"

#include <pthread.h>

enum { YE_TABLES = 64, YE_PARTITIONS = 256 };

typedef struct ye_partition {
    uint64_t id;
    uint64_t begin;     /* the first value of the hash column, as an ordinal; it ends before the
                           next partition's */
    int64_t busy_until; /* ns of the monotonic clock */
    int64_t away_until; /* … a split or merge is under way */
    uint64_t requests, rows;
    uint64_t mark; /* of the request that touches it */
} ye_partition;

typedef struct ye_table {
    char name[64], column[64];
    unsigned position; /* of the hash column, from 0 */
    bool is_unsigned;  /* its type is Uint64, not int8 */
    uint64_t buckets;  /* Its type is int2, and its values are those below this; 0: it is int8. */
    char key[4][64];   /* The columns of the key behind it; "": none, or nobody told. */
    size_t count;
    ye_partition partitions[YE_PARTITIONS];
} ye_table;

typedef struct ye_map {
    pthread_mutex_t lock;
    size_t count;
    ye_table tables[YE_TABLES];
    uint64_t last_id, last_mark;
    ye_status away; /* what a request is told that touches a partition that is away */
} ye_map;

/* Values of a table's hash column that a request touches, both ends included. Ordinals: values of
 * the type in their order, from 0 on. */
typedef struct ye_range {
    size_t table; /* its number in the map */
    uint64_t low, high;
} ye_range;

typedef struct ye_price {
    int64_t request_us, row_us;
    int64_t factor; /* of a request that touches more than one partition */
    int64_t begun;  /* when it came, ns of the monotonic clock: what the store takes is part of its
                       time, not added to it */
} ye_price;

/* Adds a table: "name,column=userhash,position=1,uniform=16" and perhaps "unsigned", "buckets=16"
 * or "key=userid:ts". False: that is not understood. */
PGW_MUST_CHECK bool ye_map_add(ye_map *map, const char *description);
/* The number of the table of that name, which there is from now on; YE_TABLES if there are too
 * many. What of the table does not change may be read without the lock. */
size_t ye_map_find(ye_map *map, const char *name);
/* The table as it is now. False: there are too many tables. */
PGW_MUST_CHECK bool ye_map_copy(ye_map *map, const char *name, ye_table *table);
/* False: a partition is away, and `failure` says so. */
PGW_MUST_CHECK bool ye_map_admit(ye_map *map, const ye_range *ranges, size_t count,
                                 ye_failure *failure);
/* A request for `rows` rows; the partitions that it touches are busy with it, one after another.
 * Returns when it is through, in ns of the monotonic clock; `touched` is how many they are. */
int64_t ye_map_request(ye_map *map, const ye_range *ranges, size_t count, uint64_t rows,
                       const ye_price *price, size_t *touched);
/* Cuts a partition in the middle, or makes one of it and the next; they are away for `ms`. False:
 * there is no such partition, or no room. */
PGW_MUST_CHECK bool ye_map_split(ye_map *map, const char *table, size_t partition, long ms);
PGW_MUST_CHECK bool ye_map_merge(ye_map *map, const char *table, size_t partition, long ms);
/* Who has had how many requests, as JSON. */
void ye_map_write(ye_map *map, pgw_buf *out);
int64_t ye_now(void);

#endif
