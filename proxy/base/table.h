/*
 * table: a hash table from names to entries, with chains through its members. It grows by one
 * bucket a member (linear hashing), so that no turn pays for all that a client has.
 */
#ifndef PX_TABLE_H
#define PX_TABLE_H

#include "protocol/bytes.h"

/* Embedded as the first member of what a table holds. */
typedef struct px_entry {
    struct px_entry *next;
    uint64_t hash;
    pgw_slice name; /* lives as long as the entry is in the table */
} px_entry;

/* An empty table is all zero. */
typedef struct px_table {
    px_entry **buckets;
    uint32_t bucket_count, room; /* `room` is a power of two */
    uint32_t count; /* Each session has several tables, so they are as small as they may be. */
} px_table;

px_entry *px_table_find(const px_table *table, pgw_slice name); /* NULL if there is none */
/* Adds an entry, which stays its owner's. The table must hold none of this name. */
void px_table_add(px_table *table, px_entry *entry, pgw_slice name);
px_entry *px_table_remove(px_table *table, pgw_slice name); /* returns the removed entry, or NULL */
/* Removes all entries, which are for their owners to free. */
void px_table_clear(px_table *table);
void px_table_free(px_table *table); /* Removes all entries, and frees the table's memory. */

#endif
