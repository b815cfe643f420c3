/*
 * guard: what a statement checks behind its rows, in the same transaction. The INSERT holds a lock
 * that lets no DDL come between, so that what is found then was so when the rows were stored.
 */
#ifndef RW_GUARD_H
#define RW_GUARD_H

#include "rewrite/insert/insert.h"

/* In the message of the error by which a statement fails whose columns are not what they were:
 * those that its hash is made of (and that have no default, if they are left out for NULL), those
 * that give parameters their types (if `heeds_types` is set), and, where what was written depends
 * on it, which columns there are. */
#define RW_CHANGED "keyspread met other columns"

/* Appends a condition: the table's name means the one that was looked at. It is answered when the
 * statement is analysed, under the lock that it has by then, and gone when it is planned. */
void rw_guard_is_table(const rw_table *table, pgw_buf *out);
/* … and so does its name without a schema, as search_path is then. */
void rw_guard_is_found(const rw_table *table, pgw_buf *out);
/* … and columns of its hash key, by what the statement calls the table, have the types that they
 * had. The types are found when the statement is analysed, and compared when it is run. */
void rw_guard_same_types(const rw_table *table, const char *called, pgw_buf *out);
/* Appends conditions, each behind " and ", under which the rows of several statements might be
 * merged as `insert` may: the table has no trigger that was not known, and its columns are what
 * they were. */
void rw_guard_conditions(const rw_insert *insert, pgw_buf *out);
/* Whether the first row's hash is to be guarded: the backend has said what the columns are. */
bool rw_guard_wanted(const rw_insert *insert);
/* Whether the guard reads the catalog, which costs more than to look at types. */
bool rw_guard_reads(const rw_insert *insert);
/* … and asks, which others of the same form may not, whether columns that its rows leave out still
 * have no default. */
bool rw_guard_heeds_default(const rw_insert *insert);
/* What stands before and behind the hash then: it is stored if the table's columns are what they
 * were; else the statement fails. */
void rw_guard_hash_before(const rw_insert *insert, pgw_buf *out);
void rw_guard_hash_behind(const rw_insert *insert, pgw_buf *out);
/* The hash that an UPDATE stores, if the columns of the table's hash key are what they were, and it
 * has no trigger that might change the key; else the statement fails. */
void rw_guard_new_key(const rw_table *table, const char *hash, pgw_buf *out);
/* A merged INSERT that fails with 22012 unless it stored `rows` rows: what stands before and behind
 * its text, with the conditions of all its parts. */
void rw_guard_before(pgw_buf *out);
void rw_guard_behind(uint64_t rows, pgw_slice conditions, pgw_buf *out);

#endif
