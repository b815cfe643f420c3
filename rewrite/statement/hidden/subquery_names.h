/*
 * subquery_names: where a statement calls tables by their names, before a column's or in FOR UPDATE
 * OF; a subquery in a table's place has neither a schema nor, at times, its name.
 */
#ifndef RW_SUBQUERY_NAMES_H
#define RW_SUBQUERY_NAMES_H

#include "rewrite/statement/edit/edit_writer.h"

/* Names of tables that a statement uses, while it is looked through; begins as zeros. */
typedef struct rw_subquery_names {
    struct rw_subquery_named *list;
} rw_subquery_names;

/* Notes that a reference in the query `scope` calls the item, before the last field of `at`. */
void rw_subquery_names_note(rw_subquery_names *names, const rw_query_scope *scope,
                            const PgQuery__ColumnRef *at, rw_query_scope_item *item,
                            pgw_arena *arena);
/* Notes the tables that the query locks by name. */
void rw_subquery_names_note_locks(rw_subquery_names *names, const rw_query_scope *scope,
                                  const PgQuery__SelectStmt *query, pgw_arena *arena);
/* Puts the names of subqueries in the place of their tables', once it is known where subqueries
 * stand. */
void rw_subquery_names_put(const rw_subquery_names *names, rw_edit_writer *texts);

#endif
