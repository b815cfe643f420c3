/*
 * heirs_tree: tables that take their columns from one with a hash, and show their rows in it: by
 * INHERITS, or as partitions that a client makes. Rows of the one are found by the hash of the
 * other, so that both must have it, of the same columns.
 */
#ifndef RW_HEIRS_TREE_H
#define RW_HEIRS_TREE_H

#include "rewrite/statement/define/define_key.h"

/* Checks heirs that a statement makes. False: one would be without the hash, or of another hash,
 * and is refused. */
PGW_MUST_CHECK bool rw_heirs_check(rw_definer *it, const PgQuery__Node *statement,
                                   const rw_catalog *catalog);
/* Whether the hash column comes from one of the parents. */
bool rw_heirs_inherits_hash(const rw_definer *it, const PgQuery__CreateStmt *create,
                            const rw_catalog *catalog);

#endif
