/*
 * guard: what a statement checks behind its rows, in the same transaction. The INSERT holds a lock
 * that lets no DDL come between, so that what is found then was so when the rows were stored.
 */
#ifndef RW_GUARD_H
#define RW_GUARD_H

#include "rewrite/insert/insert.h"

/* The words in the error by which a statement fails whose columns have changed: those of the hash
 * key (which also must have no default, if they are left out for NULL), those that give parameters
 * their types (if `heeds_types` is set), and the list of columns, where the statement depends on
 * it. */
#define RW_CHANGED "keyspread met other columns"

/* Appends a condition: the table's qualified name means the table that was looked at. It is
 * answered when the statement is analysed, under the lock that it has by then, and gone when it is
 * planned. */
void rw_guard_is_table(const rw_table *table, pgw_buf *out);
/* Appends a condition: the table's bare name, by search_path then, means the table looked at. */
void rw_guard_is_found(const rw_table *table, pgw_buf *out);
/* Appends conditions: the columns of the hash key of `called`, the table's name in the statement,
 * have the types that they had. The types are found when the statement is analysed, and compared
 * when it is run. */
void rw_guard_same_types(const rw_table *table, const char *called, pgw_buf *out);
/* Appends conditions, each behind " and ", under which rows of several statements may be merged as
 * `insert` may: the table has no unknown trigger, and its columns are what they were. */
void rw_guard_conditions(const rw_insert *insert, pgw_buf *out);
/* Whether the first row's hash is to be guarded: the backend has said what the columns are. */
bool rw_guard_wanted(const rw_insert *insert);
/* Whether the guard reads the catalog, which costs more than to look at types. */
bool rw_guard_reads(const rw_insert *insert);
/* Whether the guard also asks that columns which the rows leave out still have no default. Other
 * statements of the same form may not need that. */
bool rw_guard_heeds_default(const rw_insert *insert);
/* Appends what stands before and behind a guarded hash: the hash is stored if the table's columns
 * are what they were; else the statement fails. */
void rw_guard_hash_before(const rw_insert *insert, pgw_buf *out);
void rw_guard_hash_behind(const rw_insert *insert, pgw_buf *out);
/* Appends the hash that an UPDATE stores, if the columns of the hash key are what they were and no
 * trigger might change the key; else the statement fails. */
void rw_guard_new_key(const rw_table *table, const char *hash, pgw_buf *out);
/* Appends what stands before and behind a merged INSERT, which fails with 22012 unless it stored
 * `rows` rows and the conditions of all its parts hold. */
void rw_guard_before(pgw_buf *out);
void rw_guard_behind(uint64_t rows, pgw_slice conditions, pgw_buf *out);

#endif
