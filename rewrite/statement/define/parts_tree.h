/*
 * parts_tree: what a table that is cut into partitions on PostgreSQL takes otherwise than an
 * ordinary one, in libpg_query's tree of CREATE TABLE and ALTER TABLE; and how it is cut.
 */
#ifndef RW_PARTS_TREE_H
#define RW_PARTS_TREE_H

#include "rewrite/statement/define/define_key.h"

/* Whether PostgreSQL can make the table with partitions. False: refused. */
PGW_MUST_CHECK bool rw_parts_check(rw_definer *it, const PgQuery__CreateStmt *create);
/* Whether such a constraint can be added to the table. False: refused. */
PGW_MUST_CHECK bool rw_parts_check_constraint(rw_definer *it, const PgQuery__Node *node);
/* Cuts ONLY before the name of a table that is in partitions, unless its client sees these in the
 * catalog: to that client it is an ordinary table, and ONLY means all of it. */
void rw_parts_whole(rw_definer *it, const rw_table *table, const PgQuery__RangeVar *name);
/* Cuts ONLY before the tables that TRUNCATE, LOCK and CREATE INDEX name. */
void rw_parts_name_whole(rw_definer *it, const PgQuery__Node *statement, const rw_catalog *catalog);
/* Puts PARTITION BY in at byte `at` (behind the list of columns), moves the table's WITH (…) to the
 * partitions, and adds a DO that makes these, to be run unseen behind the statement. */
void rw_parts_define(rw_definer *it, const PgQuery__CreateStmt *create, size_t at);

#endif
