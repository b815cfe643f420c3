/*
 * like_tree: CREATE TABLE … (LIKE t) of a configured table, in libpg_query's tree: the new table
 * has the columns and the key that an application knows of.
 */
#ifndef RW_LIKE_TREE_H
#define RW_LIKE_TREE_H

#include "rewrite/statement/define/define_key.h"

/* What LIKE copies of a hash goes again behind the statement. False: refused. */
PGW_MUST_CHECK bool rw_likes_define(rw_definer *it, const PgQuery__Node *statement,
                                    const rw_catalog *catalog);

#endif
