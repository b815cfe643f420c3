/*
 * returning: the query that describes a statement with RETURNING before it is run, and what must be
 * learned of a table that is not in the catalog.
 */
#ifndef RW_RETURNING_H
#define RW_RETURNING_H

#include "rewrite/statement/script/names.h"
#include "ydb/plain/values.h"

/* Makes a query that has the columns of the statement's RETURNING, whatever rows; empty if it has
 * none. The text is one clean statement, its parameters already NULLs with types. Arena-owned.
 * False: PostgreSQL's grammar refuses the statement, or YDB cannot run it; the error is filled. */
PGW_MUST_CHECK bool rw_returning_query(pgw_slice text, const pgw_reading *reading, pgw_slice *out);
/* The table that an INSERT or UPDATE with RETURNING writes, if it is none of the catalog; else
 * NULL. A DELETE needs none: its rows are read. Arena-owned. */
const rw_relation *rw_returning_target(pgw_slice text, const rw_catalog *catalog,
                                       const pgw_reading *reading);
/* The table of the catalog's `others` that a statement with RETURNING writes; NULL: there is
 * none. */
const rw_table *rw_returning_learned(const rw_clauses *clauses, const rw_catalog *catalog);
/* Makes the text with the names of the learned columns in the place of `*`. False: it has no
 * `*`. */
PGW_MUST_CHECK bool rw_returning_spell(const rw_subject *subject, pgw_slice *out);

#endif
