/*
 * key: the keys and hashes of a parsed INSERT's rows, when its parameters are known.
 */
#ifndef RW_KEY_H
#define RW_KEY_H

#include "rewrite/insert/insert.h"

/* Makes the key of one row: the primary key columns' values as stored (values[i] is valid where
 * known[i]), `hash`, which the hash column holds, and `whole`, all 64 bits, of which a table with
 * hash buckets stores less. Checks the client's own hash column (22023) and NULLs (23502), where
 * the backend does not reject them itself. PGW_UNKNOWABLE comes with error 0A000 (table, column,
 * hint), to be used unless the table forwards. */
typedef struct rw_key {
    uint64_t hash, whole;
    uint32_t partition;
    pgw_value *values; /* primary_key_count values */
    bool *known;
    bool all_known;
} rw_key;
PGW_MUST_CHECK pgw_verdict rw_insert_key(const rw_insert *insert, size_t row, rw_params params,
                                         const pgw_reading *reading, rw_key *key);

/* For UPSERT and REPLACE: marks the rows whose key a later row has too (the last one wins), given
 * the row_count keys of the statement; rows whose keys are not all known are left alone. Returns
 * how many are marked, which the command tag counts all the same. Does nothing for INSERT. */
size_t rw_insert_supersede(rw_insert *insert, const rw_key *keys, pgw_arena *arena);

#endif
