/*
 * unalias: makes an UPDATE or DELETE do without the alias of its table, which YDB does not take:
 * the table's name stands in its place, where that certainly means the same.
 */
#ifndef RW_UNALIAS_H
#define RW_UNALIAS_H

#include "rewrite/hash/table.h"
#include "ydb/plain/clauses.h"
#include "ydb/plain/weave.h"

/* Whether each alias in this part can be replaced; else the error is filled (0A000, or what
 * PostgreSQL says). True if there is no alias. `table` may be NULL: its columns are not known. */
PGW_MUST_CHECK bool rw_unalias_check(const rw_clauses *clauses, rw_part part, pgw_slice text,
                                     const rw_table *table, const pgw_reading *reading);
/* Whether the alias comes next and is to be replaced, in a part that rw_unalias_check() allowed. */
bool rw_at_alias(const rw_clauses *clauses, const rw_cursor *cursor);
/* Adds the part with the table's name for the alias, which rw_unalias_check() allowed. */
void rw_unalias(const rw_clauses *clauses, rw_part part, bool conforming, rw_weave *out);

#endif
