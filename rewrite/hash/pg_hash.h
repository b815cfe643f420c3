/*
 * pg_hash: hash_record_extended() of PostgreSQL with seed 0: Bob Jenkins' lookup3 over each type's
 * own bytes, and the columns' hashes folded by r = r * 31 + h.
 */
#ifndef RW_PG_HASH_H
#define RW_PG_HASH_H

#include "protocol/value.h"

/* hash_record_extended(ROW(values…), 0) of PostgreSQL 15, bit for bit. The types were checked by
 * rw_hash_supports(). */
uint64_t rw_pg_hash(const pgw_value *values, size_t count);

#endif
