/*
 * returned: what a statement returns: whether that changes with its table, and what of it keyspread
 * knows.
 */
#ifndef RW_RETURNED_H
#define RW_RETURNED_H

#include "rewrite/insert/insert.h"

/* Whether the same statement, parsed when its table may have been another, still returns columns of
 * the same names and types. */
PGW_MUST_CHECK bool rw_insert_returns_same(const rw_insert *before, const rw_insert *now);

/* The index in the primary key of a column of the table; primary_key_count: none. */
size_t rw_place_in_key(const rw_table *table, size_t column);
/* Whether an INSERT returns columns of its key alone, written in one way whatever the session has
 * set: such rows are known once the key is. */
PGW_MUST_CHECK bool rw_insert_returns_key(const rw_insert *insert, const pgw_env *env);

#endif
