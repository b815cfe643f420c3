/*
 * system_with: the queries that are put into the WITH of a statement, for all that is put into it
 * in the place of PostgreSQL's own relations and functions.
 */
#ifndef RW_SYSTEM_WITH_H
#define RW_SYSTEM_WITH_H

#include "rewrite/statement/edit/edit_writer.h"

/* Whether the statement can have them: a query, or EXPLAIN of one. */
PGW_MUST_CHECK bool rw_system_shares(const PgQuery__Node *statement);
/* Puts the queries of these sets (system_marks.h) into WITH, if there are any. */
void rw_system_share(const PgQuery__Node *statement, const rw_catalog *catalog, unsigned shared,
                     rw_edit_writer *texts);

#endif
