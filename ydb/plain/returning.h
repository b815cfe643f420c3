/*
 * returning: what a statement with RETURNING is described by, before it is run; and, of a table
 * that is not of the catalog, what must be learned of it.
 */
#ifndef RW_RETURNING_H
#define RW_RETURNING_H

#include "rewrite/statement/script/names.h"
#include "ydb/plain/values.h"

/* A query that has the columns of the statement's RETURNING, whatever rows; empty if it has none.
 * Of one statement, clean, its parameters already NULLs with types. Lives in the arena. False: the
 * statement is none of PostgreSQL's grammar, or YDB has no such one; the error is filled. */
PGW_MUST_CHECK bool rw_returning_query(pgw_slice text, const pgw_reading *reading, pgw_slice *out);
/* The table that an INSERT or UPDATE with RETURNING writes, if it is none of the catalog; else
 * NULL: of a DELETE the rows tell themselves. Lives in the arena. */
const rw_relation *rw_returning_target(pgw_slice text, const rw_catalog *catalog,
                                       const pgw_reading *reading);
/* What `others` of the catalog know of the statement's table; NULL: nothing. */
const rw_table *rw_returning_learned(const rw_clauses *clauses, const rw_catalog *catalog);
/* The text with the names of the learned columns in the place of `*`. False: there is none. */
PGW_MUST_CHECK bool rw_returning_spell(const rw_subject *subject, pgw_slice *out);

#endif
