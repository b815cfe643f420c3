/*
 * learned: the columns of tables that are not configured, as YDB described them. Parameters that
 * are compared with or stored in such columns get their types, and RETURNING its columns. Kept for
 * backend.catalog_s.
 */
#ifndef PX_YDB_LEARNED_H
#define PX_YDB_LEARNED_H

#include "rewrite/statement/script/names.h"

typedef struct px_ydb_learned {
    rw_table **tables;
    uint64_t *until; /* when the table of this place is forgotten, px_worker_now() scale */
    size_t count;
    rw_catalog catalog; /* all `tables`, as px_ydb_learned_now() gives them */
} px_ydb_learned;

/* Forgets tables whose time is over at `now`, and gives the others; valid until the next call. */
const rw_catalog *px_ydb_learned_now(px_ydb_learned *learned, uint64_t now);
/* The first relation of the list that is not known yet; NULL: none. Looks only at as many as can be
 * kept. */
const rw_relation *px_ydb_learned_lacks(const px_ydb_learned *learned, const rw_relation *list);
/* Appends the query whose columns are the relation's. */
void px_ydb_learned_ask(const rw_relation *relation, pgw_buf *text);
/* Keeps a table; `columns` is the body of a RowDescription, empty if there is no such table. */
void px_ydb_learned_add(px_ydb_learned *learned, const rw_relation *relation, pgw_slice columns,
                        uint64_t until);
/* Forgets all tables, for they may have changed. */
void px_ydb_learned_forget(px_ydb_learned *learned);

#endif
