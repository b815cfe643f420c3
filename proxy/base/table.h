/*
 * table: from names to what bears them: a hash table with chains through its members. It grows by
 * one bucket a member (linear hashing), so that no turn pays for all that a client has.
 */
#ifndef PX_TABLE_H
#define PX_TABLE_H

#include "protocol/bytes.h"

/* Embedded as the first member of what is in the table. */
typedef struct px_entry {
    struct px_entry *next;
    uint64_t hash;
    pgw_slice name; /* lives as long as the entry is in the table */
} px_entry;

/* All zero is an empty one. */
typedef struct px_table {
    px_entry **buckets;
    size_t bucket_count, room; /* `room` is a power of two */
    size_t count;
    uint64_t seed; /* of the hash, so that nobody can make names that meet */
} px_table;

px_entry *px_table_find(const px_table *table, pgw_slice name); /* NULL: there is none */
/* None of this name is there. The entry is its owner's. */
void px_table_add(px_table *table, px_entry *entry, pgw_slice name);
px_entry *px_table_remove(px_table *table, pgw_slice name); /* what was there, or NULL */
/* Forgets all; what was in it is for its owner to free. */
void px_table_clear(px_table *table);
void px_table_free(px_table *table); /* … and its memory */

#endif
