/*
 * named_hash: who names the hash column of a table with `hide: strict`. A subquery without it
 * stands in the table's place where that can be, so that PostgreSQL itself says what the name
 * means; here is what becomes of the others: what is written by UPDATE, DELETE and INSERT, and what
 * must stay as it is.
 */
#ifndef RW_NAMED_HASH_H
#define RW_NAMED_HASH_H

#include "protocol/error.h"
#include "rewrite/statement/edit/star_text.h"

/* A statement while it is looked through. */
typedef struct rw_named_hashes {
    const pgw_reading *reading;
    pgw_slice text;
    struct rw_named *list;
    const rw_star_scope *inserted; /* behind an INSERT's rows: the table, and `excluded` */
    bool denied;                   /* the error is filled with what PostgreSQL would say */
} rw_named_hashes;

/* A reference: if a strict table's hash column would be found by it, it is judged later. */
void rw_named_note(rw_named_hashes *hashes, const rw_star_scope *scope,
                   const PgQuery__ColumnRef *at);
/* `name(t)` and `(t).name`. */
void rw_named_call(rw_named_hashes *hashes, const rw_star_item *row, const char *name,
                   int32_t location);
void rw_named_selection(rw_named_hashes *hashes, const rw_star_item *row, const char *name,
                        int32_t location);
/* A column that COPY lists. */
void rw_named_listed(rw_named_hashes *hashes, const rw_table *table, const char *name);
/* When it is known where subqueries stand: what is left means another column, or is denied. */
void rw_named_judge(rw_named_hashes *hashes, rw_star_texts *texts);

#endif
