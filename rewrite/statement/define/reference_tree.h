/*
 * reference_tree: foreign keys that refer to a configured table's key, in libpg_query's tree of
 * CREATE TABLE and ALTER TABLE.
 */
#ifndef RW_REFERENCE_TREE_H
#define RW_REFERENCE_TREE_H

#include "rewrite/statement/define/define_key.h"

/* Whether one of CREATE TABLE refers to the key of `made`, which it makes. */
PGW_MUST_CHECK bool rw_refers_to_itself(const rw_table *made, const PgQuery__CreateStmt *create);
/* What its foreign keys refer to is written out, and made able to be referred to before. False:
 * refused. */
PGW_MUST_CHECK bool rw_references_define(rw_definer *it, const PgQuery__Node *statement,
                                         const rw_catalog *catalog);

#endif
