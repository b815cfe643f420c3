/*
 * alter_tree: ALTER TABLE of a configured table: a primary key that it adds gets the hash; and what
 * would take the hash column away is refused.
 */
#ifndef RW_ALTER_TREE_H
#define RW_ALTER_TREE_H

#include "rewrite/statement/define/define_key.h"

/* Of it.table. False: refused. */
PGW_MUST_CHECK bool rw_alter_table(rw_definer *it, const PgQuery__AlterTableStmt *alter);
/* ALTER TABLE … RENAME COLUMN. */
PGW_MUST_CHECK bool rw_rename_column(rw_definer *it, const PgQuery__RenameStmt *rename);

#endif
