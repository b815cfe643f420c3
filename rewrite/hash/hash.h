/*
 * hash: the hash of a key, by one of the four functions that put a row into its place; two of them
 * have files of their own.
 */
#ifndef RW_HASH_H
#define RW_HASH_H

#include "protocol/decimal.h"
#include "rewrite/hash/table.h"

/* The functions themselves, on canonical bytes (value_canonical.h). */
uint64_t rw_xxh3(pgw_slice bytes);        /* XXH3_64bits, no seed; YQL's Digest::XXH3 */
uint64_t rw_numeric_hash(uint64_t value); /* Thomas Wang's mix; YQL's Digest::NumericHash */

/* Whether `function` takes these column types; on false the error says which and why. */
PGW_MUST_CHECK bool rw_hash_supports(rw_hash_function function, const uint32_t *types, size_t count,
                                     pgw_error *error);
/* All 64 bits of the table's hash of these hash_key values (in hash_key order, already as
 * stored). */
uint64_t rw_hash_whole(const rw_table *table, const pgw_value *values);
/* What the hash column holds: the whole hash, or its bucket, the unsigned hash modulo `buckets`. */
static inline uint64_t rw_hash_stored(const rw_table *table, uint64_t whole)
{
    return table->buckets == 0 ? whole : whole % table->buckets;
}
/* What the hash column of a row with these hash_key values holds. */
static inline uint64_t rw_hash_key(const rw_table *table, const pgw_value *values)
{
    return rw_hash_stored(table, rw_hash_whole(table, values));
}
/* What the hash column holds for a key of one smallint, integer or bigint. */
uint64_t rw_hash_integer(const rw_table *table, int64_t value);
/* Writes the hash as SQL does for the table's hash_type, signed for int8, unsigned for uint64, to
 * where there is room for PGW_DECIMAL_ROOM bytes. Returns its end. */
static inline char *rw_hash_put(const rw_table *table, uint64_t hash, char *to)
{
    uint64_t minus = table->hash_type == RW_HASH_INT8 ? hash >> 63 : 0;
    *to = '-';
    return pgw_put_digits(to + minus, (hash ^ -minus) + minus); /* no branch: signs are random */
}
/* Appends it. */
void rw_hash_print(const rw_table *table, uint64_t hash, pgw_buf *out);
/* The expression that recomputes what the hash column holds in PostgreSQL or in YQL, or NULL if
 * there is none. Arena-owned. */
char *rw_hash_expression(const rw_table *table, bool yql, pgw_arena *arena);
const char *rw_hash_function_name(rw_hash_function function); /* name in the configuration */

#endif
