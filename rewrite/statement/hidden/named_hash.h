/*
 * named_hash: statements that name the hash column of a table with `hide: strict`. Where a subquery
 * stands in the table's place, PostgreSQL itself says what the name means; this is for tables that
 * are written, or must stay as they are.
 */
#ifndef RW_NAMED_HASH_H
#define RW_NAMED_HASH_H

#include "protocol/error.h"
#include "rewrite/statement/edit/edit_writer.h"

/* A statement while it is looked through. */
typedef struct rw_named_hashes {
    const pgw_reading *reading;
    pgw_slice text;
    struct rw_named *list;
    const rw_query_scope *inserted; /* scope behind an INSERT's rows: its table and `excluded` */
    bool denied;                    /* the error is filled with what PostgreSQL would say */
} rw_named_hashes;

/* Notes a reference that would find a strict table's hash column, to be judged later. */
void rw_named_note(rw_named_hashes *hashes, const rw_query_scope *scope,
                   const PgQuery__ColumnRef *at);
/* Deny `name(t)` and `(t).name` where `name` is the hash column of the strict table `t`. */
void rw_named_call(rw_named_hashes *hashes, const rw_query_scope_item *row, const char *name,
                   int32_t location);
void rw_named_selection(rw_named_hashes *hashes, const rw_query_scope_item *row, const char *name,
                        int32_t location);
/* Denies a hash column that COPY lists. */
void rw_named_listed(rw_named_hashes *hashes, const rw_table *table, const char *name);
/* Judges the references once it is known where subqueries stand: what is left means another column,
 * or is denied. */
void rw_named_judge(rw_named_hashes *hashes, rw_edit_writer *texts);

#endif
