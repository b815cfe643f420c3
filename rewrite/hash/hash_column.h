/*
 * hash_column: what PostgreSQL's DDL says of a table's hash: the column, the CHECK that guards it,
 * and the partitions by it. For `keyspread ddl`, and a client's CREATE TABLE.
 */
#ifndef RW_HASH_COLUMN_H
#define RW_HASH_COLUMN_H

#include "rewrite/hash/table.h"

/* The type of a hash column that is made: "bigint", "numeric(20,0)"; for a table with hash buckets
 * "smallint", or "integer" where the table has or lists the column with that type. */
const char *rw_hash_column_type(const rw_table *table);
/* Appends `"h" bigint NOT NULL`. */
void rw_hash_column_define(const rw_table *table, pgw_buf *out);
/* Appends `CHECK ("h" = …)`. False: no expression of the backend's computes the hash, and nothing
 * is appended. */
bool rw_hash_column_check(const rw_table *table, pgw_buf *out);
/* Appends a key that is made for the table: `"h", a, b` of the columns `a, b`, or `a, b, "h"`. */
void rw_hash_column_key(const rw_table *table, pgw_slice columns, pgw_buf *out);
/* Whether the table is to be cut into partitions. */
bool rw_table_is_partitioned(const rw_table *table);
/* Appends ` PARTITION BY RANGE ("h")`. */
void rw_hash_column_partition_by(const rw_table *table, pgw_buf *out);
/* Appends `CREATE TABLE … PARTITION OF … FOR VALUES FROM (…) TO (…)`; `number` is from 0. */
void rw_hash_column_partition(const rw_table *table, uint32_t number, pgw_buf *out);
/* Writes the name of partition `number` without its schema and quotes, `table_p12`, into a buffer
 * of PGW_NAME_MAX + 1 bytes. A name that would be too long is cut before the number, never inside
 * of a character. */
void rw_hash_column_partition_plain(const rw_table *table, uint32_t number, char *name);
/* Appends the name of partition `number` alone, `"schema"."table_p12"`. */
void rw_hash_column_partition_name(const rw_table *table, uint32_t number, pgw_buf *out);
/* Appends what stands behind the partition's name: ` PARTITION OF … FOR VALUES FROM (…) TO (…)`. */
void rw_hash_column_partition_of(const rw_table *table, uint32_t number, pgw_buf *out);

#endif
