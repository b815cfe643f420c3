/*
 * any_row: which functions take a row, of whatever type.
 */
#ifndef RW_ANY_ROW_H
#define RW_ANY_ROW_H

#include <pg_query/pg_query.pb-c.h>

#include <stdbool.h>

bool rw_takes_any_row(const PgQuery__FuncCall *call);

#endif
