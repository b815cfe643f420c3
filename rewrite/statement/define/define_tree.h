/*
 * define_tree: CREATE TABLE and ALTER TABLE of a configured table, found in libpg_query's tree: how
 * they are to be written so that the table has its hash column, as the first or last of its key;
 * what would take it away is refused. TRUNCATE, LOCK, CREATE INDEX, RENAME, CREATE TABLE AS and
 * SELECT INTO come here, too.
 */
#ifndef RW_DEFINE_TREE_H
#define RW_DEFINE_TREE_H

#include "rewrite/statement/define/define_key.h"

/* `text` is what the tree was made of. `next` is the statement behind it in the same Query, which
 * may give back what this one takes; empty: there is none, or it cannot be read. A statement that
 * defines the hash column itself is left as it is, and so is one that PostgreSQL certainly refuses.
 * False: refused, the reading's error is filled. */
PGW_MUST_CHECK bool rw_define_find(const PgQuery__Node *statement, pgw_slice text, pgw_slice next,
                                   const rw_catalog *catalog, const pgw_reading *reading,
                                   rw_definition *out);

#endif
