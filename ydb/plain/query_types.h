/*
 * query_types: walks through a statement as PostgreSQL's parse analysis does
 * (src/backend/parser/analyze.c), clause by clause, and gives each parameter the type of the first
 * place that says one, such as the column that it is inserted into.
 */
#ifndef RW_QUERY_TYPES_H
#define RW_QUERY_TYPES_H

#include "ydb/plain/expression_types.h"

/* Types the parameters of a statement of any kind; `typing->query` is filled in here. */
void rw_type_statement(rw_typing *typing, const PgQuery__Node *statement);

#endif
