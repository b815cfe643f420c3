/*
 * alter_tree: ALTER TABLE of a configured table: a primary key that it adds gets the hash; and what
 * would take the hash column away is refused.
 */
#ifndef RW_ALTER_TREE_H
#define RW_ALTER_TREE_H

#include "rewrite/statement/define/define_key.h"

/* Reads an ALTER TABLE of `it->table`. False: it is refused. */
PGW_MUST_CHECK bool rw_alter_table(rw_definer *it, const PgQuery__AlterTableStmt *alter);
/* Reads ALTER TABLE … RENAME COLUMN. False: it is refused. */
PGW_MUST_CHECK bool rw_rename_column(rw_definer *it, const PgQuery__RenameStmt *rename);

#endif
