/*
 * system_tree: where a statement asks PostgreSQL's own catalog, found in libpg_query's tree, so
 * that what it hears of configured tables is without their hash columns.
 */
#ifndef RW_SYSTEM_TREE_H
#define RW_SYSTEM_TREE_H

#include "rewrite/statement/edit/edit_writer.h"

/* Puts what is to be changed into `texts`. What is not understood stays as it is, and shows them.
 */
void rw_system_find(const PgQuery__Node *statement, const rw_catalog *catalog,
                    rw_edit_writer *texts);

#endif
