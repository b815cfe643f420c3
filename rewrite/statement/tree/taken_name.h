/*
 * taken_name: whether a statement calls something of its own by a name that is the hash column's,
 * or a system column's: its client does not mean that, then.
 */
#ifndef RW_TAKEN_NAME_H
#define RW_TAKEN_NAME_H

#include <pg_query/pg_query.pb-c.h>

#include <stdbool.h>

/* A column that is shown, but for the column of that name itself; a table, a query, or one of their
 * columns; a window, a cursor, or what is prepared. */
bool rw_takes_name(const PgQuery__Node *statement, const char *name);
/* Whether the query is grouped by what it shows by that name: a column of the name would come
 * first. */
bool rw_takes_group(const PgQuery__SelectStmt *query, const char *name);

#endif
