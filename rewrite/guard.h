/*
 * guard: what a statement checks behind its rows, in the same transaction. The INSERT holds a lock
 * that lets no DDL come between, so that what is found then was so when the rows were stored.
 */
#ifndef RW_GUARD_H
#define RW_GUARD_H

#include "rewrite/insert.h"

/* Appends conditions, each behind " and ", under which the rows of several statements might be
 * merged as `insert` may: the table has no trigger that was not known, and, if the column list is
 * ours, the columns that it was made of. */
void rw_guard_conditions(const rw_insert *insert, pgw_buf *out);
/* Appends a SELECT that fails with 22012 if the columns are not those that the column list was made
 * of. Nothing if the list is the client's own, or the backend was not asked. */
void rw_guard_statement(const rw_insert *insert, pgw_buf *out);
/* A merged INSERT that fails with 22012 unless it stored `rows` rows: what stands before and behind
 * its text, with the conditions of all its parts. */
void rw_guard_before(pgw_buf *out);
void rw_guard_behind(uint64_t rows, pgw_slice conditions, pgw_buf *out);

#endif
