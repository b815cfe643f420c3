/*
 * star_names: where a statement calls tables by their names, before a column's or in FOR UPDATE OF;
 * a subquery in a table's place has neither a schema nor, at times, its name.
 */
#ifndef RW_STAR_NAMES_H
#define RW_STAR_NAMES_H

#include "rewrite/statement/edit/star_text.h"

/* Names of tables that a statement uses, while it is looked through; begins as zeros. */
typedef struct rw_star_names {
    struct rw_star_named *list;
} rw_star_names;

/* Notes that a reference in the query `scope` calls the item, before the last field of `at`. */
void rw_star_names_note(rw_star_names *names, const rw_star_scope *scope,
                        const PgQuery__ColumnRef *at, rw_star_item *item, pgw_arena *arena);
/* Notes the tables that the query locks by name. */
void rw_star_names_note_locks(rw_star_names *names, const rw_star_scope *scope,
                              const PgQuery__SelectStmt *query, pgw_arena *arena);
/* Puts the names of subqueries in the place of their tables', once it is known where subqueries
 * stand. */
void rw_star_names_put(const rw_star_names *names, rw_star_texts *texts);

#endif
