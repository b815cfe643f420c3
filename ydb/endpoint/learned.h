/*
 * learned: tables that are not configured, and what YDB said of their columns: parameters that are
 * compared with them, or stored there, have their types, and RETURNING. Believed for
 * backend.catalog_s.
 */
#ifndef PX_YDB_LEARNED_H
#define PX_YDB_LEARNED_H

#include "rewrite/statement/script/names.h"

typedef struct px_ydb_learned {
    rw_table **tables;
    uint64_t *until; /* of each */
    size_t count;
    rw_catalog catalog; /* of them all */
} px_ydb_learned;

/* Those of before `now` are forgotten. Valid until the next call. */
const rw_catalog *px_ydb_learned_now(px_ydb_learned *learned, uint64_t now);
/* Which of them is to be asked for; NULL: none. Of more than are kept the first ones are looked at.
 */
const rw_relation *px_ydb_learned_lacks(const px_ydb_learned *learned, const rw_relation *list);
/* The text whose columns are the relation's. */
void px_ydb_learned_ask(const rw_relation *relation, pgw_buf *text);
/* The body of a RowDescription; empty: there is no such table. */
void px_ydb_learned_add(px_ydb_learned *learned, const rw_relation *relation, pgw_slice columns,
                        uint64_t until);
/* Tables may be others by now. */
void px_ydb_learned_forget(px_ydb_learned *learned);

#endif
