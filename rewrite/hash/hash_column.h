/*
 * hash_column: what DDL of PostgreSQL's says of a table's hash: the column, the CHECK that guards
 * it, and the partitions by it. Of `keyspread ddl`, and of a client's CREATE TABLE.
 */
#ifndef RW_HASH_COLUMN_H
#define RW_HASH_COLUMN_H

#include "rewrite/hash/table.h"

/* The type of a hash column that is made: "bigint", "numeric(20,0)"; of a table with hash buckets
 * "smallint", or "integer" where the table has or lists the column with that type. */
const char *rw_hash_column_type(const rw_table *table);
/* `"h" bigint NOT NULL`. */
void rw_hash_column_define(const rw_table *table, pgw_buf *out);
/* `CHECK ("h" = …)`. False: no expression of the backend's computes the hash, and nothing is
 * added. */
bool rw_hash_column_check(const rw_table *table, pgw_buf *out);
/* A key that is made for the table: `"h", a, b` of the columns `a, b`, or `a, b, "h"`. */
void rw_hash_column_key(const rw_table *table, pgw_slice columns, pgw_buf *out);
/* Whether the table is to be cut into partitions. */
bool rw_table_is_partitioned(const rw_table *table);
/* ` PARTITION BY RANGE ("h")`. */
void rw_hash_column_partition_by(const rw_table *table, pgw_buf *out);
/* `CREATE TABLE … PARTITION OF … FOR VALUES FROM (…) TO (…)` of partition `number`, from 0. */
void rw_hash_column_partition(const rw_table *table, uint32_t number, pgw_buf *out);
/* The name of partition `number` without its schema and quotes, `table_p12`, into a buffer of
 * PGW_NAME_MAX + 1 bytes. It is cut before the number where it would be too long, and never inside
 * of a character. */
void rw_hash_column_partition_plain(const rw_table *table, uint32_t number, char *name);
/* … its name, `"schema"."table_p12"`, and what stands behind that. */
void rw_hash_column_partition_name(const rw_table *table, uint32_t number, pgw_buf *out);
void rw_hash_column_partition_of(const rw_table *table, uint32_t number, pgw_buf *out);

#endif
