/*
 * query_types: walks through a statement as PostgreSQL's parse analysis does
 * (src/backend/parser/analyze.c), clause by clause in its order, and gives each parameter the type
 * of the first place that says one: the column that it is inserted into or assigned to, among
 * others.
 */
#ifndef RW_QUERY_TYPES_H
#define RW_QUERY_TYPES_H

#include "ydb/plain/expression_types.h"

/* A statement of any kind; `typing` but for its `query`, which is filled in. */
void rw_type_statement(rw_typing *typing, const PgQuery__Node *statement);

#endif
