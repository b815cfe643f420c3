/*
 * sql_prepare: what SQL's PREPARE says of the statement that it keeps: where that begins, and what
 * its parameters are declared as.
 */
#ifndef RW_SQL_PREPARE_H
#define RW_SQL_PREPARE_H

#include "rewrite/statement/lookup/lookup_render.h"

#include <pg_query/pg_query.pb-c.h>

/* Reads a PREPARE, in `arena`; NULL: it is none, or declares a type that is not known here by its
 * name. `text` is what the tree was made of; standard_conforming_strings is on. */
const rw_sql_prepare *rw_sql_prepare_find(const PgQuery__Node *statement, pgw_slice text,
                                          pgw_arena *arena);

#endif
