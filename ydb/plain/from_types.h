/*
 * from_types: the tables, queries and functions of a FROM or USING, with the types of their
 * columns, become names that the rest of the statement knows; parameters in them get theirs.
 */
#ifndef RW_FROM_TYPES_H
#define RW_FROM_TYPES_H

#include "ydb/plain/expression_types.h"

/* The columns of a table of the catalog or of its `others`; no columns of another one, which
 * becomes one of typing->missing. */
rw_columns rw_typing_table(rw_typing *typing, const PgQuery__RangeVar *relation);
void rw_type_from(rw_typing *typing, rw_scope *scope, PgQuery__Node *const *list, size_t count);

#endif
